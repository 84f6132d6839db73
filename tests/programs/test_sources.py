"""What each program follows from, read from the text of its definition."""

from __future__ import annotations

import pytest

from suite.programs import cases, sources

TEXT = """
def _array(n):
    return n

def _scan():
    return _array(8)

def _fft():
    return 1

ROWS = {"scan": Workload("A scan", _scan, ("equinox",)), "fft": Workload("A transform", _fft, options=NONE)}
NONE = {}
"""


@pytest.mark.parametrize(
    ("old", "new", "others"),
    [
        ("return n", "return n + 1", {"scan"}),
        ("return 1", "return 2", {"fft"}),
        ("NONE = {}", "NONE = {1: 2}", {"fft"}),
        ('("equinox",)', '("diffrax",)', {"scan"}),
        ("A scan", "Another scan", set()),
    ],
)
def test_a_program_follows_from_what_it_names_and_from_nothing_else(old: str, new: str, others: set[str]) -> None:
    """A helper, a value or an argument of its row makes a program another one, and a title or a neighbour does not."""
    before, after = (sources.of_tables(text) for text in (TEXT, TEXT.replace(old, new)))

    assert others == {name for name in before if before[name] != after[name]}


def test_every_program_is_found_and_each_has_a_source_of_its_own() -> None:
    """The programs of the device cases are among those that are compiled, and no two are the same."""
    found = sources.programs()

    assert set(cases.BY_PROGRAM) < set(found)
    assert len(found) == len(set(found.values()))
