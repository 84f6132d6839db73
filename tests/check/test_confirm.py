"""What was predicted, held against what an interpreter did."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.__main__ import main
from suite.check import confirm, words
from suite.check.answer import Answer, answer
from suite.check.confirm import Confirmation
from suite.console import OUT
from suite.errors import Exit
from tests.check.worlds import knowledge, stack


def predicted() -> Answer:
    """What is predicted for a release of the small world."""
    return answer(knowledge(), stack(jax="0.6.0"))


@pytest.mark.parametrize(
    ("saw", "agrees", "told"),
    [
        ("wrong: 2", True, "wrong-numbers/loud: predicted, confirmed: wrong: 2"),
        ("right: 1", False, "wrong-numbers/loud: predicted wrong, NOT confirmed: right: 1; please report it"),
        ("error, no", None, "wrong-numbers/loud: predicted, could not be run: error, no"),
    ],
)
def test_what_came_of_a_prediction_is_told(saw: str, agrees: bool | None, told: str) -> None:
    """Confirmed, not confirmed, or not run: three sentences that nobody mixes up."""
    assert told == Confirmation(predicted().bites[0], saw, agrees).told


def test_an_interpreter_that_runs_nothing_is_told() -> None:
    """An issue whose reproducer is not here, and an interpreter that is not there, end in a sentence."""
    tried = confirm.confirm(Path("/no/such/python"), predicted(), OUT)

    assert {"its reproducer is not here"} == {each.saw for each in tried.found}


def test_without_an_interpreter_nothing_is_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    """It has to be named: the tool's own is no place to run anything in."""
    assert Exit.MISUSED == main(["check", "--from", "jax==0.6.0", "--confirm"])
    assert "--python PATH" in capsys.readouterr().err


def test_a_missing_interpreter_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be run as an interpreter is named, with what is wrong with it."""
    with pytest.raises(SystemExit) as ended:
        words.main(["check", "--python", "/no/such/python", "--confirm"])

    assert Exit.MISUSED == ended.value.code
    assert "/no/such/python cannot be run as an interpreter" in capsys.readouterr().err
