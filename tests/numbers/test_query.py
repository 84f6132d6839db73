"""Questions to the published numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from jax_stack_compat.numbers import query
from jax_stack_compat.numbers.model import by_function, written
from laboratory.cell.numbers.recipes import calls
from tests.numbers.rows import call_row, publish

F = "jax.numpy.f"


ROWS = (
    call_row(F, "0.4.30", "0.4.35", digest="a"),
    call_row(F, "0.5.0", "0.5.0", digest="b", change="value", was="2, was 1"),
    call_row(F, "0.6.0", "0.6.0", digest="a", change="value", was="1, was 2"),
    call_row(F, "0.7.0", "0.8.0", digest="c", change="rounding", status="differs", detail="3, NumPy has 1"),
)


@pytest.fixture(autouse=True)
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish the rows."""
    publish(ROWS, monkeypatch)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("0.4.30", "0.4.35", []),
        ("0.4.30", "0.5.0", ["value"]),
        ("0.4.30", "0.6.0", []),
        ("0.5.0", "0.8.0", ["value"]),
        ("0.6.0", "0.8.0", ["rounding"]),
    ],
)
def test_a_change_between_two_releases_is_found(old: str, new: str, wanted: list[str]) -> None:
    """If two releases return different values, a function has a change; the largest is returned."""
    assert wanted == [found.change for found in query.changes(F, old, new)]


def test_what_a_release_changes_is_more_than_rounding() -> None:
    """A release has the rows that begin on it with other values."""
    assert [["2, was 1"], [], []] == [
        [found.was for found in query.changed(release)] for release in ("0.5.0", "0.7.0", "0.8.0")
    ]


def test_calls_are_read_as_they_were_written(tmp_path: Path) -> None:
    """A file has `f` for the function; a call that is read from the file has its name."""
    rows = [replace(ROWS[0], function=call.function, form=call.form, call=call.text) for call in calls()]
    (tmp_path / "all.csv").write_text(written(rows))

    assert sorted(rows, key=str) == sorted((row for of in by_function(tmp_path).values() for row in of), key=str)
