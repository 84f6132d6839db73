"""Changes along the line: neighbours, intervals of behaviours, and the attribution of a change to a package."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.judge.metadata import reached
from jax_stack_compat.judge.rules import Run
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.stack import plan
from laboratory.boundaries.attribution import LINKED, Blame, Move, blame, moves, told
from laboratory.boundaries.intervals import Point, intervals
from laboratory.boundaries.neighbours import LineCell, in_order, neighbours
from laboratory.report.model import IntervalRow, affected
from tests.judge.stacks import FEW_EXAMPLES, IMPLICIT, LU, OFFERED, PYTHON, RULES, RUNS, SHOWN, STACKS, as_ruled, pins

GOOD: tuple[str, Verdict] = ("good", "clear")
BAD: tuple[str, Verdict] = ("bad", "affected")
ODD: tuple[str, Verdict] = ("odd", "different")


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[Point], list[str]]:
    """Draw releases in order; some are points of the line, and some of these have a behaviour."""
    known = [f"1.{number}" for number in range(draw(st.integers(1, 12)))]
    kept = [version for version in known if draw(st.booleans())]
    return [Point(version, draw(st.sampled_from([GOOD, BAD, ODD, None]))) for version in kept], known


@given(line=lines())
@FEW_EXAMPLES
def test_intervals_cover_what_was_seen(line: tuple[list[Point], list[str]]) -> None:
    """Intervals have the observed behaviours, in order and as long as possible; exact if both neighbours differ."""
    points, known = line
    seen = {point.version: point.seen for point in points if point.seen is not None}
    runs = intervals(points, "jax", known)
    places = [(known.index(run.first), known.index(run.last)) for run in runs]

    covered = [
        (version, (run.behaviour, run.verdict))
        for run, (first, last) in zip(runs, places, strict=True)
        for version in known[first : last + 1]
        if version in seen
    ]
    assert list(seen.items()) == covered
    assert {end for run in runs for end in (run.first, run.last)} <= set(seen)
    assert all(one.behaviour != other.behaviour for one, other in pairwise(runs))
    for run, (first, last) in zip(runs, places, strict=True):
        outside = [*known[max(first - 1, 0) : first], *known[last + 1 : last + 2]]
        assert run.exact == all(seen.get(each) not in (None, (run.behaviour, run.verdict)) for each in outside)
    assert runs == intervals([point for point in points if point.seen is not None], "jax", known)


def test_a_release_that_cannot_be_had_makes_no_end_exact() -> None:
    """A point outside the releases, such as a yanked one, is in its interval, and makes no end exact."""
    points = [Point("1.0", BAD), Point("1.1", GOOD), Point("1.2", GOOD)]

    assert not any(each.exact for each in intervals(points, "jax", ["1.0", "1.2"]))


LINEAX, JAX = Move("lineax", "0.0.8", "0.1.0"), Move("jax", "1.0", "1.1")


@pytest.mark.parametrize(
    ("found", "exact", "came_with"),
    [
        (Blame((LINEAX,), "rule", (JAX, LINEAX)), False, "lineax 0.0.8 → 0.1.0"),
        (Blame((JAX, LINEAX), "together", (JAX, LINEAX)), False, "lineax 0.0.8 → 0.1.0"),
        (Blame((JAX,), "rule", (JAX, LINEAX)), True, ""),
    ],
)
def test_a_change_is_exact_where_the_package_itself_made_it(found: Blame, exact: bool, came_with: str) -> None:
    """If another package is or may be the cause, neither end is exact, and the interval names that package."""
    told = intervals([Point("1.0", BAD), Point("1.1", GOOD)], "jax", ["1.0", "1.1"], lambda *_: found)

    assert [(exact, ""), (exact, came_with)] == [(each.exact, each.came_with) for each in told]


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ([("clear", "jax", "0.4.18", "0.5.0"), ("affected", "jax", "0.5.1", "0.12.0")], "since jax 0.5.1"),
        ([("affected", "jax", "0.4.18", "0.5.0"), ("clear", "jax", "0.5.1", "0.12.0")], "until jax 0.5.0"),
        (
            [("absent", "jax", "0.1", "0.2"), ("affected", "jax", "0.3", "0.4"), ("clear", "jax", "0.5", "0.6")],
            "jax 0.3 to 0.4",
        ),
        ([("affected", "jax", "0.1", "0.2"), ("crashed", "jax", "0.3", "0.4")], "all releases run"),
        # Equinox changes it.
        (
            [
                ("affected", "jax", "0.1", "0.2"),
                *[("clear", "equinox", "1", "2"), ("affected", "equinox", "3", "3"), ("clear", "equinox", "4", "5")],
            ],
            "equinox 3",
        ),
        # jax brings the symptom, and the packages of its day end it.
        ([("clear", "jax", "0.1", "0.2"), ("affected", "jax", "0.3", "0.3"), ("clear+", "jax", "0.4", "0.5")], None),
        ([("documented", "jax", "0.1", "0.2")], ""),
        ([], ""),
    ],
)
def test_where_a_case_goes_wrong_is_told(found: list[tuple[str, str, str, str]], where: str | None) -> None:
    """The affected releases are those of the package that changes the case, within the runs; + is another's change."""
    shown = [
        IntervalRow.model_validate(
            {
                **{"behaviour": of, "verdict": of.rstrip("+"), "package": package, "first": first, "last": last},
                **{"exact": True, "with": "equinox 1 → 2" if "+" in of else ""},
            }
        )
        for of, package, first, last in found
    ]
    assert where == affected(shown)


LINE = [
    LineCell(cell.id, cell.moves, pins(cell.id), cell.released_on)
    for cell in plan.cells()
    if cell.kind == "line" and cell.unavailable is None
]
BEFORE = {after.id: before.id for before, after in neighbours(LINE)}


def test_a_cell_is_compared_with_the_one_before_it_on_its_branch() -> None:
    """jax 0.8.3 came out after 0.9.0: both follow 0.8.2, and diffrax 0.7.1, which came out on 0.9.0, a cell there."""
    of = {"jax-0.8.3": "0.8.2", "jax-0.9.0": "0.8.2", "diffrax-0.7.1": "0.9.0"}

    assert of == {cell: pins(BEFORE[cell])["jax"] for cell in of}
    assert "jax-0.9.0" == BEFORE["equinox-0.13.3"]


@st.composite
def trees(draw: st.DrawFn) -> list[LineCell]:
    """Draw the cells of a line: releases of jax and of libraries, on any days."""
    versions = draw(st.lists(st.tuples(st.integers(4, 6), st.integers(0, 3)), min_size=1, max_size=8, unique=True))
    day = st.integers(0, 300).map(lambda days: date(2024, 1, 1) + timedelta(days=days))
    cells = [LineCell(f"jax-0.{a}.{b}", "jax", {"jax": f"0.{a}.{b}"}, draw(day)) for a, b in versions]
    for number in range(draw(st.integers(0, 4))):
        a, b = draw(st.sampled_from(versions))
        cells.append(LineCell(f"diffrax-{number}", "diffrax", {"jax": f"0.{a}.{b}"}, draw(day)))
    return cells


@given(trees())
@FEW_EXAMPLES
def test_the_line_is_one_tree(cells: list[LineCell]) -> None:
    """All cells but the first have one neighbour, which comes before; the input order does not matter."""
    ordered = in_order(cells)
    pairs = neighbours(cells)

    assert [each.id for each in ordered[1:]] == [after.id for _, after in pairs]
    assert all(ordered.index(before) < ordered.index(after) for before, after in pairs)
    assert pairs == neighbours(sorted(cells, key=lambda each: each.id, reverse=True))


def between(before: str, after: str, rules: tuple[Rule, ...] = IMPLICIT) -> Blame | None:
    """Attribute the change between two cells of the line, with rules that know both."""
    one, other = as_ruled(before), as_ruled(after)
    among = {name for each in (one, other) for name in reached(["diffrax"], each.pins, OFFERED, PYTHON)}
    return blame(one, other, rules, among=among)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("jax-0.8.1", "jax-0.8.2", "jax 0.8.1 → 0.8.2"),
        ("jax-0.8.2", "jax-0.8.3", "lineax 0.0.8 → 0.1.0"),
        ("jax-0.8.3", "jax-0.9.0", "lineax 0.1.0 → 0.0.8"),
        ("equinox-0.13.4", "equinox-0.13.5", "lineax 0.0.8 → 0.1.0"),
        ("equinox-0.13.4", "diffrax-0.7.1", "lineax 0.0.8 → 0.1.0"),
        ("jax-0.9.0", "jax-0.9.0.1", "lineax 0.0.8 → 0.1.0"),
    ],
)
def test_a_failure_of_lineax_is_not_put_down_to_what_moved_along(before: str, after: str, words: str) -> None:
    """The fix in Lineax 0.1.0 is attributed to Lineax by rule, whatever else moved."""
    found = between(before, after)

    assert found is not None
    assert (words, "rule", True) == (str(found), found.grounds, LU.evidence in found.evidence)


def test_without_a_rule_a_change_came_with_all_that_moved() -> None:
    """Without a rule or run to tell them apart, all moved packages are named, jax first."""
    found = between("equinox-0.13.4", "diffrax-0.7.1", ())
    along = "jaxtyping 0.3.6 → 0.3.7, numpy 2.4.1 → 2.4.2"

    assert found is not None
    assert (None, f"came with diffrax 0.7.0 → 0.7.1, lineax 0.0.8 → 0.1.0, {along}") == (found.package, str(found))


OLD_PINS = {"jax": "0.9.0", "jaxlib": "0.9.0", "equinox": "0.13.4", "lineax": "0.0.8"}
NEW_PINS = {"jax": "0.9.1", "jaxlib": "0.9.1", "equinox": "0.13.5", "lineax": "0.1.0"}
LINEAX_FORTH = Run("forth", {**OLD_PINS, "lineax": "0.1.0"}, "good")
LINEAX_BACK = Run("back", {**NEW_PINS, "lineax": "0.0.8"}, "bad")
EQUINOX_FORTH = Run("other", {**OLD_PINS, "equinox": "0.13.5"}, "good")


@pytest.mark.parametrize(
    ("runs", "package", "grounds", "evidence"),
    [
        ([LINEAX_FORTH], "lineax", "run", "forth"),
        ([LINEAX_BACK], "lineax", "run", "back"),
        ([LINEAX_FORTH, EQUINOX_FORTH], None, "together", ""),
    ],
)
def test_a_run_tells_causes_apart(runs: list[Run], package: str | None, grounds: str, evidence: str) -> None:
    """A cell that differs from one side by one package and shows the other side is evidence, if it is the only one."""
    found = blame(Run("before", OLD_PINS, "bad"), Run("after", NEW_PINS, "good"), (), runs)

    assert found is not None
    assert (package, grounds, evidence) == (found.package, found.grounds, found.evidence)


TOGETHER = "jax or jaxlib 0.9.0 → 0.9.1, which moved together"


@pytest.mark.parametrize(
    ("on", "after", "words", "grounds"),
    [
        ("jax<0.9.1", NEW_PINS, "jax 0.9.0 → 0.9.1", "rule"),
        ("jaxlib<0.9.1", NEW_PINS, "jaxlib 0.9.0 → 0.9.1", "rule"),
        ("jax<0.9.1 jaxlib<0.9.1", NEW_PINS, TOGETHER, "rule"),
        (
            "jax<0.1",
            {**OLD_PINS, "jax": "0.9.1", "jaxlib": "0.9.1"},
            TOGETHER,
            "run",
        ),
    ],
)
def test_a_jaxlib_goes_with_its_jax_unless_a_rule_tells_them_apart(
    on: str, after: dict[str, str], words: str, grounds: str
) -> None:
    """The cause is jax or its jaxlib, unless a rule tells them apart."""
    rules = (Rule("bad", on, "seen"), Rule("good", "", "seen"))
    found = blame(Run("before", OLD_PINS, "bad"), Run("after", after, "good"), rules)

    assert found is not None
    assert (words, grounds) == (str(found), found.grounds)


@pytest.mark.parametrize(
    ("jax", "jaxlib", "saw", "words", "evidence"),
    [
        ("0.9.1", "0.9.0", "good", "jax 0.9.0 → 0.9.1", "mixed"),
        ("0.9.1", "0.9.0", "bad", "jaxlib 0.9.0 → 0.9.1", "mixed"),
        ("0.9.0", "0.9.1", "good", "jaxlib 0.9.0 → 0.9.1", "mixed"),
        ("0.9.1", "0.9.0", "other", TOGETHER, ""),
        ("0.9.2", "0.9.0", "good", TOGETHER, ""),
    ],
)
@pytest.mark.parametrize("on", ["", "jax<0.9.1"])
def test_a_mixed_pair_tells_jax_from_its_jaxlib(
    jax: str, jaxlib: str, saw: str, words: str, evidence: str, on: str
) -> None:
    """If only jax and jaxlib moved, a run of one with the other's old release decides, also against a rule."""
    before, after = (
        Run(side, {"jax": release, "jaxlib": release}, saw_there)
        for side, release, saw_there in (
            ("before", "0.9.0", "bad"),
            ("after", "0.9.1", "good"),
        )
    )
    mixed = Run("mixed", {"jax": jax, "jaxlib": jaxlib}, saw)
    rules = (Rule("bad", on, "seen"), Rule("good", "", "seen")) if on else ()

    found = blame(before, after, rules, (before, after, mixed))

    assert found is not None
    ruled = bool(on) and not evidence
    assert ("jax 0.9.0 → 0.9.1" if ruled else words) == str(found)
    assert (("rule", "seen") if ruled else ("run", evidence)) == (found.grounds, found.evidence)


def test_versions_are_compared_as_versions() -> None:
    """0.4 and 0.4.0 are one version; a new package has no version before."""
    assert (Move("lineax", None, "0.0.3"),) == moves({"jax": "0.4"}, {"jax": "0.4.0", "lineax": "0.0.3"})
    assert "lineax none → 0.0.3" == told([Move("lineax", None, "0.0.3")])


@given(STACKS, SHOWN, STACKS, SHOWN, RULES, RUNS)
@FEW_EXAMPLES
def test_blame_falls_on_what_moved_alone(
    before: dict[str, str], was: str, after: dict[str, str], now: str, rules: list[Rule], runs: list[Run]
) -> None:
    """Named packages moved; a single one is that alone, or jax with jaxlib, in both directions."""
    one, other = Run("before", before, was), Run("after", after, now)
    forth, back = blame(one, other, rules, runs), blame(other, one, rules, runs)

    assert (forth is None) == (back is None) == (was == now)
    if forth is not None and back is not None:
        named = {each.package for each in forth.to}
        assert set(forth.to) <= set(forth.moved) == set(moves(before, after))
        assert forth.grounds == "together" or len(named) == 1 or named == set(LINKED)
        assert (forth.grounds, named) == (back.grounds, {each.package for each in back.to})
