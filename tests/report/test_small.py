"""A small report with every kind of page, kept in the tree so that any change of the output shows as a diff.

`nox -s tests -- tests/report/test_small.py --rewrite` writes it. Style, scripts and schema are not repeated in it.
"""

import shutil
import subprocess
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import REPORTS, ROOT, read
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.libraries import known as libraries
from jax_stack_compat.stack import chosen, lock, releases
from laboratory.cli.command_line import main
from laboratory.libraries.records import PACKED
from laboratory.programs.model import FOLDER as COMPILED
from laboratory.report import published as packed
from laboratory.report.compare import since
from laboratory.report.derive import derive
from laboratory.report.folder import write as writing
from laboratory.report.model import (
    CellRow,
    Observation,
    RefutedRow,
    Report,
    RuleRow,
    SearchedRow,
    UpstreamRow,
    WorkaroundRow,
)
from laboratory.run import sizes
from laboratory.run.schedule import costs
from laboratory.sources import threads
from laboratory.timings.results import COMPARED, NOISE, RESULTS
from tests.programs.test_page import changed
from tests.report.on_disk import there
from tests.report.test_release_pages import RELEASES, timed
from tests.report.test_report import cell_row, observation, report, undecided
from tests.stack.test_plan import jax, offering, release

FOLDER = Path(__file__).parent / "small"
LINE = RELEASES
ARM, OWN = "jax-0.8.0+equinox-0.11.1", "jax-0.7.0+equinox-0.11.1"
OFFERED = offering(
    jax={name.removeprefix("jax-"): jax(name.removeprefix("jax-")) for name in LINE},
    jaxlib={name.removeprefix("jax-"): release() for name in LINE},
    equinox={"0.11.1": release(requires_dist=["jax>=0.4"]), "0.11.4": release(requires_dist=["jax>=0.7.1"])},
    diffrax={"0.5.1": release()},
).packages
SOURCE = """def jit():
    jitted = jax.jit(lambda x: x + 1.0)
    wrapper = functools.wraps(jitted)(lambda x: 10.0 * jitted(x))
    return ("bypassed" if wrapper.lower(1.0).compile()(1.0) == 2.0 else "lowered"), "20.0, not <b>"  # it adds
"""
STORY = """f(1)  # <b>
    g()

It `runs <x>` *well*, 2*3*4:
- **`a` is** it
  too
- b
And on.

Seen in these runs: on *every* release.
"""


def seen(issue: str, case: str, cell: str, verdict: Verdict, behaviour: str | None, **changes: object) -> Observation:
    """Return an expected observation of a case."""
    reason = None if verdict == "clear" else f"run.{behaviour}"
    known = {"reason": reason, "expected": behaviour, "workaround": "none", "detail": f"it was {behaviour}", **changes}
    return observation(issue=issue, case=case, cell=cell, verdict=verdict, behaviour=behaviour, **known)


def small(last: Verdict = "guarded") -> Report:
    """Return observations of three issues on four releases of jax and in an arm; `last` changes the last."""
    smoke, wraps, stream = ("stack-smoke", "train-and-solve"), ("wraps-lower", "jit"), ("stream-of-draws", "normal")
    observations = [
        *(seen(*smoke, cell, "clear", "works") for cell in LINE if cell != LINE[2]),
        undecided("unavailable", issue=smoke[0], case=smoke[1], cell=LINE[2], reason="plan.yanked", detail="yanked"),
        seen(*smoke, ARM, "affected", "import-error", reason="import.exception", detail="No module <b>jax.core</b>"),
        *(seen(*wraps, cell, "affected", "bypassed", workaround="holds") for cell in LINE[:2]),
        undecided("unavailable", issue=wraps[0], case=wraps[1], cell=LINE[2], reason="plan.yanked"),
        seen(*wraps, LINE[3], last, "attribute-error", workaround="holds"),
        undecided("blocked", issue=wraps[0], case=wraps[1], cell=ARM, reason="import.exception"),
        *(seen(*stream, cell, "documented", "a") for cell in LINE[:2]),
        undecided("not-run", issue=stream[0], case=stream[1], cell=LINE[2], reason="run.not-tried"),
        seen(*stream, LINE[3], "documented", "b", ran_in=LINE[1]),
        seen(*smoke, OWN, "clear", "works"),
        seen(*wraps, OWN, "affected", "bypassed", workaround="fails"),
        seen(*stream, OWN, "documented", "a"),
        seen(*stream, ARM, "different", "odd", agreement="changed", expected="b", detail="0.1, not 0.2"),
    ]
    made = report(
        *(observation(case=case, cell=cell) for _, case in (smoke, wraps, stream) for cell in (*LINE, ARM, OWN))
    )
    (plain,) = made.issues
    titles = ("A small network trains", "A wrapper round `jit` is skipped by `.lower()`", "Normal draws of one seed")
    issues = [
        plain.model_copy(update={"id": issue, "title": title, "kind": kind, "touches": touches, "cases": [case]})
        for (issue, _), title, kind, touches, case in zip(
            (smoke, wraps, stream),
            titles,
            ("crash", "silent-wrong", "by-design"),
            ([], ["jax.jit", "ahead of time"], ["jax.random.normal", "random stream"]),
            (case.model_copy(update={"workaround": None, "rules": []}) for case in plain.cases),
            strict=True,
        )
    ]
    rules = [RuleRow(behaviour="bypassed", on="jax<0.8", note="jax#1"), RuleRow(behaviour="attribute-error")]
    behaviours = {"bypassed": "affected", "attribute-error": "guarded", "lowered": "clear"}
    update = {"rules": rules, "behaviours": behaviours, "source": SOURCE, "workaround": WorkaroundRow(text="Jit last.")}
    (case,) = issues[1].cases
    threads = [
        UpstreamRow(ref="jax-ml/jax#1", role="report", title="Skipped", state="open", looked_up=date(2026, 11, 1)),
        UpstreamRow(ref="https://docs.jax.dev/aot", role="docs"),
    ]
    told = {"story": STORY, "upstream": threads, "cases": [case.model_copy(update=update)]}
    issues[:2] = issues[0].model_copy(update={"row_zero": True}), issues[1].model_copy(update=told)
    queries = ["normal draws <b>", "another draw"]
    issues[2] = issues[2].model_copy(
        update={"searched": SearchedRow(looked_up=date(2026, 11, 2), queries=queries), "upstream": []}
    )
    claim = RefutedRow(
        ref="jax-ml/jax#7", title="It <is>", claim="It is slow", tried="It was timed.", where="On each release."
    )
    shown = {"issues": issues, "observations": observations, "cells": stacks(), "refuted": [claim]}
    return derive(made.model_copy(update=shown), OFFERED)


def stacks() -> list[CellRow]:
    """Return a report on four releases of jax, one yanked, a broken stack of an arm, and an unplanned stack."""
    days = [date(2024, month, 18) for month in (4, 5, 6, 7)]
    words = ("supported", "supported", None, "supported")
    rows = zip(LINE, days, words, strict=True)
    line = [cell_row(name, released_on=day, declared_observed=word) for name, day, word in rows]
    asks = [{"question": "I upgrade jax, and keep Equinox", "along": "jax"}]
    arm = cell_row(ARM, released_on=days[-1], asks=asks, declared_observed="latent", blocked_by="equinox")
    return [*line, arm, cell_row(OWN, released_on=days[-1], declared_observed="supported")]


def written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Return the files of the small report, written over one in which a case was still silent."""
    measured = (timed(1e-3, 1e-2, None, 1e-3),), (changed(lines=["-%a = copy(<x>)", "+%b = add()"], left_out=7),)
    monkeypatch.setattr(writing, "_measured", lambda: measured)
    before, now = small("affected"), small()
    writing.write(now.model_copy(update={"since": since(before, now)}), folder)
    # Files that are the same for every report of this tree.
    repeated = ("assets/", "compat.schema.json", ".files")
    return {name: text for name, text in there(folder).items() if not name.startswith(repeated)}


def test_the_small_report_is_the_one_in_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Pages, Markdown and data of a small report are written as they are in the tree."""
    if request.config.getoption("rewrite"):
        shutil.rmtree(FOLDER)
        for name, text in written(tmp_path, monkeypatch).items():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_bytes(text)

    found, kept = written(tmp_path, monkeypatch), there(FOLDER)

    assert sorted(found) == sorted(kept)
    assert {} == {name: text.decode() for name, text in found.items() if text != kept[name]}


def test_the_tracked_files_are_of_this_tree(published: Report) -> None:
    """The files in the tree are as `nox -s rebuild` writes them, and nothing untracked lies there."""
    made = packed.tracked(published)

    assert [] == [name for name, text in made.items() if (packed.FOLDER / name).read_text(encoding="utf-8") != text]
    filed = {"records", "elsewhere.json", "numbers", "numbers.json.xz", "names", "devices", packed.MADE.name}
    filed |= {libraries.PATH.name, PACKED.name}
    assert {*made, *filed} == {path.name for path in packed.FOLDER.iterdir()}


def test_the_published_report_has_all_issues(published: Report, report_folder: Path) -> None:
    """Each issue has its page and a record of each planned run; one that is new may have run in few cells."""
    assert {issue.id for issue in published.issues} == {path.stem for path in (report_folder / "issues").iterdir()}
    ran = Counter((each.issue, each.verdict != "not-run") for each in published.observations)
    lacking = [issue for issue, was_run in ran if not was_run]
    assert [] == [issue for issue in lacking if ran[issue, True] > ran[issue, False]]
    assert read(packed._Made, packed.MADE).generated_at == published.generated_at


def test_a_release_day_compares_the_report_before(report_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`diff` reads the report that a clone builds; compared with itself, nothing has changed."""
    assert Exit.AS_EXPECTED == main(["diff", str(report_folder), str(report_folder), "--format", "markdown"])
    told = capsys.readouterr().out
    assert "0 regressed, 0 changed, 0 fixed, 0 new, 0 gone; 0 undecided" in told
    assert "Different conditions" not in told


def test_reviews_fold_what_is_generated() -> None:
    """The published report, locks, data and results are marked as generated; the small report is not."""
    files = [releases.PATH, sizes.PATH, chosen.PATH, costs.PATH, threads.PATH]
    folders = [REPORTS / "published", lock.LOCKS, RESULTS, COMPARED, NOISE, COMPILED, FOLDER]
    paths = [*files, *(folder / "any" for folder in folders)]

    command = ["git", "check-attr", "linguist-generated", *map(str, paths)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert [*["true"] * (len(paths) - 1), "unset"] == [line.rpartition(": ")[2] for line in told]
