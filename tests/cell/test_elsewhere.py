"""Workarounds on other inputs than their examples': the inputs, the runs, and what of them is kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.cell import Elsewhere, Workaround
from jax_stack_compat.cell import elsewhere as inputs
from laboratory.cell.staged import elsewhere as corpus
from laboratory.collect import in_cell
from laboratory.records import elsewhere as kept
from laboratory.report.model import CaseRow, CellRow, Observation, TurnRow
from laboratory.report.published import published
from laboratory.report.summary import by_case
from laboratory.upkeep import elsewhere as upkeep
from tests.real_cell import CELL


@given(st.sampled_from(["", *inputs.VALUES]), st.sampled_from(inputs.DTYPES), st.sampled_from(list(inputs.SHAPES)))
def test_an_input_has_the_dtype_and_the_shape_that_it_names(kind: str, dtype: str, shape: str) -> None:
    """Every kind of values, dtype and shape makes an array: finite, in its range, and the same each time."""
    name = " ".join([*filter(None, [kind]), dtype, shape])
    made = inputs.array(name)

    assert (dtype, inputs.SHAPES[shape]) == (made.dtype.name, made.shape)
    assert np.all(np.isfinite(made.astype(complex)))
    assert np.array_equal(made, inputs.array(name))
    if kind == "zero":
        assert not made.any()
    elif kind and dtype != "bool":
        assert np.all(made.real > 0)


def test_arguments_of_a_call_have_different_values() -> None:
    """Two arguments of one name are two arrays, or a function of their difference would see zeros."""
    assert not np.array_equal(inputs.array("float32 vector", 0), inputs.array("float32 vector", 1))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("float32 cube", "names no shape; the shapes are scalar, one"),
        ("float8 vector", "names no dtype; the dtypes are float16"),
        ("nice float32 vector", "names no kind of values; the kinds are positive, unit, zero"),
    ],
)
def test_a_misspelt_input_is_a_fault_of_its_module(name: str, words: str) -> None:
    """The fault names the field, the input, and what there is."""
    elsewhere = Elsewhere(corpus.root, corpus.numpy_root, (name, "float32 one", "float32 one"))
    assert [words in told for _, told in _faults(elsewhere)] == [True]


def test_two_inputs_are_too_few() -> None:
    """A workaround runs on another dtype, another shape, and ordinary values."""
    ((key, told),) = _faults(Elsewhere(corpus.root, corpus.numpy_root, ("float32 vector", "float32 one")))

    assert ("plain.workaround.elsewhere.inputs", "there are 2") == (key, told[:11])


def _faults(elsewhere: Elsewhere) -> list[tuple[str, str]]:
    case = replace(corpus.ISSUE.cases[0], workaround=Workaround("Do.", elsewhere=elsewhere))
    found = catalogue.Entry(replace(corpus.ISSUE, cases=(case,)), corpus.__name__, Path(corpus.__file__))
    return [(fault.key, fault.message) for fault in catalogue.faults(found)]


def test_each_input_says_what_the_workaround_did(real_state: Path) -> None:
    """In a real cell an input is "" or the difference, a raised exception is named, and so is the signal of an end."""
    order = json.dumps([[corpus.__name__, case.id] for case in corpus.ISSUE.cases])
    told = in_cell.answer(CELL, "elsewhere", seconds=300, given=order)["outcomes"]

    (good, negative, matrix), program, ended = (outcomes.values() for _, _, outcomes in told)
    assert ("", "ValueError: only vectors") == (good, matrix)
    assert "should be" in negative
    assert ["AssertionError: 2 + 2 is not 5"] == list(program)
    assert ["ended with SIGKILL"] == list(ended)


def _six() -> tuple[list[CellRow], list[str], CaseRow]:
    """Return the six oldest releases of the published line, their ids, and a case."""
    report = published()
    cells = [cell for cell in report.cells if cell.kind == "line" and cell.moves == "jax"][:6]
    return cells, [cell.id for cell in cells], report.issues[0].cases[0]


def test_it_runs_where_the_newest_release_is_affected() -> None:
    """The newest affected cell is chosen also if the case has no change along the line."""
    cells, ids, row = _six()
    verdicts = ["clear", "affected", "affected", "clear", "clear", "clear"]
    seen = {id: _seen(id, verdict=verdict) for id, verdict in zip(ids, verdicts, strict=True)}

    assert [ids[0], ids[2], ids[5]] == upkeep.wanted(cells, row.model_copy(update={"turns": []}), seen)


def test_it_runs_at_the_ends_of_the_line_and_beside_each_change() -> None:
    """A release between two changes is left out, and so are releases where the case is absent or the advice fails."""
    cells, ids, row = _six()
    seen = {id: _seen(id) for id in ids}
    turn = TurnRow(before=ids[2], after=ids[3], grounds="together")

    case = row.model_copy(update={"turns": [turn]})
    assert [ids[0], ids[2], ids[3], ids[5]] == upkeep.wanted(cells, case, seen)

    seen |= {ids[0]: _seen(ids[0], verdict="absent"), ids[5]: _seen(ids[5], workaround="fails")}
    assert [ids[1], ids[2], ids[3], ids[4]] == upkeep.wanted(cells, case, seen)


def test_it_does_not_run_where_another_fault_was_seen() -> None:
    """The verdict *different* is not what the advice is for: the next release stands in."""
    cells, ids, row = _six()
    seen = {id: _seen(id, verdict="clear") for id in ids} | {ids[0]: _seen(ids[0], verdict="different")}

    assert [ids[1], ids[5]] == upkeep.wanted(cells, row.model_copy(update={"turns": []}), seen)


def _seen(cell: str, **changes: Any) -> Observation:
    return Observation.model_validate({"cell": cell, "issue": "one", "case": "bad", "verdict": "affected", **changes})


def test_what_is_kept_counts_for_the_code_that_ran() -> None:
    """Every published outcome is of a case of the tree, under its present code and lock, and each of them helps."""
    report = published()
    seen = by_case(report.observations)
    known = {
        f"{entry.issue.id}/{case.id}": kept.ran(entry, case)
        for entry in catalogue.entries()
        for case in entry.issue.cases
    }
    for of in kept.load().cases:
        assert of == known[of.case], f"{of.case} has changed: `nox -s elsewhere` runs it again"
        assert not any(of.cells.values()), f"{of.case}: the advice does not help on {of.cells}"
        assert set(of.cells) <= set(seen[of.case.split("/")[0], of.case.split("/")[1]])
