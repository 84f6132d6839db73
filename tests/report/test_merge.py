"""Shards of a run: the contents of each, and their merge into one report, or its refusal."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jax_stack_compat.base.errors import BadFile, Exit
from jax_stack_compat.stack import lock, plan, releases
from laboratory.cli import command_line as command
from laboratory.cli import commands
from laboratory.records import records
from laboratory.records.records import Status
from laboratory.report import merge as merging
from laboratory.report import published, summary
from laboratory.report.derive import derive
from laboratory.report.folder import compat_json as stored
from laboratory.report.folder.write import write
from laboratory.report.merge import faults, join, merge
from laboratory.report.model import Platform, Report
from laboratory.run.spread.shard import parse
from tests.report.on_disk import saved, there
from tests.worlds import as_known, some

pytestmark = pytest.mark.usefixtures("pageless")
OFFERED = releases.load().packages
LINE = lock.jax_line()
# Some cells of the line and of arms, one of them unavailable.
CELLS = [
    cell
    for tag, step in (("line", 11), ("arm", 23))
    for number, cell in enumerate(plan.tagged(tag))
    if cell.unavailable or number % step == 0
]
AT = datetime(2026, 11, 21, 10, tzinfo=UTC)
HERE = Platform(system="Linux", machine="x86_64", cpu="some cpu", device="cpu")


def changed(of: Report, **changes: Any) -> Report:
    """Return a report with changed fields at its top."""
    return of.model_copy(update=changes)


@cache
def whole() -> Report:
    """A run on one machine in which everything is as expected, except two undecided cells."""
    made = as_known(CELLS)
    odd = {CELLS[1].id: "error", CELLS[2].id: "flaky"}
    nothing = {"behaviour": None, "agreement": "undecided", "reason": "run.nothing", "workaround": "none"}
    seen = [
        each.model_copy(update={**nothing, "verdict": odd[each.cell]}) if each.cell in odd else each
        for each in made.observations
    ]
    return derive(changed(made, observations=seen, platform=HERE, generated_at=AT), OFFERED, LINE)


def part(of: Report, cells: Sequence[str], **changes: Any) -> Report:
    """Return the report of a shard that ran these cells."""
    rows = [cell for cell in of.cells if cell.id in cells]
    seen = [each for each in of.observations if each.cell in cells]
    # The merge computes these again, from the whole.
    uncomputed: dict[str, Any] = {"turns": [], "intervals": [], "by_rule": []}
    bare = [
        issue.model_copy(update={"cases": [case.model_copy(update=uncomputed) for case in issue.cases]})
        for issue in of.issues
    ]
    return changed(
        of, cells=rows, observations=seen, issues=bare, stacks=[], jax_line=[], **{"shard": "1/9", **changes}
    )


def split(of: Report, parts: int) -> list[Report]:
    """Return a run in so many shards, in any order."""
    ids = [cell.id for cell in of.cells]
    return [part(of, ids[number::parts], shard=f"{number + 1}/{parts}") for number in reversed(range(parts))]


def named(shards: Sequence[Report]) -> dict[Path, Report]:
    """Return shards with names of files."""
    return {Path(f"shard-{number}", "compat.json"): shard for number, shard in enumerate(shards, 1)}


def reasons(*shards: Report) -> list[str]:
    """Return the reasons why these are not parts of one run."""
    return [str(fault) for fault in faults(named(shards))]


@settings(deadline=None, max_examples=6)
@given(data=st.data())
def test_shards_make_the_whole(data: st.DataObject) -> None:
    """A run split in any way, even with repeated cells and in any order, merges into the whole report."""
    ids = [cell.id for cell in whole().cells]
    homes = data.draw(st.lists(st.integers(0, 4), min_size=len(ids), max_size=len(ids)))
    twice = data.draw(st.sets(st.sampled_from(ids), max_size=3))
    numbers = data.draw(st.permutations(sorted(set(homes))))
    shards = named(
        [
            part(whole(), [each for each, home in zip(ids, homes, strict=True) if home == n or each in twice])
            for n in numbers
        ]
    )

    assert [] == faults(shards)
    assert whole() == join(shards, OFFERED, LINE)


NOWHERE = Platform(system="", machine="", cpu="", device="")


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ({}, {"generated_at": AT - timedelta(hours=2)}),
        ({}, {"platform": HERE.model_copy(update={"cpu": "other"})}),
        ({"platform": NOWHERE}, {}),
    ],
    ids=["the latest dates the whole", "processors may differ", "where no cell ran there was no machine"],
)
def test_shards_may_differ_in_when_and_where(first: dict[str, Any], others: dict[str, Any]) -> None:
    """A joined report has the date of the latest shard, and the machine of the first cell that ran on one."""
    head, *rest = reversed(split(whole(), 3))
    shards = [*(changed(each, **others) for each in rest), changed(head, **first)]

    assert [] == reasons(*shards)
    joined = join(named(shards), OFFERED)
    assert (AT, HERE) == (joined.generated_at, joined.platform)


def test_what_no_shard_has_did_not_run(tmp_path: Path) -> None:
    """If one of ten shards is missing, its cells are not run, and decide the exit code."""
    *brought, lost = split(whole(), 10)

    made = merge(saved(brought, tmp_path))

    missing = [each for each in made.observations if each.verdict == "not-run"]
    assert [cell.id for cell in whole().cells] == [cell.id for cell in made.cells]
    assert {(each.cell, each.issue, each.case) for each in lost.observations} == {
        (each.cell, each.issue, each.case) for each in missing
    }
    assert {("run.not-tried", "undecided", "none of the merged shards has this cell")} == {
        (each.reason, each.agreement, each.detail) for each in missing
    }
    assert (len(whole().observations), len(missing)) == (made.coverage.planned, made.coverage.not_run)
    assert f" {len(missing)} not run," in summary.last_line(made)
    assert Exit.INCOMPLETE == summary.exit_code(made)


def test_a_late_shard_completes_the_whole(tmp_path: Path) -> None:
    """A merge without one shard can be merged with that shard: cells that were not run contradict nothing."""
    *brought, late = split(whole(), 4)
    partial = merge(saved(brought, tmp_path / "early"))

    assert whole() == merge(saved([partial, late], tmp_path / "late"))


def test_what_is_missing_does_not_come_from_other_files(tmp_path: Path) -> None:
    """A merge that lacks cells is refused if this tree's issues are not those that were run."""
    issues = [issue.model_copy(update={"source_sha256": "0" * 64}) for issue in whole().issues]
    *brought, _ = split(changed(whole(), issues=issues), 4)

    with pytest.raises(BadFile) as caught:
        merge(saved(brought, tmp_path))

    told = [str(fault) for fault in caught.value.faults]
    assert "are in no shard, and this is not the tree that was run" in told[0]
    assert [f"suite: issues.{issue.id}.source_sha256" for issue in issues] == [
        ": ".join(each.split(": ")[:2]) for each in told[1:]
    ]


def test_what_is_missing_must_be_planned(tmp_path: Path) -> None:
    """A planned cell that neither a shard nor this tree has is named."""
    planned = [*whole().planned_cells, "jax-9.9.9"]

    with pytest.raises(BadFile, match=r"suite: cells: jax-9\.9\.9 is not planned"):
        merge(saved([changed(whole(), planned_cells=planned)], tmp_path))


# Shards that contradict each other

# Values that are known before a report is made, so that importing this module makes none.
LAST = some()[-1].issue
CASE = LAST.cases[0]
CELL = CELLS[0]
FIRST = some()[0].issue
SEEN = f"{CELL.id}/{FIRST.id}/{FIRST.cases[0].id}"


OF_ISSUE = ("issues", LAST.id)
OF_CASE = (*OF_ISSUE, "cases", CASE.id)
OF_CELL = ("cells", CELL.id)
OF_SEEN = ("observations", SEEN)


def otherwise(*key: str, value: Any) -> Report:
    """Return the whole run, with this value at the fault's `key`."""
    data = whole().model_dump(by_alias=True)
    *places, name = key
    at: Any = data
    for place in places:
        at = at[place] if isinstance(at, dict) else next(each for each in at if place == _id(each))
    at[name] = value
    return Report.model_validate(data)


def _id(row: dict[str, str]) -> str:
    return row["id"] if "id" in row else f"{row['cell']}/{row['issue']}/{row['case']}"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (("suite_version",), "9.9.9"),
        (("probe_sha256",), "0" * 64),
        (("planned_cells",), [*(cell.id for cell in CELLS), "jax-9.9.9"]),
        (("platform", "machine"), "arm64"),
        ((*OF_ISSUE, "source_sha256"), "0" * 64),
        ((*OF_CASE, "rules"), []),
        ((*OF_CELL, "lock_sha256"), "0" * 64),
        ((*OF_CELL, "packages"), {"numpy": "0.1"}),
        ((*OF_SEEN, "verdict"), "hung"),
        ((*OF_SEEN, "workaround"), "fails"),
    ],
)
def test_a_contradiction_is_told_by_file_and_key(key: tuple[str, ...], value: Any) -> None:
    """A shard that contradicts another in its conditions or observations is refused with its file and key."""
    (told,) = reasons(whole(), otherwise(*key, value=value))

    assert told.startswith(f"shard-2/compat.json: {'.'.join(key)}: ")
    assert "shard-1/compat.json" in told


def test_all_contradictions_are_told_at_once(tmp_path: Path) -> None:
    """The faults of all shards are reported together, even unreadable files."""
    cells = otherwise(*OF_CELL, "lock_sha256", value="0" * 64).cells
    wrong = changed(otherwise(*OF_SEEN, "behaviour", value="other"), cells=cells, suite_version="9.9.9")
    folders = saved([whole(), wrong], tmp_path)
    older = tmp_path / "older.json"
    older.write_text((folders[0] / "compat.json").read_text().replace('"schema_version": 4', '"schema_version": 2'))

    with pytest.raises(BadFile) as caught:
        merge([*folders, older, tmp_path / "none.json"])

    assert [
        ("older.json", "schema_version"),
        ("none.json", "file"),
        ("compat.json", "suite_version"),
        ("compat.json", f"cells.{CELL.id}.lock_sha256"),
        ("compat.json", f"observations.{SEEN}.behaviour"),
    ] == [(fault.path.name, fault.key) for fault in caught.value.faults]


def test_the_issues_must_be_the_same() -> None:
    """An issue that only one of the shards ran is named."""
    seen = [each for each in whole().observations if each.issue != LAST.id]
    less = changed(whole(), issues=whole().issues[:-1], observations=seen)

    for word, shards in (("lacks", (whole(), less)), ("has", (less, whole()))):
        assert [f"shard-2/compat.json: issues: {word} {LAST.id}, unlike shard-1/compat.json"] == reasons(*shards)


def test_what_costs_and_evidence_may_differ() -> None:
    """Two equal observations may differ in time and detail; the first is kept."""
    costs = {"seconds": 9.0, "peak_rss_mib": 1, "detail": "seen again", "attempts": 2}
    first, *others = whole().observations
    again = changed(whole(), observations=[first.model_copy(update=costs), *others])

    assert [] == reasons(whole(), again)
    assert whole() == join(named([whole(), again]), OFFERED, LINE)


def test_a_shard_has_all_that_it_says() -> None:
    """A shard that lacks a planned observation, or has an unplanned one, is refused."""
    of = whole()
    (seen, *others), odd = of.observations, "jax-9.9.9"
    told = f"{seen.cell}: {seen.issue}/{seen.case}"
    wrong: dict[str, dict[str, Any]] = {
        f"observations: {told} is missing": {"observations": others},
        f"observations: {told} appears twice": {"observations": [seen, seen, *others]},
        f"observations: {odd}: {seen.issue}/{seen.case} was not planned": {
            "observations": [seen, *others, seen.model_copy(update={"cell": odd})]
        },
        f"cells: {CELL.id} appears twice": {"cells": [of.cells[0], *of.cells]},
        f"cells: {CELL.id} was not planned": {"planned_cells": of.planned_cells[1:]},
        f"planned_cells: {CELL.id} appears twice": {"planned_cells": [CELL.id, *of.planned_cells]},
    }

    for fault, changes in wrong.items():
        assert [f"shard-1/compat.json: {fault}"] == reasons(changed(of, **changes))


def test_shards_that_were_planned_elsewhere_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A complete set of shards with another plan than this tree's is refused, with the difference."""
    folders = saved(split(whole(), 3), tmp_path)
    monkeypatch.setattr(merging, "planned_here", lambda: [{*whole().planned_cells[1:], "jax-9.9.9"}, {"jax-9.9.9"}])

    with pytest.raises(BadFile, match=rf"planned_cells: has {CELL.id} and lacks jax-9\.9\.9, unlike what is planned"):
        merge(folders)


@pytest.fixture(autouse=True)
def _nothing_there(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use an empty state, and add the tests' run to the tree's plans."""
    # Reading the costs in the published report takes a second each time.
    monkeypatch.setattr(published, "seconds_of_cells", dict)
    plans = [*merging.planned_here(), set(whole().planned_cells)]
    monkeypatch.setattr(merging, "planned_here", lambda: plans)


def test_merge_writes_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The merge command takes folders and files, writes every file of the report, prints it, and has its exit code."""
    one, *folders = saved(split(whole(), 3), tmp_path)

    code = command.main(["merge", str(one / "compat.json"), *map(str, folders), "--to", str(tmp_path / "to")])

    assert summary.exit_code(whole()) == code
    assert summary.last_line(whole()) == capsys.readouterr().out.splitlines()[-1]
    write(whole(), tmp_path / "whole")
    assert there(tmp_path / "whole") == there(tmp_path / "to")


def test_merge_refuses_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Contradicting shards give exit code 2 with a line for each reason, and the folder is unchanged."""
    folders = saved([whole(), changed(whole(), suite_version="9.9.9", probe_sha256="0" * 64)], tmp_path)

    code = command.main(["merge", *map(str, folders), "--to", str(tmp_path / "to")])

    assert Exit.MISUSED == code
    assert ["suite_version", "probe_sha256"] == [line.split(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert not (tmp_path / "to").exists()


# The cells are split, so some of the issues suffice.
SOME = ["--headlines", "--tag", "default", "--issue", "stack-smoke", "--issue", "wraps-lower-bypass"]


def test_shards_reported_apart_are_the_report(tmp_path: Path) -> None:
    """The reports that `report --shard` writes for a tag, merged, are the report of the tag."""
    for number, cell in enumerate(plan.tagged("default")):
        if number % 2:
            known = {"cell": cell.id, "at": AT, "verdict": "error", "reason": "install.network", "detail": cell.id}
            records.write_status(Status.model_validate(known))
    folders = [tmp_path / f"part-{number}" for number in (1, 2, 3)]
    for number, folder in enumerate(folders, 1):
        words = ["report", *SOME, "--shard", f"{number}/3", "--to", str(folder)]
        assert Exit.INCOMPLETE == command.main(words)
    command.main(["report", *SOME, "--to", str(tmp_path / "whole")])
    command.main(["merge", *map(str, folders), "--to", str(tmp_path / "merged")])

    made, apart = (stored.read_report(tmp_path / name) for name in ("whole", "merged"))
    assert made == apart.model_copy(update={"generated_at": made.generated_at})


def test_a_shard_says_that_it_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A shard's report names all planned cells, counts only its own, and says so in the last line."""
    command.main(["report", *SOME, "--shard", "2/3", "--to", str(tmp_path)])

    made = stored.read_report(tmp_path)
    cells = [cell.id for cell in commands.share(plan.tagged("default"), parse("2/3"))]
    assert [cell.id for cell in plan.tagged("default")] == made.planned_cells
    assert cells == [cell.id for cell in made.cells]
    assert len(made.observations) == made.coverage.planned
    told = f"\nshard 2/3: 0 of 0 run as expected; 0 could not run, {made.coverage.planned} not run, 0 errors"
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shard", "1/2"], "--shard needs --tag: report --tag line --shard 1/2"),
        (["--tag", "default", "--shard", "99/99"], "nothing is left for shard 99/99: there are only"),
    ],
)
def test_a_shard_of_nothing_is_misuse(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shard without a tag, or without cells, gives exit code 2 and a sentence."""
    assert Exit.MISUSED == command.main(["report", *words, "--to", str(tmp_path / "to")])
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "to").exists()
