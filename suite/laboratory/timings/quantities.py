"""Times and counts, formatted for people. Pure."""

from __future__ import annotations

_OF_SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_OF_COUNTS = (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))


def duration(seconds: float) -> str:
    """Return a time in a suitable unit."""
    return quantity(seconds, "seconds")


def quantity(value: float, unit: str) -> str:
    """Return a time or a count to three digits, in a suitable unit."""
    scales = _OF_SECONDS if unit == "seconds" else _OF_COUNTS
    letters, size = next((scale for scale in scales if value >= scale[1]), scales[-1])
    return f"{value / size:.3g} {letters}".rstrip()
