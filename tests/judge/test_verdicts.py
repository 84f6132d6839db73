"""Verdicts, agreements, expectations and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from suite.cell.issue import Case, Expectation, JudgedAs, Seen
from suite.judge import verdicts as judge
from suite.judge.verdicts import Agreement, Declared, DeclaredObserved, Interval, Judged, Point, Verdict, Workaround
from suite.run import catalogue
from suite.run.records import Attempt, Outcome, Part
from suite.stack import lock, plan, releases

CASE = Case(
    id="headline",
    question="Does it?",
    reproducer=lambda: Seen("bad"),
    control=lambda: None,
    behaviours={"bad": "affected", "good": "clear", "warns": "guarded", "odd": "different", "gone": "absent"},
    expectations=(),
    workaround=lambda: None,
)
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
    (part("import-error", detail="no"), "different", None, "import.exception"),
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
    judged = judge.judge_attempt(CASE, attempt(reproducer))

    assert (verdict, behaviour, reason) == (judged.verdict, judged.behaviour, judged.reason)


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
    judged = judge.judge_attempt(SYMPTOMS, attempt(reproducer))

    assert ("affected", behaviour, reason) == (judged.verdict, judged.behaviour, judged.reason)


def test_being_killed_is_no_symptom() -> None:
    """A SIGKILL is the machine's doing also where a crash is the documented symptom."""
    judged = judge.judge_attempt(SYMPTOMS, attempt(part("signal", detail="SIGKILL")))

    assert ("error", None, "run.killed") == (judged.verdict, judged.behaviour, judged.reason)


@pytest.mark.parametrize("outcome", [each for each in get_args(Outcome) if each != "returned"])
@pytest.mark.parametrize("reproducer", [part("returned", "good"), part("returned", "bad"), part("signal")])
def test_a_failed_control_is_an_error(reproducer: Part, outcome: Outcome) -> None:
    """Where the control fails nothing was learned, whatever the reproducer saw."""
    judged = judge.judge_attempt(CASE, attempt(reproducer, control=part(outcome)))

    assert ("error", None, "run.control") == (judged.verdict, judged.behaviour, judged.reason)


def test_the_detail_of_a_failed_control_is_tidy() -> None:
    """What a failed control said is one short line without addresses and paths, as every detail is."""
    said = "at 0x7f00aa11bb22\n" + "in /somewhere/deep/in/there.py " * 100

    judged = judge.judge_attempt(CASE, attempt(part("returned", "good"), control=part("exit", detail=said)))

    assert judge.tidy(judged.detail) == judged.detail


def test_the_detail_of_an_exception_is_its_first_line() -> None:
    """An exception is told by its type and first line: JAX's last lines are boilerplate."""
    raised = Part(
        outcome="raised", exception="ValueError", detail="what happened\n----\nFor simplicity, JAX has removed"
    )

    assert "ValueError: what happened" == judge.judge_attempt(CASE, attempt(raised)).detail


def test_an_exception_without_a_message_is_told_by_its_type() -> None:
    """An exception that says nothing is told by its type alone."""
    assert "KeyError" == judge.explain(Part(outcome="raised", exception="KeyError"))


def test_a_crash_after_an_answer_keeps_the_answer() -> None:
    """The detail of a crash at exit tells what had been answered before."""
    crashed = part("signal", detail="SIGABRT", said=part("returned", "good", "all is well"))

    assert "signal after its answer, good: all is well" == judge.explain(crashed)


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
def test_a_workaround_has_its_word(case: Case, reproducer: Part, workaround: Part | None, word: Workaround) -> None:
    """A workaround holds, fails, is not needed where the symptom is absent, or there is none."""
    assert word == judge.judge_attempt(case, attempt(reproducer, workaround)).workaround


@pytest.mark.parametrize("workaround", [part("memory"), part("garbled"), part("signal", detail="SIGKILL")])
def test_a_workaround_does_not_fail_for_the_machine(workaround: Part) -> None:
    """A workaround that the machine or the harness stopped has not failed."""
    assert judge.judge_attempt(CASE, attempt(part("returned", "bad"), workaround)).workaround != "fails"


def test_attempts_that_agree_are_one_verdict() -> None:
    """The verdict on attempts that agree is that of the last of them."""
    attempts = [attempt(part("returned", "bad", detail)) for detail in ("first", "second", "third")]

    assert Judged("affected", "bad", "run.bad", "third") == judge.judge(CASE, attempts)


def test_attempts_that_disagree_are_flaky() -> None:
    """Attempts that disagree are `flaky`, and the detail has k of n for each of what was seen."""
    attempts = [attempt(each) for each in (part("returned", "good"), part("returned", "bad"), part("returned", "good"))]

    assert Judged("flaky", None, "run.flaky", "1 of 3 bad, 2 of 3 good") == judge.judge(CASE, attempts)


@given(seen=st.lists(st.sampled_from(["bad", "good", "warns"]), min_size=1, max_size=6), data=st.data())
@settings(deadline=None)
def test_the_order_of_attempts_does_not_matter(seen: list[str], data: st.DataObject) -> None:
    """Attempts fold to the same verdict in any order, and to `flaky` exactly where two of them differ."""
    shuffled = data.draw(st.permutations(seen))

    one, other = (judge.judge(CASE, [attempt(part("returned", each)) for each in order]) for order in (seen, shuffled))

    assert one == other
    assert (len(set(seen)) > 1) == (one.verdict == "flaky")


@pytest.mark.parametrize("last", ["bad", "good"])
def test_a_workaround_holds_only_if_it_always_does(last: str) -> None:
    """A workaround that failed in one attempt fails, whether the attempts agree otherwise or not."""
    attempts = [
        attempt(part("returned", "bad"), workaround=part("raised")),
        attempt(part("returned", last), workaround=part("returned")),
    ]

    assert "fails" == judge.judge(CASE, attempts).workaround


@pytest.mark.parametrize(
    ("expected", "verdict", "behaviour", "agreement"),
    [
        ("bad", "affected", "bad", "as-expected"),
        ("good", "clear", "good", "as-expected"),
        ("gone", "absent", "gone", "as-expected"),
        ("good", "affected", "bad", "regressed"),
        ("good", "different", None, "regressed"),
        ("good", "crashed", None, "regressed"),
        ("good", "hung", None, "regressed"),
        ("warns", "affected", "bad", "regressed"),
        ("gone", "affected", "bad", "regressed"),
        ("bad", "clear", "good", "fixed"),
        ("bad", "guarded", "warns", "fixed"),
        ("odd", "clear", "good", "fixed"),
        ("bad", "different", None, "changed"),
        ("bad", "crashed", None, "changed"),
        ("good", "guarded", "warns", "changed"),
        ("warns", "clear", "good", "changed"),
        (None, "clear", "good", "new"),
        (None, "affected", "bad", "new"),
        (None, "crashed", None, "new"),
        *(
            (expected, verdict, None, "spurious")
            for expected in ("bad", "good", None)
            for verdict in ("conflict", "unavailable", "flaky", "error", "not-run")
        ),
    ],
)
def test_an_agreement(expected: str | None, verdict: Verdict, behaviour: str | None, agreement: Agreement) -> None:
    """A verdict goes with what was expected in one of six ways."""
    expectation = Expectation(expected, (), "seen") if expected else None

    assert agreement == judge.agree(CASE, Judged(verdict, behaviour, None, ""), expectation)


@pytest.mark.parametrize(
    ("on", "packages", "met"),
    [
        ((), {}, True),
        (("jax<0.5",), {"jax": "0.4.30"}, True),
        (("jax<0.5",), {"jax": "0.5.0"}, False),
        (("jax>=0.4.36,<0.5",), {"jax": "0.4.38"}, True),
        (("jax>=0.4.36", "diffrax<0.6.1"), {"jax": "0.4.36", "diffrax": "0.6.0"}, True),
        (("jax>=0.4.36", "diffrax<0.6.1"), {"jax": "0.4.36", "diffrax": "0.6.1"}, False),
        (("lineax<0.1",), {"jax": "0.4.20"}, False),
        (("jax>=0.9",), {"jax": "0.9.0.1"}, True),
        (("jax>=0.9",), {"jax": "0.10.0"}, True),
        (("jax>=0.9",), {"jax": "0.10.0.dev20260101"}, True),
    ],
)
def test_an_expectation_is_met(on: tuple[str, ...], packages: Mapping[str, str], met: bool) -> None:
    """An expectation holds where all its requirements are met, and none by a package that is not there."""
    case = replace(CASE, expectations=(Expectation("bad", on, "seen"),))

    assert met == (judge.expected(case, packages) is not None)


def test_expectations_that_contradict_each_other_are_refused() -> None:
    """Two behaviours expected of the same releases are a fault in the table."""
    case = replace(
        CASE, expectations=(Expectation("bad", ("jax>=0.5",), "seen"), Expectation("good", ("jax<0.7",), "seen"))
    )

    with pytest.raises(ValueError, match="headline: bad, good are all expected"):
        judge.expected(case, {"jax": "0.6.0"})


KNOWN = releases.load().packages
JAX = judge.in_version_order(list(KNOWN["jax"]))


@given(
    cuts=st.lists(st.integers(0, len(JAX) - 1), max_size=4, unique=True).map(sorted),
    place=st.integers(0, len(JAX) - 1),
)
@settings(deadline=None)
def test_ranges_that_share_their_ends_cut_the_line_in_pieces(cuts: list[int], place: int) -> None:
    """Where each range begins at the version that ends the one before, every release is in exactly one."""
    ends = [f"jax<{JAX[cut]}" for cut in cuts]
    starts = [f"jax>={JAX[cut]}" for cut in cuts]
    pieces = [tuple(filter(None, each)) for each in zip(["", *starts], [*ends, ""], strict=True)]
    behaviours: Mapping[str, JudgedAs] = {f"piece-{number}": "affected" for number in range(len(pieces))}
    case = replace(
        CASE,
        behaviours=behaviours,
        expectations=tuple(Expectation(f"piece-{number}", on, "seen") for number, on in enumerate(pieces)),
    )

    found = judge.expected(case, {"jax": JAX[place]})

    assert found is not None
    assert f"piece-{sum(cut <= place for cut in cuts)}" == found.behaviour


@cache
def pinned(name: str) -> list[str]:
    """The versions of a package that some lock pins."""
    pins = [lock.load(cell).pins for cell in plan.cells()]
    return judge.in_version_order(sorted({each[name] for each in pins if name in each}))


@cache
def jaxlibs_of(jax: str) -> list[str]:
    """The jaxlib releases that this release of jax, asked for as `jax[cpu]`, accepts."""
    requires = [Requirement(text) for text in KNOWN["jax"][jax].requires_dist if text.startswith("jaxlib")]
    accepted = [each.specifier for each in requires if not each.marker or each.marker.evaluate({"extra": "cpu"})]
    return [version for version in KNOWN["jaxlib"] if all(version in each for each in accepted)]


@st.composite
def stacks(draw: st.DrawFn) -> Mapping[str, str]:
    """A jax with a jaxlib that it accepts, beside any releases of the others, whether they work together or not."""
    jax = draw(st.sampled_from([version for version in JAX if jaxlibs_of(version)]))
    stack = {"jax": jax, "jaxlib": draw(st.sampled_from(jaxlibs_of(jax)))}
    stack |= {name: draw(st.sampled_from(sorted(KNOWN[name]))) for name in ("equinox", "diffrax")}
    return stack | {name: draw(st.sampled_from(pinned(name))) for name in releases.PACKAGES if name not in stack}


@given(stack=stacks())
@settings(deadline=None, max_examples=150)
def test_no_table_contradicts_itself(stack: Mapping[str, str]) -> None:
    """On no releases that jax and jaxlib allow do two expectations of a case claim different behaviours."""
    for entry in catalogue.entries():
        for case in entry.issue.cases:
            expectation = judge.expected(case, stack)
            assert expectation is None or expectation.behaviour in case.behaviours


def test_every_cell_of_the_line_has_an_expectation_for_every_case() -> None:
    """The tables leave no gap: on each cell that can be had each of its cases is known to show some behaviour."""
    gaps = [
        f"{cell.id} {entry.issue.id}/{case.id}"
        for cell in plan.cells()
        for entry in catalogue.entries()
        for case in catalogue.cases(entry, cell)
        if cell.unavailable is None and judge.expected(case, lock.load(cell).pins) is None
    ]

    assert [] == gaps


TRACE = "".join(f'  File "…/site-packages/{{}}.py", line {line}, in f\n' for line in (1, 2, 3))
GOOD: tuple[str, Verdict] = ("good", "clear")
BAD: tuple[str, Verdict] = ("bad", "affected")
ODD: tuple[str, Verdict] = ("odd", "different")


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[Point], list[str]]:
    """Releases in order, some of them points of the line, at some of which something was seen."""
    known = [f"1.{number}" for number in range(draw(st.integers(1, 12)))]
    kept = [version for version in known if draw(st.booleans())]
    return [Point(version, draw(st.sampled_from([GOOD, BAD, ODD, None]))) for version in kept], known


@given(line=lines())
@settings(deadline=None)
def test_intervals_cover_what_was_seen(line: tuple[list[Point], list[str]]) -> None:
    """The runs, one after another, hold exactly the points where something was seen, each under what was seen there."""
    points, known = line
    runs = judge.intervals(points, "jax", known)

    def within(version: str) -> list[tuple[str, Verdict]]:
        return [
            (run.behaviour, run.verdict)
            for run in runs
            if known.index(run.first) <= known.index(version) <= known.index(run.last)
        ]

    seen = {point.version: point.seen for point in points if point.seen is not None}
    assert {version: [what] for version, what in seen.items()} == {version: within(version) for version in seen}
    assert {end for run in runs for end in (run.first, run.last)} <= set(seen)


@given(line=lines())
@settings(deadline=None)
def test_intervals_are_maximal_and_in_order(line: tuple[list[Point], list[str]]) -> None:
    """A run ends only where the next one shows something else, and the runs stand in the order of the releases."""
    points, known = line
    runs = judge.intervals(points, "jax", known)

    ends = [known.index(end) for run in runs for end in (run.first, run.last)]
    assert sorted(ends) == ends
    assert all(one.behaviour != other.behaviour for one, other in pairwise(runs))


@given(line=lines())
@settings(deadline=None)
def test_an_interval_is_exact_where_both_neighbours_are_known(line: tuple[list[Point], list[str]]) -> None:
    """A run is exact only if the release next to each end was seen to differ, or is none."""
    points, known = line
    seen = {point.version: point.seen for point in points}

    for run in judge.intervals(points, "jax", known):
        first, last = known.index(run.first), known.index(run.last)
        neighbours = [*known[max(first - 1, 0) : first], *known[last + 1 : last + 2]]
        assert run.exact == all(seen.get(each) not in (None, (run.behaviour, run.verdict)) for each in neighbours)


@given(line=lines())
@settings(deadline=None)
def test_unknown_points_neither_break_nor_make_a_run(line: tuple[list[Point], list[str]]) -> None:
    """A point where nothing was learned is as good as one that is not there."""
    points, known = line

    known_points = [point for point in points if point.seen is not None]
    assert judge.intervals(known_points, "jax", known) == judge.intervals(points, "jax", known)


def test_a_case_can_have_several_intervals() -> None:
    """What is bad, then good, then bad again is three intervals."""
    points = [Point("1.0", BAD), Point("1.1", GOOD), Point("1.2", None), Point("1.3", GOOD), Point("1.5", BAD)]

    assert (
        Interval("bad", "affected", "jax", "1.0", "1.0", exact=True),
        Interval("good", "clear", "jax", "1.1", "1.3", exact=False),
        Interval("bad", "affected", "jax", "1.5", "1.5", exact=False),
    ) == judge.intervals(points, "jax", ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"])


def test_a_release_that_cannot_be_had_makes_no_end_exact() -> None:
    """A point that is not among the releases, as one since yanked, is in its run, and bounds none exactly."""
    points = [Point("1.0", BAD), Point("1.1", GOOD), Point("1.2", GOOD)]

    assert not any(each.exact for each in judge.intervals(points, "jax", ["1.0", "1.2"]))


@pytest.mark.parametrize(
    ("says", "works", "word"),
    [
        ("allows", True, "supported"),
        ("allows", False, "latent"),
        ("excludes", False, "guarded"),
        ("excludes", True, "over-tight"),
        ("allows", None, None),
        ("excludes", None, None),
    ],
)
def test_declared_against_observed(says: Declared, works: bool | None, word: DeclaredObserved | None) -> None:
    """What metadata says against what was seen is one of four words, or none where nothing was seen."""
    assert word == judge.declared_observed(says, works)


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("", ""),
        ("plain words", "plain words"),
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
    assert tidied == judge.tidy(text)


HOSTILE: st.SearchStrategy[Any] = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(["/", "a", "…", " ", "\n", "0x", "0x0123456789ab", "..", "/tmp/", ".", "x" * 150]), max_size=30
    ).map("".join),
)


@given(text=HOSTILE)
@settings(deadline=None)
def test_tidying_twice_changes_nothing(text: str) -> None:
    """A tidy detail stays as it is, and never grows beyond its limit."""
    tidied = judge.tidy(text)

    assert tidied == judge.tidy(tidied)
    assert len(tidied) <= 400


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\u202eb\u202c", "\u2066a\u2069", "\x00", "\ud800"]
)
def test_a_tidy_detail_can_be_printed(text: str) -> None:
    """Escape sequences, direction marks and halves of characters in somebody else's text do not reach a reader raw."""
    assert judge.tidy(f"before {text} after").isprintable()


@pytest.mark.parametrize(
    ("tried", "declared", "specifier"),
    [
        ({"0.4.30": True, "0.4.36": True}, ">=0.4.13", ">=0.4.13"),
        ({"0.4.30": True, "0.4.36": False}, ">=0.4.13", ">=0.4.13,<0.4.36"),
        ({"0.4.30": False, "0.4.36": True}, ">=0.4.13", ">=0.4.36"),
        ({"0.4.30": True, "0.4.35": False, "0.4.36": True}, ">=0.4.13", ">=0.4.13,!=0.4.35"),
        ({"0.4.36": True, "0.4.38": True}, ">=0.4.38", ">=0.4.36"),
        ({"0.4.36": False, "0.4.38": True}, ">=0.4.38", ">=0.4.38"),
        ({"0.7.0": True, "0.7.2": True}, "!=0.7.0,>=0.4.38", ">=0.4.38"),
        ({"0.7.0": True, "0.7.2": True}, "!=0.7.0,!=0.7.1,>=0.4.38", ">=0.4.38,!=0.7.1"),
        ({"0.4.30": True, "0.4.36": False}, "!=0.4.27,>=0.4.13", ">=0.4.13,<0.4.36,!=0.4.27"),
        ({"0.4.30": True, "0.4.36": False}, "!=0.4.27,>=0.4.28", ">=0.4.28,<0.4.36"),
        ({"0.10.0": False, "0.9.2": True}, "", "<0.10.0"),
        ({"0.9.2": False, "0.10.0": False}, ">=0.4.38", None),
        ({}, ">=0.4.38", None),
    ],
)
def test_a_specifier_that_agrees_with_the_runs(tried: dict[str, bool], declared: str, specifier: str | None) -> None:
    """What metadata says stays where it agrees; else a bound or an exclusion is put where the runs have it."""
    assert specifier == judge.reconciled(tried, declared)


@given(
    st.dictionaries(st.sampled_from([f"0.{minor}.{patch}" for minor in range(8) for patch in range(3)]), st.booleans()),
    st.sampled_from(["", ">=0.2.1", ">=0.4,!=0.5.0", "<0.6,>=0.1", ">=9"]),
)
def test_the_specifier_admits_what_works_and_nothing_else(tried: dict[str, bool], declared: str) -> None:
    """Of what was tried, the reconciling specifier admits exactly what works; there is none only where nothing does."""
    specifier = judge.reconciled(tried, declared)

    assert (specifier is None) == (not any(tried.values()))
    if specifier is not None:
        assert tried == {version: version in SpecifierSet(specifier) for version in tried}


@pytest.mark.parametrize(
    ("part", "package"),
    [
        (Part(outcome="import-error", detail="import equinox: AttributeError: no jax.core.Token"), "equinox"),
        (Part(outcome="import-error", detail="import numpy: ImportError: no"), None),
        (Part(outcome="raised", traceback=TRACE.format("equinox/_jit", "diffrax/_step", "jax/_src/core")), "diffrax"),
        (Part(outcome="raised", traceback=TRACE.format("jax/_src/a", "jax/_src/b", "jax/_src/c")), None),
        (Part(outcome="timeout"), None),
    ],
)
def test_a_package_in_which_it_breaks(part: Part, package: str | None) -> None:
    """What breaks is the package that did not import, or the last of them that is in the traceback."""
    assert package == judge.broken_in(part, ("equinox", "diffrax"))


def test_a_change_that_came_before_a_release_is_not_exact() -> None:
    """Where what stood just before a release already did as it does, the change was not its, and no end is exact."""
    points = [Point("1.0", BAD), Point("1.1", GOOD)]
    ends = [each.exact for each in judge.intervals(points, "jax", ["1.0", "1.1"], caused=set())]

    assert [False, False] == ends
    assert all(each.exact for each in judge.intervals(points, "jax", ["1.0", "1.1"], caused={"1.1"}))
