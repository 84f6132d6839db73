"""Questions to the published numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from jax_stack_compat.numbers import query
from jax_stack_compat.numbers.model import MEASURED, Measured, by_function, written
from laboratory.cell.numbers.recipes import calls
from tests.numbers.rows import call_row

F = "jax.numpy.f"


ROWS = (
    call_row(F, "0.4.30", "0.4.35", digest="a"),
    call_row(F, "0.5.0", "0.5.0", digest="b", change="value", was="2, was 1"),
    call_row(F, "0.6.0", "0.6.0", digest="a", change="value", was="1, was 2"),
    call_row(F, "0.7.0", "0.8.0", digest="c", change="rounding", status="differs", detail="3, NumPy has 1"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the rows."""
    releases = ("0.4.30", "0.4.35", "0.5.0", "0.6.0", "0.7.0", "0.8.0")
    (tmp_path / MEASURED).write_text(Measured(releases=releases, cpu=(), functions=1, calls=1).text)
    (tmp_path / "jax.numpy.csv").write_text(written(ROWS))
    return tmp_path


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
def test_a_change_between_two_releases_is_found(folder: Path, old: str, new: str, wanted: list[str]) -> None:
    """If two releases return different values, a function has a change; the largest is returned."""
    assert wanted == [found.change for found in query.changes(F, old, new, folder)]


def test_what_a_release_changes_is_more_than_rounding(folder: Path) -> None:
    """A release has the rows that begin on it with other values."""
    assert [["2, was 1"], [], []] == [
        [found.was for found in query.changed(release, folder)] for release in ("0.5.0", "0.7.0", "0.8.0")
    ]


def test_a_difference_holds_from_first_to_last(folder: Path) -> None:
    """A function differs from its reference on the releases of the row that says so."""
    assert [[], ["3, NumPy has 1"]] == [
        [found.detail for found in query.unlike(F, release, folder)] for release in ("0.6.0", "0.8.0")
    ]


def test_a_function_without_rows_is_not_known(folder: Path) -> None:
    """Only functions that are called on the releases are known."""
    assert [F] == query.known([F, "jax.numpy.other"], folder)


def test_without_numbers_nothing_is_measured(tmp_path: Path) -> None:
    """Where no numbers are published, no release was measured."""
    assert not query.is_measured("0.4.30", tmp_path)


def test_calls_are_read_as_they_were_written(tmp_path: Path) -> None:
    """A file has `f` for the function; a call that is read from the file has its name."""
    rows = [replace(ROWS[0], function=call.function, form=call.form, call=call.text) for call in calls()]
    (tmp_path / "all.csv").write_text(written(rows))

    assert sorted(rows, key=str) == sorted((row for of in by_function(tmp_path).values() for row in of), key=str)
