"""Judged attempts of a case: verdict, reason, words and the result of the workaround; agreement with expectations."""

from collections import Counter
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_stack_compat.cell.issue import Case, Rule, Signature, Workaround
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Attempt, Outcome, Part
from jax_stack_compat.judge.verdict_table import GLYPHS, TABLE, UNDECIDED, VERDICTS, Verdict
from jax_stack_compat.judge.verdicts import Agreement, Judged, WorkaroundWord, agree, workaround_expected
from jax_stack_compat.judge.wording import explain, not_imported, tidy
from tests.judge.stacks import CASE as PLAIN
from tests.judge.stacks import FEW_EXAMPLES, control

CASE = replace(PLAIN, workaround=Workaround("Write it otherwise.", code=control))
# A case whose documented symptom is a behaviour that the probe reports.
SYMPTOMS = replace(
    CASE, behaviours={**CASE.behaviours, "crashed": "affected", "hung": "affected", "import-error": "affected"}
)
UNDER_A_FLAG = replace(PLAIN, workaround=Workaround("Set it.", environment={"XLA_FLAGS": "--xla_it"}))


def part(outcome: Outcome, behaviour: str | None = None, detail: str = "", said: Part | None = None) -> Part:
    """Return the result of a part."""
    return Part(outcome=outcome, behaviour=behaviour, detail=detail, said=said)


def attempt(reproducer: Part, workaround: Part | None = None, control: Part | None = None) -> Attempt:
    """Return an attempt with these parts."""
    parts = {"reproducer": reproducer, "workaround": workaround, "control": control}
    return Attempt.model_validate({"parts": {name: each for name, each in parts.items() if each}, "seconds": 1.0})


GOOD, BAD, KILLED = part("returned", "good"), part("returned", "bad"), part("signal", detail="SIGKILL")
OF_MACHINE: list[tuple[Outcome, str]] = [
    ("import-error", "ImportError: libgomp.so.1: cannot open shared object file: No such file or directory"),
    ("import-error", "ImportError: /x/xla.so: failed to map segment from shared object"),
    ("import-error", "ImportError: /lib/libc.so.6: version `GLIBC_2.38' not found (required by /x/xla.so)"),
    ("import-error", "RuntimeError: This version of jaxlib was built using AVX instructions, which your CPU lacks"),
    ("import-error", "PermissionError: [Errno 13] Permission denied: '/x/jaxlib/version.py'"),
    ("import-signal", "SIGILL"),
]
ENDINGS: list[tuple[Part, Verdict, str | None, str | None]] = [
    (BAD, "affected", "bad", "run.bad"),
    (GOOD, "clear", "good", None),
    *((part("returned", each), CASE.behaviours[each], each, f"run.{each}") for each in ("warns", "odd", "gone")),
    (part("returned", "by-design"), "documented", "by-design", "run.by-design"),
    (part("returned", "never-heard-of"), "error", None, "run.unknown-behaviour"),
    (part("raised", detail="no"), "different", None, "run.exception"),
    (part("import-error", detail="no"), "blocked", None, "import.exception"),
    (part("import-signal", detail="no"), "blocked", None, "import.signal"),
    (part("import-timeout", detail="no"), "blocked", None, "import.timeout"),
    (part("probe-ended", detail="no"), "error", None, "run.probe"),
    # A fault of the machine is not upstream's.
    *(
        (part(outcome, detail=f"import jaxlib: {said}"), "error", None, "import.machine")
        for outcome, said in OF_MACHINE
    ),
    (Part(outcome="raised", exception="OSError", detail="[Errno 28] No space left"), "error", None, "run.disk"),
    (Part(outcome="raised", exception="MemoryError"), "error", None, "run.memory"),
    (part("unavailable", detail="it needs a CPU with amx_tile"), "unavailable", None, "plan.no-cpu-feature"),
    (part("unavailable", detail="it needs Python >=3.13, and this is 3.12.3"), "unavailable", None, "plan.no-python"),
    (part("signal", detail="SIGSEGV"), "crashed", None, "run.signal"),
    (part("signal", detail="SIGSEGV", said=GOOD), "crashed", None, "run.signal"),
    (KILLED, "error", None, "run.killed"),
    (part("timeout"), "hung", None, "run.timeout"),
    *((part(each), "different", None, f"run.{each}") for each in ("output", "exit", "no-result")),
    *((part(each), "error", None, f"run.{each}") for each in ("memory", "garbled")),
]
DOCUMENTED: list[tuple[Part, Verdict, str | None, str]] = [
    (part("signal", detail="SIGABRT"), "affected", "crashed", "run.signal"),
    (part("signal", detail="SIGABRT", said=GOOD), "affected", "crashed", "run.signal"),
    (part("timeout"), "affected", "hung", "run.timeout"),
    (part("import-error", detail="no"), "affected", "import-error", "import.exception"),
    (part("import-signal", detail="no"), "crashed", None, "import.signal"),
    (part("import-timeout", detail="no"), "hung", None, "import.timeout"),
    # A fault of the machine stays one, even if a crash is the documented symptom.
    (KILLED, "error", None, "run.killed"),
]


@pytest.mark.parametrize(
    ("case", "ending"), [*((CASE, each) for each in ENDINGS), *((SYMPTOMS, each) for each in DOCUMENTED)]
)
def test_an_ending_has_its_verdict(case: Case, ending: tuple[Part, Verdict, str | None, str | None]) -> None:
    """Every ending of a reproducer has one verdict, behaviour and reason; a documented one is the symptom."""
    judged = verdicts.judge_attempt(case, attempt(ending[0]))

    assert ending[1:] == (judged.verdict, judged.behaviour, judged.reason)


def test_the_endings_are_all_in_the_table() -> None:
    """The table of endings covers all outcomes of the probe."""
    assert set(get_args(Outcome)) == {reproducer.outcome for reproducer, *_ in ENDINGS}


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
    """A record keeps what was raised, so a newer signature needs no new run."""
    judged = verdicts.judge_attempt(replace(CASE, signatures=RAISED), attempt(raised))

    assert (behaviour, f"run.{behaviour or 'exception'}") == (judged.behaviour, judged.reason)


LACKING = Part(outcome="raised", exception="ModuleNotFoundError", detail="No module named 'absl'")
NO_FLATBUFFERS = Part(
    outcome="raised",
    exception="ImportError",
    detail="Please install 'flatbuffers' in order to use Exported serialization",
)
OF_ITSELF = Part(outcome="raised", exception="ModuleNotFoundError", detail="No module named 'jax.core'")


@pytest.mark.parametrize(
    ("reproducer", "control", "verdict", "behaviour"),
    [
        (LACKING, LACKING, "absent", "not-installed"),
        (LACKING, GOOD, "absent", "not-installed"),
        (NO_FLATBUFFERS, NO_FLATBUFFERS, "absent", "not-installed"),
        (OF_ITSELF, GOOD, "different", None),
        (LACKING, OF_ITSELF, "error", None),
        (BAD, LACKING, "error", None),
    ],
)
def test_a_package_that_jax_does_not_declare_may_be_missing(
    reproducer: Part, control: Part, verdict: Verdict, behaviour: str | None
) -> None:
    """A case that lacks absl or flatbuffers is `not-installed`, even if its control lacks them too."""
    case = replace(CASE, behaviours={**CASE.behaviours, "not-installed": "absent"})
    judged = verdicts.judge_attempt(case, attempt(reproducer, control=control))

    assert (verdict, behaviour) == (judged.verdict, judged.behaviour)


@pytest.mark.parametrize("outcome", [each for each in get_args(Outcome) if each != "returned"])
@pytest.mark.parametrize("reproducer", [GOOD, BAD, part("signal")])
def test_a_failed_control_is_an_error(reproducer: Part, outcome: Outcome) -> None:
    """A failed control makes an error, whatever the reproducer saw; the detail is tidy."""
    failed = part(outcome, detail="at 0x7f00aa11bb22\nin /somewhere/deep/in/there.py")
    judged = verdicts.judge_attempt(CASE, attempt(reproducer, control=failed))

    assert ("error", None, "run.control") == (judged.verdict, judged.behaviour, judged.reason)
    assert judged.detail == tidy(judged.detail)


@pytest.mark.parametrize(
    ("case", "reproducer", "workaround", "word"),
    [
        (CASE, BAD, part("returned"), "holds"),
        (CASE, part("returned", "warns"), part("returned"), "holds"),
        (CASE, part("signal"), part("raised"), "none"),
        (SYMPTOMS, part("signal"), part("returned"), "holds"),
        (CASE, GOOD, part("returned"), "not-needed"),
        (CASE, BAD, part("raised"), "fails"),
        (CASE, GOOD, part("raised"), "fails"),
        (CASE, BAD, part("signal", detail="SIGSEGV"), "fails"),
        (CASE, part("returned", "gone"), part("returned"), "none"),
        (CASE, BAD, None, "none"),
        # A part that the machine or the harness stopped, or that lacks a package, has not failed.
        *((CASE, BAD, each, "none") for each in (part("memory"), part("garbled"), KILLED)),
        (CASE, BAD, LACKING, "none"),
        # Under an environment the reproducer runs again, and helps if its behaviour is clear.
        (UNDER_A_FLAG, BAD, GOOD, "holds"),
        (UNDER_A_FLAG, BAD, BAD, "fails"),
        (UNDER_A_FLAG, BAD, part("raised"), "fails"),
        (UNDER_A_FLAG, GOOD, GOOD, "not-needed"),
        (UNDER_A_FLAG, part("import-error"), GOOD, "none"),
        (UNDER_A_FLAG, part("returned", "odd"), GOOD, "none"),
    ],
)
def test_a_workaround_has_its_word(case: Case, reproducer: Part, workaround: Part | None, word: WorkaroundWord) -> None:
    """A workaround holds, fails, is not needed without the symptom, or is undecided."""
    assert word == verdicts.judge_attempt(case, attempt(reproducer, workaround)).workaround


HERE = {"jax": "0.9.0", "lineax": "0.0.8"}
PINNED = {**HERE, "lineax": "0.1.0"}


@pytest.mark.parametrize(
    ("verdict", "other", "there", "word"),
    [
        ("affected", PINNED, "clear", "holds"),
        ("affected", PINNED, "affected", "fails"),
        ("clear", PINNED, "clear", "not-needed"),
        ("affected", PINNED, "error", "none"),
        ("affected", {**HERE, "lineax": "0.0.9"}, "clear", "none"),
        ("affected", {**PINNED, "jax": "0.9.1"}, "clear", "none"),
        ("blocked", PINNED, "clear", "none"),
        ("different", PINNED, "clear", "none"),
    ],
)
def test_a_pin_is_told_by_the_cell_that_differs_by_it_alone(
    verdict: Verdict, other: dict[str, str], there: Verdict, word: WorkaroundWord
) -> None:
    """A workaround that is a pin holds if the same stack with only that pinned is clear."""
    assert word == verdicts.by_pin("lineax>=0.1.0", verdict, HERE, [(other, there)])


def test_attempts_that_agree_are_one_verdict() -> None:
    """Agreeing attempts have the verdict of the last one."""
    attempts = [attempt(part("returned", "bad", detail)) for detail in ("first", "second", "third")]

    assert Judged("affected", "bad", "run.bad", "third") == verdicts.judge(CASE, attempts)


@given(seen=st.lists(st.sampled_from(["bad", "good", "warns"]), min_size=2, max_size=6))
@FEW_EXAMPLES
def test_attempts_that_disagree_are_flaky(seen: list[str]) -> None:
    """Attempts are `flaky` if any two differ, whatever their order; the detail counts each behaviour."""
    counts = ", ".join(f"{number} of {len(seen)} {name}" for name, number in sorted(Counter(seen).items()))
    judged = verdicts.judge(CASE, [attempt(part("returned", each)) for each in seen])

    assert (len(set(seen)) > 1) == (judged == Judged("flaky", None, "run.flaky", counts))


@pytest.mark.parametrize("last", [BAD, GOOD])
def test_a_workaround_holds_only_if_it_always_does(last: Part) -> None:
    """A workaround that failed in one attempt fails, whether or not the attempts agree."""
    attempts = [attempt(BAD, workaround=part("raised")), attempt(last, workaround=part("returned"))]

    assert "fails" == verdicts.judge(CASE, attempts).workaround


def test_only_a_verdict_on_the_symptom_decides() -> None:
    """Affected and documented mean yes; clear, guarded and absent mean no; other verdicts do not tell."""
    told = {"affected": True, "documented": True, **dict.fromkeys(("clear", "guarded", "absent"), False)}

    assert [told.get(each) for each in VERDICTS] == [verdicts.is_affected(each) for each in VERDICTS]


UNRECOGNISED = Judged("different", None, "run.exception", "AttributeError: no such name")


@pytest.mark.parametrize(
    ("judged", "awaited", "verdict"),
    [
        (UNRECOGNISED, "affected", "blocked"),
        (UNRECOGNISED, "crashed", "blocked"),
        (UNRECOGNISED, "clear", "different"),
        # The awaited case is undecided.
        (UNRECOGNISED, "error", "different"),
        # The case has an answer of its own.
        (Judged("affected", "bad", "run.bad", "2"), "affected", "affected"),
        (Judged("crashed", None, "run.signal", "SIGSEGV"), "affected", "crashed"),
    ],
)
def test_a_case_that_waits_for_what_goes_wrong_is_blocked(judged: Judged, awaited: Verdict, verdict: Verdict) -> None:
    """A waiting case is blocked if it raised something other than its symptom; a returned behaviour counts."""
    assert verdict == verdicts.waited(judged, {"row-zero/solves": awaited}).verdict


def test_every_verdict_stands_in_the_table_once() -> None:
    """The verdicts of the type are those of the table, in order, each with a glyph of one character."""
    assert get_args(Verdict) == tuple(each.name for each in TABLE)
    assert len(set(GLYPHS.values())) == sum(map(len, GLYPHS.values())) == len(TABLE)


@pytest.mark.parametrize(
    ("expected", "verdict", "behaviour", "agreement"),
    [
        *((each, PLAIN.behaviours[each], each, "as-expected") for each in ("bad", "good", "gone", "by-design")),
        *(("good", verdict, None, "regressed") for verdict in ("different", "crashed", "hung")),
        *((expected, "affected", "bad", "regressed") for expected in ("good", "warns", "gone", "by-design")),
        *(("bad", PLAIN.behaviours[each], each, "fixed") for each in ("good", "warns", "by-design")),
        ("odd", "clear", "good", "fixed"),
        *(("bad", verdict, None, "changed") for verdict in ("different", "crashed")),
        *((expected, "clear", "good", "changed") for expected in ("warns", "by-design")),
        *(("good", PLAIN.behaviours[each], each, "changed") for each in ("warns", "by-design")),
        *((None, verdict, behaviour, "new") for verdict, behaviour in (("clear", "good"), ("crashed", None))),
        *(
            (expected, verdict, None, "undecided")
            for expected in ("bad", "good", None)
            for verdict in sorted(UNDECIDED)
        ),
    ],
)
def test_an_agreement(expected: str | None, verdict: Verdict, behaviour: str | None, agreement: Agreement) -> None:
    """A verdict agrees with an expectation in one of six ways."""
    rule = Rule(expected, "", "seen") if expected else None

    assert agreement == agree(PLAIN, Judged(verdict, behaviour, None, ""), rule)


@pytest.mark.parametrize(
    ("word", "jax", "known"),
    [("holds", "0.5.0", True), ("fails", "0.5.0", False), ("holds", "0.4.30", False), ("fails", "0.4.30", True)]
    + [(word, jax, True) for word in ("none", "not-needed") for jax in ("0.5.0", "0.4.30")],
)
def test_a_workaround_is_known_to_hold_but_where_it_is_known_to_fail(
    word: WorkaroundWord, jax: str, known: bool
) -> None:
    """A failing workaround is as expected only on the stacks where that is documented."""
    assert known == workaround_expected(word, ("jax<0.4.31",), {"jax": jax})


AT_LENGTH = "what happened\n----\nFor simplicity, JAX has removed"
SAID = Part(outcome="returned", behaviour="good", detail="all is well")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part(outcome="raised", exception="ValueError", detail=AT_LENGTH), "ValueError: what happened"),
        (Part(outcome="raised", exception="KeyError"), "KeyError"),
        (Part(outcome="signal", detail="SIGABRT", said=SAID), "signal after its answer, good: all is well"),
        (Part(outcome="signal", detail="SIGABRT"), "signal: SIGABRT"),
        (Part(outcome="timeout"), "timeout"),
    ],
)
def test_an_ending_is_told_in_a_line(part: Part, words: str) -> None:
    """An exception has its type and first line; a crash at exit has the answer before it."""
    assert words == explain(part)


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("", ""),
        ("two\n  lines\tand a tab ", "two lines and a tab"),
        ("<function f at 0x7f3a5c0d9e10>", "<function f at 0x…>"),
        ("a small number: 0x1f", "a small number: 0x1f"),
        ('File "/usr/lib/python3.12/site-packages/jax/_src/core.py"', 'File "…/core.py"'),
        ("in /srv/a-b/c+d/e.txt and /usr/x/y", "in …/e.txt and …/y"),
        ("f32[2]/f32[3], a/b, and/or", "f32[2]/f32[3], a/b, and/or"),
        ("long " * 100, ("long " * 100)[:399] + "…"),
    ],
)
def test_a_detail_is_tidied(text: str, tidied: str) -> None:
    """A detail is one line of at most 400 characters, without addresses and folders."""
    assert tidied == tidy(text)


# Includes escape sequences, marks that change the text direction, and halves of characters.
PIECES = [
    *"/a…. \n\x00\ud800",
    "0x",
    "0x0123456789ab",
    "..",
    "/tmp/",
    "x" * 150,
    "\x1b[31m",
    "\x1b]0;",
    "\u202e",
    "\u2066",
]


@given(text=st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join))
@FEW_EXAMPLES
def test_a_tidy_detail_can_be_printed(text: str) -> None:
    """Any foreign text becomes a short printable detail, and tidying it again changes nothing."""
    tidied = tidy(text)

    assert tidied == tidy(tidied)
    assert (True, True) == (tidied.isprintable(), len(tidied) <= 400)


@pytest.mark.parametrize(
    ("part", "package"),
    [
        (Part(outcome="import-error", detail="import equinox: AttributeError: no jax.core.Token"), "equinox"),
        (Part(outcome="raised", detail="import equinox: it says"), None),
        (Part(outcome="timeout"), None),
    ],
)
def test_the_package_that_does_not_import_is_named(part: Part, package: str | None) -> None:
    """A package is named only if an import failed: code may raise far from the fault."""
    assert package == not_imported(part)
