"""What a run costs: what is said of it, and what is no measurement."""

from __future__ import annotations

from io import StringIO
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from suite.errors import Failed
from suite.run import environment, records
from suite.upkeep import cost, timed


def test_each_thing_is_said_as_it_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Five things have a line each, and the table the ratios of what they took."""
    monkeypatch.setattr(environment, "ready", lambda *_: object())
    monkeypatch.setattr(records, "RECORDS", tmp_path)
    monkeypatch.setattr(cost, "time", SimpleNamespace(monotonic=count(0, 10).__next__))
    monkeypatch.setattr(cost, "_run", lambda *_, **__: None)
    monkeypatch.setattr(timed, "session", lambda *_, **__: 0.0)
    screen = StringIO()

    cost.measure(Console(file=screen, width=200))

    lines = screen.getvalue().splitlines()
    assert ["10.0 s"] * 5 == [line.partition(" … ")[2] for line in lines[:5]]
    assert ["≤ 1.2"] == [line[-7:].strip(" │") for line in lines if "≤" in line]
    assert 2 == sum(" 1.00 " in line for line in lines)


def test_what_does_not_come_to_its_end_has_no_time(tmp_path: Path) -> None:
    """A session that wrote nothing has no seconds to believe: nox's last words are shown."""
    with pytest.raises(Failed, match=r"(?s)-s compat .*did not come to its end, so its time says nothing: .*noxfile"):
        timed.session("compat", made=tmp_path / "made", tree=tmp_path)
