"""Changes between releases, in words."""

import pytest

from laboratory.programs.changes import turns
from laboratory.programs.model import Program, Workload
from tests.programs.conftest import counted, programs, release

ONE, TWO = (counted(counts={"copies": copies}) for copies in (1, 2))


@pytest.mark.parametrize(
    ("before", "after", "recipe", "told"),
    [
        (
            *(counted(counts={"launches": 4, "fusions": 1}), counted(counts={"launches": 2, "fusions": 2}), "one"),
            ["jax 0.9.1, after 0.9.0: softmax: 2 fewer kernel launches, 4 → 2; 1 more fusion, 1 → 2"],
        ),
        # A count that one of two releases lacks has not changed.
        (counted(counts={"copies": 1}, launches="not listed"), counted(counts={"copies": 1, "launches": 3}), "one", []),
        # Where the workload or the counting changed between two runs, a difference says nothing of the releases.
        (ONE, TWO.model_copy(update={"source": "two"}), "one", []),
        (ONE, TWO, "two", []),
        (ONE, TWO, "one", ["jax 0.9.1, after 0.9.0: softmax: 1 more copy, 1 → 2"]),
    ],
)
def test_a_change_is_named_with_both_numbers(before: Program, after: Program, recipe: str, told: list[str]) -> None:
    """A sentence says the release, the one before it, the workload, by how much, and from what to what."""
    found = programs(release("0.9.0", [before]), release("0.9.1", [after], recipe=recipe))

    assert told == [turn.told for turn in turns(found)]


def test_libraries_that_came_along_are_named() -> None:
    """A solve's program also depends on Diffrax: if Diffrax moved too, the sentence says so; a softmax's does not."""
    one, two = ([counted(name, {"copies": copies}) for name in ("softmax", "solve")] for copies in (1, 2))
    found = programs(release("0.9.0", one), release("0.9.1", two, diffrax="0.7.1"))

    softmax, solve = (turn.told for turn in turns(found))
    assert softmax.endswith("1 → 2")
    assert solve.endswith("1 → 2 (diffrax 0.7.0 → 0.7.1 came along)")


def test_a_program_that_comes_or_goes_is_told_with_its_reason() -> None:
    """A program that cannot be compiled has its reason; a later one is compared with the last that could be."""
    without = Program(workload="softmax", source="one", reason="ended by SIGSEGV")
    found = programs(
        release("0.8.2", [counted(counts={"copies": 1})]),
        release("0.9.0", [without]),
        release("0.9.1", [counted(counts={"copies": 2})]),
    )
    lost, again = turns(found)

    assert "jax 0.9.0, after 0.8.2: softmax: cannot be compiled any more: ended by SIGSEGV" == (lost.told)
    assert (
        "jax 0.9.1, after 0.8.2: softmax: 1 more copy, 1 → 2; can be compiled now, but not on 0.9.0: ended by SIGSEGV"
        == (again.told)
    )
    assert "jax 0.9.0 does not compile this program; 0.8.2 did." == lost.plain
    assert "jax 0.9.1 needs 1 more copy for this program than 0.8.2." == again.plain


def test_a_program_that_never_was_is_told_where_it_comes() -> None:
    """If no earlier release could compile it, there is nothing to compare."""
    without = Program(workload="softmax", source="one", reason="no topology")
    found = programs(release("0.8.2", [without]), release("0.9.0", [counted(counts={"copies": 1})]))

    (turn,) = turns(found)
    assert "jax 0.9.0, after 0.8.2: softmax: can be compiled now, but not before: no topology" == turn.told
    assert "jax 0.9.0 compiles this program; 0.8.2 did not." == turn.plain


def test_a_device_case_changes_where_it_shows_something_else() -> None:
    """Its counts are listed in addition, but are not a change on their own."""
    of = {"0.8.2": ("copies", 3), "0.9.0": ("copies", 4), "0.9.1": ("in-place", 1)}
    found = programs(
        *(
            release(jax, [counted("kept-where-true", {"copies": copies}).model_copy(update={"seen": seen})])
            for jax, (seen, copies) in of.items()
        )
    )
    found = found.model_copy(update={"workloads": {"kept-where-true": Workload(title="A loop.")}})

    (turn,) = turns(found)
    assert "jax 0.9.1, after 0.9.0: kept-where-true: copies → in-place; 3 fewer copies, 4 → 1" == turn.told
    assert "jax 0.9.1 shows in-place where 0.9.0 shows copies." == turn.plain
