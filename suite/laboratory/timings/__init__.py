"""Timings of the release line, with asv."""
