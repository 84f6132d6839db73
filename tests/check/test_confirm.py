"""Confirmation of predictions in an interpreter."""

from pathlib import Path

import pytest

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check.answer import Answer, answer
from jax_stack_compat.check.trial import confirm
from jax_stack_compat.check.trial.confirm import Confirmation, Confirmed
from tests.check.conftest import Said
from tests.check.test_interpreters import environment
from tests.check.worlds import case, issue, knowledge, stack


def predicted() -> Answer:
    """Return the predictions for a release of the small world."""
    return answer(knowledge(), stack(jax="0.6.0"))


def test_what_came_of_predictions_is_told() -> None:
    """Confirmed and refuted predictions have a line each; those that could not run are grouped by reason."""
    effect = predicted().effects[0]
    seen = [("wrong: 2", True), ("right: 1", False), *[("error, no", None)] * 5, ("hung", None)]
    tried = Confirmed(tuple(Confirmation(effect, *each) for each in seen), "")

    loud = "wrong-numbers/loud"
    assert [
        (f"{loud}: confirmed as predicted: wrong: 2", True),
        (f"{loud}: predicted wrong, but observed: right: 1; please report it", False),
        (f"5 could not be run: error, no: {loud}, {loud}, {loud} and 2 more", None),
        (f"1 could not be run: hung: {loud}", None),
    ] == tried.lines


def test_a_broken_jax_is_one_headline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no reproducer can run in an environment, named relative to the current folder, one sentence says why."""
    monkeypatch.chdir(tmp_path)
    folder = environment(tmp_path / ".venv", jax="0.6.0", numpy="2.0.0")
    (next(folder.glob("lib/*/site-packages")) / "jax.py").write_text("raise ImportError('no jaxlib')\n")
    known = knowledge(issue("wraps-lower-bypass", *(case(id, Rule("wrong", "", "run")) for id in ("jit", "vmap"))))

    with pytest.raises(Failed, match=r"^/.*/\.venv/bin/python cannot run any of 2 reproducers: blocked, .*no jaxlib$"):
        confirm.confirm(Path(".venv/bin/python"), answer(known, stack(jax="0.6.0")), OUT)


def test_an_interpreter_that_runs_nothing_is_told() -> None:
    """A missing reproducer and a missing interpreter are reported in a sentence."""
    tried = confirm.confirm(Path("/no/such/python"), predicted(), OUT)

    assert {"its reproducer is missing"} == {each.saw for each in tried.found}


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (["--from", "jax==0.6.0"], "--python PATH"),
        (["--python", "/no/such/python"], "/no/such/python cannot be run as an interpreter"),
    ],
)
def test_without_an_interpreter_nothing_is_confirmed(typed: list[str], why: str, said: Said) -> None:
    """--confirm requires an interpreter that runs, with --python: the tool's own is never used."""
    code, out = said("check", *typed, "--confirm")
    assert (Exit.MISUSED, True) == (code, why in out)
