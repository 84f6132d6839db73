"""The cells that follow from matrix.toml and releases.json, and metadata's verdict on a stack."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import Version

from jax_stack_compat.base import files
from jax_stack_compat.base.errors import BadFile, Misused
from jax_stack_compat.packages import AXES, HELD
from jax_stack_compat.stack import matrix as matrices
from jax_stack_compat.stack import plan, releases
from jax_stack_compat.stack.matrix import Matrix
from jax_stack_compat.stack.plan import Cell
from jax_stack_compat.stack.releases import PYTHONS, Release, Snapshot
from tests.worlds import refused

DAY = "2024-05-01T17:00:00Z"


def release(**changes: Any) -> dict[str, Any]:
    """A release with a wheel that any CPython can use."""
    made: dict[str, Any] = {"uploaded": DAY, "requires_python": ">=3.10", "requires_dist": [], "yanked": None}
    return {**made, "wheels": wheels(changes.get("uploaded", DAY)), **changes}


def wheels(newest: str = DAY, tag: str = "py3", platform: str = "any") -> dict[str, Any]:
    """Wheels for this interpreter, on any platform or on this one."""
    return {tag: {"newest": newest, "platforms": [platform]}}


def jax(version: str, **changes: Any) -> dict[str, Any]:
    """Return a release of jax that requires the jaxlib of the same version."""
    return release(**{"requires_dist": [f"jaxlib=={version}; extra == 'cpu'"], **changes})


def offering(**packages: dict[str, dict[str, Any]]) -> Snapshot:
    """Return a snapshot of an index that offers these packages."""
    every: dict[str, dict[str, dict[str, Any]]] = {**{name: {} for name in HELD}, **packages}
    return Snapshot.model_validate({"schema_version": 2, "taken_at": "2026-01-01T00:00:00Z", "packages": every})


def matrix(*line: str, arms: Iterable[dict[str, Any]] = ()) -> Matrix:
    """Return a matrix of these releases."""
    lists = {"line": {"releases": list(line)}, "arms": list(arms)}
    return Matrix.model_validate({"schema_version": 1, "python": "3.12", **lists})


LATER = "2024-06-01T10:00:00Z"
VERSIONS = ("0.4.9", "0.4.10", "0.5.0")
LIBRARIES = offering(
    jax={version: jax(version) for version in VERSIONS},
    jaxlib={version: release() for version in VERSIONS},
    equinox={
        "0.11.1": release(requires_dist=["jax>=0.4"]),
        "0.11.2": release(requires_dist=["jax>=0.4.10"], uploaded=LATER),
    },
    diffrax={"0.5.0": release(), "0.6.0": release(yanked="")},
)


def arm(along: str, *times: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return an arm in the syntax of matrix.toml."""
    return {"asks": "What if?", "times": list(times), "along": along, **more}


def on_arms(*arms: dict[str, Any], offered: Snapshot = LIBRARIES) -> list[Cell]:
    """Return the cells of these arms, with a line of one release."""
    line, *cells = plan.plan(matrix("jax==0.5.0", arms=arms), offered)
    assert "jax-0.5.0" == line.id
    return cells


def ids(cells: Iterable[Cell]) -> list[str]:
    """Return the ids of cells."""
    return [cell.id for cell in cells]


def unavailable(cell: Cell) -> str | None:
    """Return the reason code of an unavailable cell."""
    return cell.unavailable[0] if cell.unavailable else None


def test_the_line_has_every_release_in_the_order_of_days() -> None:
    """The tree's line has every release since its oldest one; version order differs from the order of days."""
    offered = releases.load()
    oldest = {"jax": "0.4.18", "equinox": "0.11.1", "diffrax": "0.5.0", "lineax": "0.0.4", "optimistix": "0.0.6"}
    wanted = {
        f"{name}-{each}"
        for name, first in oldest.items()
        for each in offered.versions(name, yanked=True)
        if Version(each) >= Version(first)
    }
    line = [cell for cell in plan.cells() if cell.kind == "line"]

    assert wanted == set(ids(line))
    assert line == sorted(line, key=lambda cell: cell.released_on)
    assert ids(line).index("jax-0.9.0") < ids(line).index("jax-0.8.3")


def test_every_cell_of_the_tree_can_be_had() -> None:
    """On the tree's line only yanked releases are unavailable; on arms, also stacks that metadata excludes."""
    line = {cell.id: unavailable(cell) for cell in plan.tagged("line") if cell.unavailable}
    arms = {unavailable(cell) for cell in plan.cells() if cell.kind == "arm"}

    assert {"jax-0.4.32": "plan.yanked"} == {name: why for name, why in line.items() if why != "plan.no-wheel-here"}
    assert arms <= {None, "plan.no-wheel", "plan.no-wheel-here", "plan.excludes"}


def test_newest_passes_over_what_was_yanked() -> None:
    """A yanked release is not the newest, of all or of a minor, and keeps its cell on the line."""
    jaxes = {each: jax(each) for each in ("0.4.9", "0.4.10", "0.5.0")} | {"0.5.1": jax("0.5.1", yanked="broken")}
    offered = offering(jax=jaxes, jaxlib={version: release() for version in jaxes})
    asked = arm("python==3.13", {"jax": "newest of each minor"})
    line = plan.plan(matrix("jax>=0.4.10"), offered)

    assert {"jax-0.4.10": False, "jax-0.5.0": True, "jax-0.5.1": False} == {
        cell.id: "default" in cell.tags for cell in line
    }
    assert ["jax-0.4.10+python-3.13", "jax-0.5.0+python-3.13"] == ids(on_arms(asked, offered=offered))


def test_each_jax_is_beside_the_jaxlib_one_release_behind() -> None:
    """`one behind` holds the previous jaxlib, in jaxlib's own order, if jax's metadata allows it."""
    ties = {"0.4.9": "jaxlib==0.4.9; extra == 'cpu'", "0.4.10": "jaxlib<=0.4.10,>=0.4.9", "0.5.0": "jaxlib>=0.5.0"}
    jaxes = {version: release(requires_dist=[line]) for version, line in ties.items()}
    offered = offering(jax=jaxes, jaxlib={each: release() for each in ("0.4.8", *ties)})
    asked = arm("jax", {"jaxlib": "one behind"}, excluded="try", run="jax")

    assert ["jax-0.4.9+jaxlib-0.4.8", "jax-0.4.10+jaxlib-0.4.9"] == ids(on_arms(asked, offered=offered))


def test_the_default_cells_are_those_chosen_and_the_newest() -> None:
    """The default cells are the line's newest release and the chosen ones, each once."""
    line = plan.plan(matrix("jax", "equinox"), LIBRARIES, ["0.4.9", "0.5.0", "0.3.0"])

    assert {"jax-0.4.9", "jax-0.5.0"} == {cell.id for cell in line if "default" in cell.tags}


def test_a_line_cell_is_what_an_installer_would_have_given() -> None:
    """A cell requires its jax, and leaves the rest to an installer at the end of its day."""
    (cell,) = plan.plan(matrix("jax==0.4.10"), LIBRARIES)

    assert cell == Cell(
        id="jax-0.4.10",
        kind="line",
        moves="jax",
        holds=(("jax", "0.4.10"),),
        python="3.12",
        released_on=datetime(2024, 5, 1).date(),
        requires=("jax[cpu]==0.4.10", "equinox", "diffrax", "absl-py", "flatbuffers"),
        as_of=datetime(2024, 5, 2, tzinfo=UTC),
        tags=("full", "line", "default"),
    )
    assert "jax-0.4.10.txt" == cell.lock_name


def test_a_jaxlib_uploaded_late_has_a_day_of_its_own() -> None:
    """A jaxlib whose wheels came days after jax has its own cutoff."""
    late = release(wheels=wheels("2024-05-04T09:00:00Z"))
    (cell,) = plan.plan(matrix("jax"), offering(jax={"0.4.9": jax("0.4.9")}, jaxlib={"0.4.9": late}))

    assert datetime(2024, 5, 2, tzinfo=UTC) == cell.as_of
    assert (("jaxlib", datetime(2024, 5, 5, tzinfo=UTC)),) == cell.as_of_package


def test_a_release_of_a_library_has_its_cell_between_those_of_jax() -> None:
    """A library's cell requires that library and the jax of its day; only cells of jax are default cells."""
    *_, before, cell = plan.plan(matrix("jax", "equinox>=0.11.2"), LIBRARIES)

    assert ("equinox-0.11.2", "equinox", ("full", "line")) == (cell.id, cell.moves, cell.tags)
    assert ("jax[cpu]", "equinox==0.11.2", "diffrax", "absl-py", "flatbuffers") == cell.requires
    assert datetime(2024, 6, 2, tzinfo=UTC) == cell.as_of
    assert ("full", "line", "default") == before.tags


def test_an_arm_is_a_product() -> None:
    """An arm has a cell for each stack of `times` with each release of `along`, as of its last held release."""
    cells = on_arms(arm("jax>=0.4.10", {"equinox": "0.11.1", "diffrax": "newest"}, {"equinox": "0.11.2"}))

    assert [
        "jax-0.4.10+equinox-0.11.1+diffrax-0.5.0",
        "jax-0.5.0+equinox-0.11.1+diffrax-0.5.0",
        "jax-0.4.10+equinox-0.11.2",
        "jax-0.5.0+equinox-0.11.2",
    ] == ids(cells)
    assert {(("full", "arm"), (("What if?", "jax"),), "libraries")} == {(c.tags, c.asks, c.runs) for c in cells}
    assert ("jax[cpu]==0.5.0", "equinox==0.11.2", "diffrax", "absl-py", "flatbuffers") == cells[-1].requires
    assert (datetime(2024, 6, 2, tzinfo=UTC), "2024-06-01") == (cells[-1].as_of, str(cells[-1].released_on))


def test_an_exception_takes_away_what_it_describes() -> None:
    """A cell is left out if it meets all requirements of one entry in `except`; arms have no yanked releases."""
    excepting = {"except": [["equinox==0.11.2", "jax<0.5"], ["jax==0.4.9"]]}
    asked = arm("jax", {"equinox": "0.11.1"}, {"equinox": "0.11.2"}, **excepting)

    wanted = ["jax-0.4.10+equinox-0.11.1", "jax-0.5.0+equinox-0.11.1", "jax-0.5.0+equinox-0.11.2"]
    assert wanted == ids(on_arms(asked))
    assert ["jax-0.5.0+diffrax-0.5.0"] == ids(on_arms(arm("diffrax", {"jax": "0.5.0"})))


@pytest.mark.parametrize(
    ("excluded", "reason", "verdict"), [("leave", "plan.excludes", "conflict"), ("try", None, "unavailable")]
)
def test_what_metadata_excludes_is_a_conflict_unless_it_is_to_be_tried(
    excluded: str, reason: str | None, verdict: str
) -> None:
    """A cell that metadata excludes has the sentence, and is run only if the arm says so."""
    (cell,) = on_arms(arm("jax==0.4.9", {"equinox": "0.11.2"}, excluded=excluded))

    assert "equinox 0.11.2 requires jax>=0.4.10, and 0.4.9 is here" == cell.excluded
    assert (reason, verdict) == (unavailable(cell), plan.verdict(cell))


def test_where_two_arms_cross_the_cell_is_what_either_asks() -> None:
    """A cell of two arms exists once, answers both questions, is run if one arm says so, and runs the most cases."""
    other = {**arm("equinox==0.11.2", {"jax": "0.4.9"}, excluded="try", run="all"), "asks": "And the other way?"}
    (cell,) = on_arms(arm("jax==0.4.9", {"equinox": "0.11.2"}, run="row-zero"), other)

    assert (None, "all") == (cell.unavailable, cell.runs)
    assert (("What if?", "jax"), ("And the other way?", "equinox")) == cell.asks


def test_an_arm_along_python_is_a_cell_for_each_interpreter() -> None:
    """A cell of the Python arm has the line cell's requirements, with another interpreter in its id."""
    asked = arm("python>=3.11,!=3.12,<3.14", {"jax": "0.5.0"}, run="all")
    line, *cells = plan.plan(matrix("jax==0.5.0", arms=[asked]), LIBRARIES)

    assert [("jax-0.5.0+python-3.11", "3.11"), ("jax-0.5.0+python-3.13", "3.13")] == [(c.id, c.python) for c in cells]
    assert {(line.requires, line.as_of, "python", "all")} == {(c.requires, c.as_of, c.moves, c.runs) for c in cells}


@pytest.mark.parametrize(
    ("python", "changes", "reason"),
    [
        ("3.11", {"requires_python": ">=3.12"}, "plan.excludes"),
        ("3.13", {"wheels": wheels(tag="cp312")}, "plan.no-wheel"),
        ("3.13", {"wheels": wheels(tag="cp313", platform="win_arm64")}, "plan.no-wheel-here"),
        ("3.13", {"wheels": wheels(tag="cp313")}, None),
    ],
)
def test_what_an_interpreter_cannot_have_stands_in_the_plan(
    python: str, changes: dict[str, Any], reason: str | None
) -> None:
    """A cell is unavailable if a held package excludes the interpreter or has no wheel for it."""
    numpy = {"2.0.0": release(**changes)}
    offered = offering(jax={"0.5.0": jax("0.5.0")}, jaxlib={"0.5.0": release()}, numpy=numpy)
    (cell,) = on_arms(arm(f"python=={python}", {"jax": "0.5.0", "numpy": "2.0.0"}), offered=offered)

    assert (f"jax-0.5.0+numpy-2.0.0+python-{python}", reason) == (cell.id, unavailable(cell))


def test_an_arm_as_of_the_snapshot_is_of_its_moment() -> None:
    """A cell with `today` is as of the snapshot, but keeps its release's day."""
    cells = on_arms(arm("jax==0.4.9", {}, {"equinox": "0.11.1"}, as_of="snapshot"))

    assert ["jax-0.4.9+today", "jax-0.4.9+equinox-0.11.1+today"] == ids(cells)
    assert {(LIBRARIES.taken_at, (), "2024-05-01")} == {(c.as_of, c.as_of_package, str(c.released_on)) for c in cells}


def test_a_jaxlib_that_is_held_is_asked_for_by_itself() -> None:
    """jax[cpu] requires the jaxlib of its own version, so a cell that holds another jaxlib requires plain jax."""
    (cell,) = on_arms(arm("jaxlib==0.4.10", {"jax": "0.5.0"}, excluded="try"))

    assert ("jax==0.5.0", "jaxlib==0.4.10", "equinox", "diffrax", "absl-py", "flatbuffers") == cell.requires
    assert cell.excluded is None


@pytest.mark.parametrize(
    ("wanted", "key", "message"),
    [
        (matrix("jax", "jax>=0.6"), "line.releases.1", "releases.json has no jax>=0.6"),
        (matrix("jax", "torch"), "line.releases.1", "'torch' is not one of jax, jaxlib, equinox, diffrax, lineax"),
        (matrix("jax", "python>=3.11"), "line.releases.1", "only packages of the stack have a line"),
        (matrix("jax", "jax<0.4.10"), "line.releases", "jax 0.4.9 is requested twice"),
        (
            matrix("jax", arms=[arm("jax", {"equinox": "0.11.3"})]),
            "arms.0.times.0.equinox",
            "releases.json has no equinox 0.11.3; the nearest are 0.11.2",
        ),
        (matrix("jax", arms=[arm("jax", {"jax": "0.5.0"})]), "arms.0.times.0", "jax is both held here and moved"),
        (matrix("jax", arms=[arm("torch", {"jax": "0.5.0"})]), "arms.0.along", "'torch' is not one of"),
        (matrix("jax", arms=[arm("jax", {"torch": "2"})]), "arms.0.times.0.torch", "'torch' is not one of"),
        (matrix("jax", arms=[arm("python", {"jax": "9"})]), "arms.0.times.0.jax", "releases.json has no jax 9"),
        (matrix("jax", arms=[arm("python", {})]), "arms.0.times.0", "no package is held here, and none moves"),
        (matrix("jax", arms=[arm("jax<0.4.10", {})]), "arms", "jax-0.4.9 is on the line: hold another package, too"),
    ],
)
def test_a_bad_matrix_is_a_fault(wanted: Matrix, key: str, message: str) -> None:
    """A fault in the matrix is reported with its key; an unknown version, with the nearest one."""
    (fault,) = refused(plan.plan, wanted, LIBRARIES)

    assert (matrices.PATH, key) == (fault.path, fault.key)
    assert fault.message.startswith(message)


def test_all_faults_of_a_matrix_are_said_at_once() -> None:
    """All faults of a matrix are reported."""
    wanted = matrix("jax", "numpy", arms=[arm("jax>9", {"diffrax": "7"})])

    keys = ["line.releases.1", "arms.0.along", "arms.0.times.0.diffrax"]
    assert keys == [fault.key for fault in refused(plan.plan, wanted, LIBRARIES)]
    assert ["line.releases.0"] == [fault.key for fault in refused(plan.plan, matrix("jax"), offering())]


@pytest.mark.parametrize(
    ("release_of_jax", "jaxlibs", "reason"),
    [
        (jax("0.4.9", yanked=""), {"0.4.9": release()}, "plan.yanked"),
        (jax("0.4.9", requires_python=">=3.9,<3.12"), {"0.4.9": release()}, "plan.excludes"),
        (jax("0.4.9"), {"0.4.10": release()}, "plan.no-release"),
        (jax("0.4.9"), {"0.4.9": release(yanked="broken")}, "plan.no-release"),
        (jax("0.4.9"), {"0.4.9": release(wheels=wheels(tag="cp311"))}, "plan.no-wheel"),
        (jax("0.4.9", requires_python=""), {"0.4.9": release()}, None),
        (jax("0.4.9", requires_dist=["jaxlib>=0.4.8,<=0.4.9"]), {"0.4.8": release()}, None),
        # Requirements of other extras do not count.
        (jax("0.4.9", requires_dist=["jaxlib==0.4.1+cuda; extra == 'cuda'"]), {"0.4.9": release()}, None),
    ],
)
def test_a_cell_that_cannot_be_had_says_why(
    release_of_jax: dict[str, Any], jaxlibs: dict[str, dict[str, Any]], reason: str | None
) -> None:
    """A release that is yanked, excludes the interpreter or has no jaxlib keeps its cell, with a reason code."""
    there = {"0.4.9": release_of_jax, "0.4.10": jax("0.4.10", requires_dist=[])}
    cell = plan.plan(matrix("jax"), offering(jax=there, jaxlib=jaxlibs))[0]

    assert reason == unavailable(cell)
    assert cell.unavailable is None or "0.4.9" in cell.unavailable[1]


def test_a_stack_that_nobody_planned_is_a_cell_too() -> None:
    """`jax-0.4.36+diffrax-0.6.0` is the cell that holds these two, without tags; a planned one is found as it is."""
    cell = plan.stack("diffrax-0.6.0+jax-0.4.36")

    assert ("jax-0.4.36+diffrax-0.6.0", (), (), "arm") == (cell.id, cell.tags, cell.asks, cell.kind)
    assert ("jax[cpu]==0.4.36", "equinox", "diffrax==0.6.0") == cell.requires[:3]
    assert plan.cell("jax-0.4.36") is plan.stack("jax-0.4.36")


@pytest.mark.parametrize(
    ("mistaken", "told"),
    [
        *((each, "") for each in ("jax-0.4.36+torch-2.0", "jax-0.4.36+", "python-3.13+today", "nonsense", "")),
        *((f"jax-0.4.36+{each}", "") for each in ("today+numpy-1.26.4", "alone+today")),
        ("jax-0.4.36+python-3.9", r"no python 3\.9; "),
        ("jax-0.4.36+diffrax-0.6.9", r"no diffrax 0\.6\.9; "),
    ],
)
def test_a_stack_that_is_none_is_told(mistaken: str, told: str) -> None:
    """An id that names no releases of the stack, or no interpreter for it, is an error with the nearest."""
    with pytest.raises(Misused, match=f"{told}the nearest are"):
        plan.stack(mistaken)


OFFERED = releases.load()


@given(st.data())
@settings(deadline=None, max_examples=12)
def test_a_stack_is_found_again_by_its_id(data: st.DataObject) -> None:
    """An id means one stack, whatever its packages, releases, interpreter and cutoff."""
    axes = data.draw(st.permutations(AXES))[: data.draw(st.integers(2, len(AXES)))]
    holds = {axis: data.draw(st.sampled_from(OFFERED.versions(axis))) for axis in axes}
    today, beside = data.draw(st.booleans()), data.draw(st.booleans())
    cell = plan.holding(holds, today=today, beside=beside)
    python = holds.pop("python", "3.12")

    held = {name: holds[name] for name in HELD if name in holds}
    assert [*held.items()] == [each for each in cell.holds if each[0] != "python"]
    assert (python, python, today) == (cell.python, dict(cell.holds).get("python", "3.12"), cell.today)
    assert len(cell.holds) == 1 or cell == plan.stack(cell.id)
    assert beside == ("absl-py" in cell.requires)
    asked = {wanted.name: str(wanted.specifier) for wanted in map(Requirement, cell.requires)}
    assert {name: f"=={version}" for name, version in holds.items()}.items() <= asked.items()


@pytest.mark.parametrize(
    ("identifier", "runs"),
    [
        ("jax-0.4.31+lineax-0.0.5", "libraries"),
        ("jax-0.4.31+numpy-1.26.4", "all"),
        ("jax-0.4.31+python-3.11", "all"),
        ("jax-0.4.31", "all"),
        ("jax-0.4.31+alone", "all"),
        ("jax-0.4.30+alone", "beside"),
    ],
)
def test_what_jax_does_by_itself_is_run_where_no_other_cell_shows_it(identifier: str, runs: str) -> None:
    """A user's stack runs every case if its interpreter or NumPy differs from the line's cell of that jax."""
    assert runs == plan.stack(identifier).runs


PINS = {"jax": "0.4.30", "jaxlib": "0.4.30", "equinox": "0.11.4", "diffrax": "0.5.1", "ml-dtypes": "0.4.0"}


@pytest.mark.parametrize(
    ("requires", "because"),
    [
        ({}, None),
        ({"diffrax": ["jax>=0.5"]}, "diffrax 0.5.1 requires jax>=0.5, and 0.4.30 is here"),
        ({"diffrax": ["jax>=0.4"], "equinox": ["jax<0.4"]}, "equinox 0.11.4 requires jax<0.4, and 0.4.30 is here"),
        ({"diffrax": ["not-in-the-cell>=5"]}, None),
        ({"jax": ["jaxlib==0.4.29; extra == 'cpu'"]}, "jax 0.4.30 requires jaxlib==0.4.29, and 0.4.30 is here"),
        ({"jax": ["jaxlib==0.4.29; extra == 'minimum-jaxlib'"]}, None),
        ({"jax": ["jaxlib>=0.4.30.dev1"]}, None),
        ({"jax": ["ml_dtypes>=0.5"]}, "jax 0.4.30 requires ml_dtypes>=0.5, and 0.4.0 is here"),
        # A marker is evaluated for the cells' CPython 3.12, not for the interpreter that the driver runs on.
        ({"jax": ["ml-dtypes>=0.5; python_version < '3.12'"]}, None),
        ({"jax": ["ml-dtypes>=0.5; python_version > '3.1'"]}, "jax 0.4.30 requires ml-dtypes>=0.5, and 0.4.0 is here"),
    ],
)
def test_metadata_excludes(requires: Mapping[str, Sequence[str]], because: str | None) -> None:
    """A stack is excluded by an applicable requirement that it does not meet, however the name is spelt."""
    offered = offering(**{name: {PINS[name]: release(requires_dist=texts)} for name, texts in requires.items()})

    assert because == releases.exclusion(PINS, offered.packages, "3.12")


@given(
    days=st.dictionaries(st.sampled_from(["py3", *map(releases.tag_of, PYTHONS)]), st.integers(0, 99)),
    python=st.sampled_from(PYTHONS),
)
def test_the_newest_wheel_is_of_the_interpreter_that_is_asked_about(days: Mapping[str, int], python: str) -> None:
    """A release's newest wheel for an interpreter is its own or one for any interpreter, never another's."""
    since = datetime(2024, 6, 18, tzinfo=UTC)
    there = {tag: {"newest": since + timedelta(day), "platforms": ["any"]} for tag, day in days.items()}
    built = Release.model_validate(release(wheels=there))
    mine = [day for tag, day in days.items() if tag in ("py3", releases.tag_of(python))]

    assert (since + timedelta(max(mine)) if mine else None) == built.newest_wheel(python)
    assert bool(mine) == built.installs_here(python)


def test_the_snapshot_has_what_the_table_names() -> None:
    """releases.json has the table's packages, no release before `oldest`, and no address, so any index can be used."""
    known = releases.load()
    oldest = {name: min(map(Version, known.packages[name])) for name in known.packages}

    assert [*HELD] == [*known.packages]
    assert [] == [name for name, version in oldest.items() if version < Version(HELD[name].oldest)]
    assert "://" not in releases.PATH.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("version", "odd", "key", "told"),
    [
        ("banana", {}, "banana.[key]", "'banana' is not a version"),
        ("1.0/../..", {}, "1.0/../...[key]", "'1.0/../..' is not a version"),
        ("1" * 5000, {}, "", "is not a version"),
        ("1.0", {"requires_dist": ["!!!"]}, "1.0.requires_dist.0", "'!!!' is not a requirement: Expected"),
        ("1.0", {"requires_dist": ["jax; os_name ~= '!'"]}, "1.0.requires_dist.0", "is not a requirement: Undefined"),
        ("1.0", {"requires_python": "banana"}, "1.0.requires_python", "'banana' is not a specifier"),
        ("1.0", {"wheels": {"x.whl": {"newest": DAY, "platforms": []}}}, "1.0.wheels.x.whl", "pattern"),
        ("1.0", {"uploaded": "2024-06-18T00:00:00"}, "1.0.uploaded", "timezone"),
        ("1.0", {"uploaded": "9999-12-31T23:59:59Z"}, "1.0.uploaded", "9999-12-31 is not between 2000 and 2200"),
    ],
)
def test_what_no_release_can_be_is_told(version: str, odd: dict[str, Any], key: str, told: str) -> None:
    """An invalid release in the snapshot is reported with its key."""
    said = {"schema_version": 2, "taken_at": DAY, "packages": {"jax": {version: {**release(), **odd}}}}

    (fault,) = refused(files.parse, Snapshot, json.dumps(said), releases.PATH)
    assert fault.key.startswith(f"packages.jax.{key}")
    assert told in fault.message


def test_a_package_that_the_snapshot_lacks_is_told() -> None:
    """If the snapshot lacks a package of the stack, nothing is planned, but the next snapshot can be made from it."""
    known = releases.load()
    less = known.model_copy(update={"packages": {name: known.packages[name] for name in HELD if name != "jaxlib"}})

    with pytest.raises(BadFile, match=r"releases\.json: packages\.jaxlib: is missing: `nox -s snapshot`"):
        plan.plan(files.read(Matrix, matrices.PATH), less)
    assert less == files.parse(Snapshot, less.model_dump_json(), releases.PATH)


def test_versions_stand_in_order_and_less_what_was_yanked() -> None:
    """Versions of packages and Python are in version order; yanked ones appear only on demand."""
    known = releases.load()
    yanked = {version for version, release in known.packages["jax"].items() if release.yanked is not None}

    for axis in AXES:
        assert sorted(known.versions(axis), key=Version) == [*known.versions(axis)], axis
    assert yanked == {*known.versions("jax", yanked=True)} - {*known.versions("jax")}
    assert "0.4.32" in yanked
