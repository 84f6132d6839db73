"""Answers with text that no file can hold."""

from __future__ import annotations

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue


def lone_surrogate() -> Seen:
    """Is an answer kept that has half a character in it?"""
    return "right", "half \ud800, \x00"


def raises_it() -> Seen:
    """Is an exception kept whose message has half a character in it?"""
    raise ValueError("half \udcff")


ISSUE = issue(case(lone_surrogate), case(raises_it))
