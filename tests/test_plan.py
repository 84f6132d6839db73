"""The cells that matrix.toml and releases.json make."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from packaging.version import Version

from suite import catalogue, files, judge, lock, plan, releases
from suite.files import BadFile, Misused
from suite.plan import Cell, Matrix
from suite.releases import Snapshot

DAY = "2024-05-01T17:00:00Z"


def release(name: str, version: str, **changes: Any) -> dict[str, Any]:
    """A release with a wheel that any CPython 3.12 can use."""
    wheels = {f"{name}-{version}-py3-none-any.whl": changes.get("uploaded", DAY)}
    made: dict[str, Any] = {
        "uploaded": DAY,
        "requires_python": ">=3.10",
        "requires_dist": [],
        "yanked": None,
        "wheels": wheels,
    }
    return made | changes


def jax(version: str, **changes: Any) -> dict[str, Any]:
    """A release of jax that wants the jaxlib of the same version."""
    return release("jax", version, **{"requires_dist": [f"jaxlib=={version}; extra == 'cpu'"], **changes})


def snapshot(jaxes: dict[str, dict[str, Any]], jaxlibs: dict[str, dict[str, Any]] | None = None) -> Snapshot:
    """What an index offers; of jaxlib, where nothing is said, the same versions as of jax."""
    if jaxlibs is None:
        jaxlibs = {version: release("jaxlib", version) for version in jaxes}
    packages = {"jax": jaxes, "jaxlib": jaxlibs, "equinox": {}, "diffrax": {}}
    return Snapshot.model_validate({"schema_version": 1, "taken_at": "2026-01-01T00:00:00Z", "packages": packages})


def matrix(line: Iterable[str], default: Iterable[str] | None = None) -> Matrix:
    """A matrix of these jax releases; by default all of them are default cells."""
    line = list(line)
    return Matrix.model_validate(
        {
            "schema_version": 1,
            "python": "3.12",
            "line": {"jax": line, "beside": ["absl-py"], "default": line if default is None else list(default)},
        }
    )


THREE = snapshot({version: jax(version) for version in ("0.4.9", "0.4.10", "0.5.0")})


def faults(wanted: Matrix, offered: Snapshot = THREE) -> list[tuple[str, str]]:
    """The faults that planning finds, as key and message."""
    with pytest.raises(BadFile) as caught:
        plan.plan(wanted, offered)
    assert {plan.PATH} == {fault.path for fault in caught.value.faults}
    return [(fault.key, fault.message) for fault in caught.value.faults]


def unavailable(cell: Cell) -> str | None:
    """The reason code under which a cell is unavailable."""
    return cell.unavailable[0] if cell.unavailable else None


def test_every_release_in_the_matrix_has_its_cell() -> None:
    """The tree's own plan has one line cell for each jax release that matrix.toml names, 21 and more of them."""
    named = tomllib.loads(plan.PATH.read_text(encoding="utf-8"))["line"]["jax"]
    line = {cell.id for cell in plan.cells() if cell.kind == "line" and cell.id.startswith("jax-")}

    assert len(named) >= 21
    assert len(named) == len(line)
    assert {f"jax-{version}" for version in named if version != "newest"} <= line
    assert "jax-0.4.20" in line


def test_every_cell_of_the_tree_can_be_had() -> None:
    """No cell of the tree's own plan is unavailable, unless for want of a wheel on the machine that tests it."""
    assert {unavailable(cell) for cell in plan.cells()} <= {None, "plan.no-wheel"}


def test_the_line_stands_in_version_order() -> None:
    """The cells stand in the version order of jax, which is not the order of their names."""
    versions = [Version(lock.load(cell).pins["jax"]) for cell in plan.cells() if cell.kind == "line"]

    assert sorted(versions) == versions


def test_newest_is_the_newest_release_of_the_snapshot() -> None:
    """`newest` is the newest jax in releases.json that was not yanked, and a default cell."""
    known = releases.load().packages["jax"]
    newest = max((version for version, release in known.items() if release.yanked is None), key=Version)

    assert f"jax-{newest}" == plan.cells()[-1].id
    assert plan.cells()[-1] in plan.tagged("default")


def test_newest_passes_over_what_was_yanked() -> None:
    """A yanked release is not the newest."""
    offered = snapshot({"0.4.9": jax("0.4.9"), "0.4.10": jax("0.4.10"), "0.5.0": jax("0.5.0", yanked="broken")})

    assert ["jax-0.4.10"] == [cell.id for cell in plan.plan(matrix(["newest"]), offered)]


def expected_behaviours(cells: Iterable[Cell]) -> set[tuple[str, str, str]]:
    """Issue, case and behaviour, for all that is expected somewhere on these cells."""
    return {
        (entry.issue.id, case.id, expectation.behaviour)
        for cell in cells
        for entry in catalogue.entries()
        for case in entry.issue.cases
        if (expectation := judge.expected(case, lock.load(cell).pins)) is not None
    }


def test_the_default_cells_show_every_behaviour_of_the_line() -> None:
    """Each behaviour that an issue is known to show on the line, it is known to show on a default cell.

    Row zero apart: what broke a stack for the days of one release is for the whole line to show.
    """
    missed = expected_behaviours(plan.tagged("line")) - expected_behaviours(plan.tagged("default"))
    assert [] == [each for each in sorted(missed) if each[0] != "stack-smoke"]


def test_the_default_cells_are_few() -> None:
    """What `nox -s compat` runs is at most half of the line."""
    assert len(plan.tagged("default")) <= len(plan.tagged("line")) / 2


def test_a_line_cell_is_what_an_installer_would_have_given() -> None:
    """A cell asks for its jax, with the rest unpinned, of what there was at the end of its day."""
    (cell,) = plan.plan(matrix(["0.4.10"]), THREE)

    assert cell == Cell(
        id="jax-0.4.10",
        kind="line",
        python="3.12",
        released_on=datetime(2024, 5, 1).date(),
        requires=("jax[cpu]==0.4.10", "equinox", "diffrax", "absl-py"),
        as_of=datetime(2024, 5, 2, tzinfo=UTC),
        as_of_package=(),
        tags=("full", "line", "default"),
        unavailable=None,
    )
    assert "jax-0.4.10.txt" == cell.lock_name


def test_a_jaxlib_uploaded_late_has_a_day_of_its_own() -> None:
    """Where jaxlib's wheels came days after jax, jaxlib alone is taken as of then."""
    late = release("jaxlib", "0.4.9", wheels={"jaxlib-0.4.9-py3-none-any.whl": "2024-05-04T09:00:00Z"})
    (cell,) = plan.plan(matrix(["0.4.9"]), snapshot({"0.4.9": jax("0.4.9")}, {"0.4.9": late}))

    assert datetime(2024, 5, 2, tzinfo=UTC) == cell.as_of
    assert (("jaxlib", datetime(2024, 5, 5, tzinfo=UTC)),) == cell.as_of_package


def test_a_cell_has_the_tags_it_is_named_under() -> None:
    """A cell that is not in line.default has no default tag."""
    tags = {cell.id: cell.tags for cell in plan.plan(matrix(["0.4.10", "0.4.9"], ["0.4.9"]), THREE)}

    assert {"jax-0.4.9": ("full", "line", "default"), "jax-0.4.10": ("full", "line")} == tags


@pytest.mark.parametrize(
    ("wanted", "key", "message"),
    [
        (
            matrix(["0.4.9", "0.4.11"], ["0.4.9"]),
            "line.jax.1",
            "releases.json has no jax 0.4.11; the nearest are 0.4.10",
        ),
        (matrix(["0.4.9", "latest"], ["0.4.9"]), "line.jax.1", "'latest' is not a version"),
        (matrix(["0.4.9", "0.4.9"], ["0.4.9"]), "line.jax", "0.4.9 stands there twice"),
        (matrix(["0.5.0", "newest"], ["0.5.0"]), "line.jax", "0.5.0 stands there twice"),
        (matrix(["0.4.9"], ["0.4.9", "0.4.10"]), "line.default.1", "0.4.10 is not in line.jax"),
        (matrix(["0.4.9"], ["newest"]), "line.default.0", "0.5.0 is not in line.jax"),
        (matrix(["0.4.9"], ["0.4.9", "0.4.9"]), "line.default", "0.4.9 stands there twice"),
    ],
)
def test_a_bad_matrix_is_a_fault(wanted: Matrix, key: str, message: str) -> None:
    """What is wrong in the matrix is said with the key, and for a version that is none with the nearest."""
    ((found_key, found_message),) = faults(wanted)

    assert key == found_key
    assert found_message.startswith(message)


def test_all_faults_of_a_matrix_are_said_at_once() -> None:
    """A matrix with several faults is told all of them."""
    found = faults(matrix(["0.4.9", "0.4.9", "0.4.11", "soon"], ["0.5.0", "0.4.9", "0.6"]))

    keys = ["line.jax.2", "line.jax.3", "line.jax", "line.default.0", "line.default.2"]
    assert keys == [key for key, _ in found]


def test_a_matrix_that_is_none_is_told_every_fault() -> None:
    """Unknown keys, wrong types and what is missing are faults, all said at once with their keys."""
    text = """
schema_version = 2
python = 3.12
arms = []
[line]
jax = "0.4.30"
beside = [7]
default = []
defaults = ["0.4.30"]
"""

    with pytest.raises(BadFile) as caught:
        files.parse(Matrix, text, plan.PATH)

    keys = ["arms", "line.beside.0", "line.default", "line.defaults", "line.jax", "python", "schema_version"]
    assert keys == sorted(fault.key for fault in caught.value.faults)


def test_newest_of_nothing_is_a_fault() -> None:
    """Where the snapshot has no jax, `newest` is a fault and not a cell."""
    ((key, _),) = faults(matrix(["newest"], ["newest"]), snapshot({}))[:1]

    assert "line.jax.0" == key


@pytest.mark.parametrize(
    ("release_of_jax", "jaxlibs", "reason"),
    [
        (jax("0.4.9", yanked="it was broken"), None, "plan.yanked"),
        (jax("0.4.9", yanked=""), None, "plan.yanked"),
        (jax("0.4.9", requires_python=">=3.13"), None, "plan.excludes"),
        (jax("0.4.9", requires_python=">=3.9,<3.12"), None, "plan.excludes"),
        (jax("0.4.9"), {}, "plan.no-release"),
        (jax("0.4.9"), {"0.4.10": release("jaxlib", "0.4.10")}, "plan.no-release"),
        (jax("0.4.9"), {"0.4.9": release("jaxlib", "0.4.9", yanked="broken")}, "plan.no-release"),
        (
            jax("0.4.9"),
            {"0.4.9": release("jaxlib", "0.4.9", wheels={"jaxlib-0.4.9-cp311-cp311-any.whl": DAY})},
            "plan.no-wheel",
        ),
        (jax("0.4.9", requires_python=">=3.9"), None, None),
        (jax("0.4.9", requires_python=""), None, None),
        (jax("0.4.9", requires_dist=["jaxlib>=0.4.8,<=0.4.9"]), {"0.4.8": release("jaxlib", "0.4.8")}, None),
    ],
)
def test_a_cell_that_cannot_be_had_says_why(
    release_of_jax: dict[str, Any], jaxlibs: dict[str, dict[str, Any]] | None, reason: str | None
) -> None:
    """A release that is yanked, excludes the interpreter or has no jaxlib keeps its cell, with a reason code."""
    (cell,) = plan.plan(matrix(["0.4.9"]), snapshot({"0.4.9": release_of_jax}, jaxlibs))

    assert reason == unavailable(cell)
    assert cell.unavailable is None or "0.4.9" in cell.unavailable[1]


def test_the_requirements_of_other_extras_do_not_count() -> None:
    """A jaxlib that only another extra of jax asks for does not make a cell unavailable."""
    wants = ["jaxlib==0.4.9; extra == 'cpu'", "jaxlib==0.4.1+cuda; extra == 'cuda'", "jaxlib==0.4.0; extra == 'ci'"]

    (cell,) = plan.plan(matrix(["0.4.9"]), snapshot({"0.4.9": jax("0.4.9", requires_dist=wants)}))

    assert cell.unavailable is None


@pytest.mark.parametrize(
    ("version", "mistaken"), [("jax-0.8.2", "jax-0.8"), ("jax-0.10.0", "jax-0.10"), ("jax-0.4.30", "0.4.30")]
)
def test_a_mistaken_cell_is_told_the_nearest(version: str, mistaken: str) -> None:
    """A cell id that is none is an error that names it and the ids nearest to it."""
    with pytest.raises(Misused, match=f"no cell '{mistaken}'; the nearest are .*{version}"):
        plan.cell(mistaken)


def test_a_cell_is_found_by_its_id() -> None:
    """Every planned cell is found by its id, and the ids are all different."""
    cells = plan.cells()

    assert [plan.cell(each.id) for each in cells] == list(cells)
    assert len({each.id for each in cells}) == len(cells)


def test_the_nearest_of_nothing() -> None:
    """Where there are no names, that is said."""
    assert "there are none" == plan.nearest("jax", [])
