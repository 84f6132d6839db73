"""What a run costs: what is said of it, and what is no measurement."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from suite.catalogue import catalogue
from suite.cell import machine
from suite.errors import Failed
from suite.files import read
from suite.judge.record import Attempt, Part, Record
from suite.run import environment
from suite.stack import plan
from suite.upkeep import cost
from tests.report.test_report import put_record


def test_each_time_is_compared(elsewhere: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run's ratio is to the seconds of its cases shared among the cores; an answer's is to a bare interpreter."""
    monkeypatch.setattr(environment, "ready", lambda *_: SimpleNamespace(executable=tmp_path / "bin" / "python"))
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(cost, "run", lambda *_, **__: 30.0)
    source = tmp_path / "lib" / "python3.12" / "site-packages" / "jax"
    source.mkdir(parents=True)
    (source / "core.py").write_text("\n" * 50_000, encoding="utf-8")
    monkeypatch.setattr(cost, "_python", lambda *_: 0.3)
    cell, (entry, *_) = plan.tagged("default")[-1], catalogue.entries()
    part = Part(outcome="returned", behaviour="works")
    path = put_record(cell, entry, entry.issue.cases[0], part)
    twice = [Attempt(parts={"reproducer": part}, seconds=30.0)] * 2
    made = read(Record, path).model_copy(update={"attempts": twice, "started_at": datetime.max.replace(tzinfo=UTC)})
    path.write_text(made.model_dump_json(), encoding="utf-8")
    screen = StringIO()

    cost.measure(Console(file=screen, width=200))

    lines = screen.getvalue().splitlines()
    assert 3 == sum(" 30.00 " in line and " 1.00 " in line for line in lines)
    assert 1 == sum("of 50,000 lines" in line and " 0.60 " in line and " 2.00 " in line for line in lines)


def test_what_does_not_come_to_its_end_has_no_time(tmp_path: Path) -> None:
    """A session that wrote nothing has no seconds to believe: nox's last words are shown."""
    with pytest.raises(Failed, match=r"(?s)-s compat .*did not come to its end, so its time says nothing: .*noxfile"):
        cost.run("compat", made=tmp_path / "made", tree=tmp_path)
