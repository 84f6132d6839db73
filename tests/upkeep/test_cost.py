"""What a run costs: what is said of it, and what is no measurement."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from suite.cell import machine
from suite.errors import Failed
from suite.files import read
from suite.judge.record import Attempt, Part, Record
from suite.run import catalogue, environment, records
from suite.stack import plan
from suite.upkeep import cost, timed
from tests.report.test_report import put_record


def test_a_run_is_held_against_its_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A line says what is measured; the ratio is of the run's time and its rows' seconds, shared among the cores."""
    monkeypatch.setattr(environment, "ready", lambda *_: object())
    monkeypatch.setattr(records, "RECORDS", tmp_path)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(timed, "session", lambda *_, **__: 30.0)
    cell, (entry, *_) = plan.tagged("default")[-1], catalogue.entries()
    part = Part(outcome="returned", behaviour="works")
    path = put_record(cell, entry, entry.issue.cases[0], part)
    twice = [Attempt(parts={"reproducer": part}, seconds=30.0)] * 2
    made = read(Record, path).model_copy(update={"attempts": twice, "started_at": datetime.now(UTC)})
    path.write_text(made.model_dump_json(), encoding="utf-8")
    screen = StringIO()

    cost.measure(Console(file=screen, width=200))

    lines = screen.getvalue().splitlines()
    assert ["30.0 s", "30.0 s"] == [line.partition(" … ")[2] for line in lines[:2]]
    assert 2 == sum(" 1.00 " in line and "≤ 1.25" in line for line in lines)


def test_what_does_not_come_to_its_end_has_no_time(tmp_path: Path) -> None:
    """A session that wrote nothing has no seconds to believe: nox's last words are shown."""
    with pytest.raises(Failed, match=r"(?s)-s compat .*did not come to its end, so its time says nothing: .*noxfile"):
        timed.session("compat", made=tmp_path / "made", tree=tmp_path)
