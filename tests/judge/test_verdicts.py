"""Attempts of a case, judged: its verdict, its reason, and what became of its workaround."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.cell.issue import Case, Signature, Workaround
from suite.judge import verdicts
from suite.judge.record import Attempt, Outcome, Part
from suite.judge.table import VERDICTS, Verdict
from suite.judge.verdicts import Judged, WorkaroundWord
from suite.judge.wording import tidy
from tests.judge.stacks import CASE as PLAIN
from tests.judge.stacks import control

CASE = replace(PLAIN, workaround=Workaround("Write it otherwise.", code=control))
# A case whose documented symptom is one that the probe names.
SYMPTOMS = replace(
    CASE, behaviours={**CASE.behaviours, "crashed": "affected", "hung": "affected", "import-error": "affected"}
)


def part(outcome: Outcome, behaviour: str | None = None, detail: str = "", said: Part | None = None) -> Part:
    """What came of a part."""
    return Part(outcome=outcome, behaviour=behaviour, detail=detail, said=said)


def attempt(reproducer: Part, workaround: Part | None = None, control: Part | None = None) -> Attempt:
    """An attempt that reached these parts."""
    parts = {"reproducer": reproducer, "workaround": workaround, "control": control}
    return Attempt.model_validate({"parts": {name: each for name, each in parts.items() if each}, "seconds": 1.0})


ENDINGS: list[tuple[Part, Verdict, str | None, str | None]] = [
    (part("returned", "bad"), "affected", "bad", "run.bad"),
    (part("returned", "good"), "clear", "good", None),
    (part("returned", "warns"), "guarded", "warns", "run.warns"),
    (part("returned", "odd"), "different", "odd", "run.odd"),
    (part("returned", "gone"), "absent", "gone", "run.gone"),
    (part("returned", "never-heard-of"), "error", None, "run.unknown-behaviour"),
    (part("raised", detail="no"), "different", None, "run.exception"),
    (part("import-error", detail="no"), "blocked", None, "import.exception"),
    (part("returned", "by-design"), "documented", "by-design", "run.by-design"),
    (part("unavailable", detail="it needs a CPU with amx_tile"), "unavailable", None, "plan.no-cpu-feature"),
    (part("unavailable", detail="it needs Python >=3.13, and this is 3.12.3"), "unavailable", None, "plan.no-python"),
    (part("signal", detail="SIGSEGV"), "crashed", None, "run.signal"),
    (part("signal", detail="SIGSEGV", said=part("returned", "good")), "crashed", None, "run.signal"),
    (part("signal", detail="SIGKILL"), "error", None, "run.killed"),
    (part("timeout"), "hung", None, "run.timeout"),
    (part("memory"), "error", None, "run.memory"),
    (part("output"), "different", None, "run.output"),
    (part("exit", detail="exit status 3"), "different", None, "run.exit"),
    (part("no-result"), "different", None, "run.no-result"),
    (part("garbled"), "error", None, "run.garbled"),
]


@pytest.mark.parametrize(("reproducer", "verdict", "behaviour", "reason"), ENDINGS)
def test_an_ending_has_its_verdict(
    reproducer: Part, verdict: Verdict, behaviour: str | None, reason: str | None
) -> None:
    """Each way a reproducer can end has one verdict, behaviour and reason code."""
    judged = verdicts.judge_attempt(CASE, attempt(reproducer))

    assert (verdict, behaviour, reason) == (judged.verdict, judged.behaviour, judged.reason)


RAISED: dict[str, Signature | tuple[Signature, ...]] = {
    "bad": (Signature("TypeError", "no … here"), Signature("KeyError")),
    "odd": Signature("ValueError", "", "lineax._solver.lu"),
}


@pytest.mark.parametrize(
    ("raised", "behaviour"),
    [
        (Part(outcome="raised", exception="TypeError", detail="there is no jaxpr here"), "bad"),
        (Part(outcome="raised", exception="TypeError", detail="no"), None),
        (Part(outcome="raised", exception="jax.errors.KeyError", behaviour="gone"), "bad"),
        (Part(outcome="raised", exception="ValueError", traceback='File "…/lineax/_solver/lu.py", line 1'), "odd"),
        (Part(outcome="raised", exception="ValueError", traceback='File "…/jax/core.py", line 1'), None),
        (Part(outcome="raised", exception="ValueError", behaviour="odd", traceback="cut"), "odd"),
    ],
)
def test_what_was_raised_is_recognised_by_the_table_of_today(raised: Part, behaviour: str | None) -> None:
    """A record keeps what was raised, so that a signature that is newer than it needs no new run."""
    judged = verdicts.judge_attempt(replace(CASE, signatures=RAISED), attempt(raised))

    assert (behaviour, "run.exception" if behaviour is None else f"run.{behaviour}") == (
        judged.behaviour,
        judged.reason,
    )


def test_the_endings_are_all_in_the_table() -> None:
    """The table of endings leaves no outcome of the probe out."""
    assert set(get_args(Outcome)) == {reproducer.outcome for reproducer, *_ in ENDINGS}


@pytest.mark.parametrize(
    ("reproducer", "behaviour", "reason"),
    [
        (part("signal", detail="SIGABRT"), "crashed", "run.signal"),
        (part("signal", detail="SIGABRT", said=part("returned", "good")), "crashed", "run.signal"),
        (part("timeout"), "hung", "run.timeout"),
        (part("import-error", detail="no"), "import-error", "import.exception"),
    ],
)
def test_a_documented_ending_is_the_symptom(reproducer: Part, behaviour: str, reason: str) -> None:
    """A crash, a hang or a failed import is `affected` where the case lists it as its symptom."""
    judged = verdicts.judge_attempt(SYMPTOMS, attempt(reproducer))

    assert ("affected", behaviour, reason) == (judged.verdict, judged.behaviour, judged.reason)


def test_being_killed_is_no_symptom() -> None:
    """A SIGKILL is the machine's doing also where a crash is the documented symptom."""
    judged = verdicts.judge_attempt(SYMPTOMS, attempt(part("signal", detail="SIGKILL")))

    assert ("error", None, "run.killed") == (judged.verdict, judged.behaviour, judged.reason)


@pytest.mark.parametrize("outcome", [each for each in get_args(Outcome) if each != "returned"])
@pytest.mark.parametrize("reproducer", [part("returned", "good"), part("returned", "bad"), part("signal")])
def test_a_failed_control_is_an_error(reproducer: Part, outcome: Outcome) -> None:
    """Where the control fails nothing was learned, whatever the reproducer saw."""
    judged = verdicts.judge_attempt(CASE, attempt(reproducer, control=part(outcome)))

    assert ("error", None, "run.control") == (judged.verdict, judged.behaviour, judged.reason)


def test_the_detail_of_a_failed_control_is_tidy() -> None:
    """What a failed control said is one short line without addresses and paths, as every detail is."""
    said = "at 0x7f00aa11bb22\n" + "in /somewhere/deep/in/there.py " * 100

    judged = verdicts.judge_attempt(CASE, attempt(part("returned", "good"), control=part("exit", detail=said)))

    assert tidy(judged.detail) == judged.detail


def test_the_detail_of_an_exception_is_its_first_line() -> None:
    """An exception is told by its type and first line: JAX's last lines are boilerplate."""
    raised = Part(
        outcome="raised", exception="ValueError", detail="what happened\n----\nFor simplicity, JAX has removed"
    )

    assert "ValueError: what happened" == verdicts.judge_attempt(CASE, attempt(raised)).detail


@pytest.mark.parametrize(
    ("case", "reproducer", "workaround", "word"),
    [
        (CASE, part("returned", "bad"), part("returned"), "holds"),
        (CASE, part("returned", "warns"), part("returned"), "holds"),
        (CASE, part("raised"), part("returned"), "none"),
        (CASE, part("signal"), part("raised"), "none"),
        (SYMPTOMS, part("signal"), part("returned"), "holds"),
        (CASE, part("returned", "good"), part("returned"), "not-needed"),
        (CASE, part("returned", "bad"), part("raised"), "fails"),
        (CASE, part("returned", "good"), part("raised"), "fails"),
        (CASE, part("returned", "bad"), part("signal", detail="SIGSEGV"), "fails"),
        (CASE, part("returned", "bad"), part("timeout"), "fails"),
        (CASE, part("returned", "gone"), part("returned"), "none"),
        (CASE, part("returned", "gone"), part("raised"), "none"),
        (CASE, part("returned", "bad"), None, "none"),
        (replace(CASE, workaround=None), part("returned", "bad"), None, "none"),
    ],
)
def test_a_workaround_has_its_word(case: Case, reproducer: Part, workaround: Part | None, word: WorkaroundWord) -> None:
    """A workaround holds, fails, is not needed where the symptom is absent, or there is none."""
    assert word == verdicts.judge_attempt(case, attempt(reproducer, workaround)).workaround


UNDER_A_FLAG = replace(PLAIN, workaround=Workaround("Set it.", environment={"XLA_FLAGS": "--xla_it"}))


@pytest.mark.parametrize(
    ("reproducer", "workaround", "word"),
    [
        (part("returned", "bad"), part("returned", "good"), "holds"),
        (part("returned", "bad"), part("returned", "bad"), "fails"),
        (part("returned", "bad"), part("raised"), "fails"),
        (part("returned", "good"), part("returned", "good"), "not-needed"),
        (part("import-error"), part("returned", "good"), "none"),
        (part("returned", "odd"), part("returned", "good"), "none"),
    ],
)
def test_an_environment_is_a_workaround_where_it_makes_the_case_clear(
    reproducer: Part, workaround: Part, word: WorkaroundWord
) -> None:
    """Under an environment the reproducer is run again, and helps where what it shows then means clear."""
    assert word == verdicts.judge_attempt(UNDER_A_FLAG, attempt(reproducer, workaround)).workaround


HERE = {"jax": "0.9.0", "lineax": "0.0.8"}


@pytest.mark.parametrize(
    ("verdict", "others", "word"),
    [
        ("affected", [({**HERE, "lineax": "0.1.0"}, "clear")], "holds"),
        ("affected", [({**HERE, "lineax": "0.1.0"}, "affected")], "fails"),
        ("clear", [({**HERE, "lineax": "0.1.0"}, "clear")], "not-needed"),
        ("affected", [({**HERE, "lineax": "0.1.0"}, "error")], "none"),
        ("affected", [({**HERE, "lineax": "0.0.9"}, "clear")], "none"),
        ("affected", [({"jax": "0.9.1", "lineax": "0.1.0"}, "clear")], "none"),
        ("blocked", [({**HERE, "lineax": "0.1.0"}, "clear")], "none"),
        ("different", [({**HERE, "lineax": "0.1.0"}, "clear")], "none"),
    ],
)
def test_a_pin_is_told_by_the_cell_that_differs_by_it_alone(
    verdict: Verdict, others: list[tuple[dict[str, str], Verdict]], word: WorkaroundWord
) -> None:
    """A workaround that is a pin holds where the same stack with just that pinned is clear."""
    assert word == verdicts.by_pin("lineax>=0.1.0", verdict, HERE, others)


@pytest.mark.parametrize("workaround", [part("memory"), part("garbled"), part("signal", detail="SIGKILL")])
def test_a_workaround_does_not_fail_for_the_machine(workaround: Part) -> None:
    """A workaround that the machine or the harness stopped has not failed."""
    assert verdicts.judge_attempt(CASE, attempt(part("returned", "bad"), workaround)).workaround != "fails"


def test_attempts_that_agree_are_one_verdict() -> None:
    """The verdict on attempts that agree is that of the last of them."""
    attempts = [attempt(part("returned", "bad", detail)) for detail in ("first", "second", "third")]

    assert Judged("affected", "bad", "run.bad", "third") == verdicts.judge(CASE, attempts)


def test_attempts_that_disagree_are_flaky() -> None:
    """Attempts that disagree are `flaky`, and the detail has k of n for each of what was seen."""
    attempts = [attempt(each) for each in (part("returned", "good"), part("returned", "bad"), part("returned", "good"))]

    assert Judged("flaky", None, "run.flaky", "1 of 3 bad, 2 of 3 good") == verdicts.judge(CASE, attempts)


@given(seen=st.lists(st.sampled_from(["bad", "good", "warns"]), min_size=1, max_size=6), data=st.data())
@settings(deadline=None)
def test_the_order_of_attempts_does_not_matter(seen: list[str], data: st.DataObject) -> None:
    """Attempts fold to the same verdict in any order, and to `flaky` exactly where two of them differ."""
    shuffled = data.draw(st.permutations(seen))

    one, other = (
        verdicts.judge(CASE, [attempt(part("returned", each)) for each in order]) for order in (seen, shuffled)
    )

    assert one == other
    assert (len(set(seen)) > 1) == (one.verdict == "flaky")


@pytest.mark.parametrize("last", ["bad", "good"])
def test_a_workaround_holds_only_if_it_always_does(last: str) -> None:
    """A workaround that failed in one attempt fails, whether the attempts agree otherwise or not."""
    attempts = [
        attempt(part("returned", "bad"), workaround=part("raised")),
        attempt(part("returned", last), workaround=part("returned")),
    ]

    assert "fails" == verdicts.judge(CASE, attempts).workaround


def test_only_a_verdict_on_the_symptom_decides() -> None:
    """Affected and documented are what an issue is about; clear, guarded and absent are not; no other verdict tells."""
    told = {"affected": True, "documented": True, **dict.fromkeys(("clear", "guarded", "absent"), False)}

    assert {verdict: told.get(verdict) for verdict in VERDICTS} == {
        each: verdicts.is_affected(each) for each in VERDICTS
    }
