"""The table of verdicts and their properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Bad = Literal["crashed", "hung", "affected", "different"]
Odd = Literal["error", "flaky"]
Good = Literal["guarded", "documented", "clear", "absent"]
NotThere = Literal["blocked", "conflict", "unavailable", "not-run"]
Verdict = Literal[Bad, Odd, Good, NotThere]
Count = Literal["run", "unavailable", "error", "not_run"]


@dataclass(frozen=True)
class Properties:
    """The properties of a verdict.

    `colour` is a style of rich, `css` its class on a page. A `decided` verdict says something about upstream, so it can
    agree with an expectation. With a `good` verdict, nothing goes wrong silently. A `retried` verdict may change in
    another run. `counted` is its place in a report's coverage.
    """

    name: Verdict
    glyph: str
    meaning: str
    colour: str = "red"
    css: str = "other"
    decided: bool = True
    good: bool = False
    retried: bool = False
    counted: Count = "run"


def _good(name: Good, glyph: str, meaning: str, colour: str, css: str) -> Properties:
    return Properties(name, glyph, meaning, colour, css, good=True)


def _not_there(name: NotThere, glyph: str, meaning: str, counted: Count = "unavailable") -> Properties:
    retried = counted == "not_run"
    return Properties(name, glyph, meaning, "dim", "undecided", False, False, retried, counted)


def _odd(name: Odd, glyph: str, meaning: str, counted: Count) -> Properties:
    return Properties(name, glyph, meaning, "magenta", "other", False, False, True, counted)


# Worst first: the row of an issue shows the worst verdict of its cases.
TABLE: tuple[Properties, ...] = (
    Properties("crashed", "☠", "died on a signal, also at the interpreter's exit"),
    Properties("hung", "∞", "ran into its time limit"),
    Properties("affected", "✗", "the documented symptom, recognised by its signature", css="bad"),
    Properties("different", "≠", "it failed, but not in the documented way: a person must look"),
    _odd("error", "!", "a fault of the suite or the machine, not of upstream", "error"),
    _odd("flaky", "~", "attempts disagree", "run"),
    _good("guarded", "◐", "an error or a warning now reports a fault that used to be silent", "yellow", "guard"),
    _good("documented", "◇", "works as upstream documents, but surprises people", "cyan", "neutral"),
    _good("clear", "✓", "it ran; the documented symptom is absent", "green", "clear"),
    _good("absent", "–", "the case's subject does not exist in this release", "dim", "absent"),
    _not_there("blocked", "▢", "a package that it needs does not import, or a case that it waits for goes wrong"),
    _not_there("conflict", "⊘", "the packages' own metadata excludes this set"),
    _not_there("unavailable", "∅", "no release, wheel, interpreter, device or CPU feature"),
    _not_there("not-run", "·", "planned, not tried", "not_run"),
)
PROPERTIES: Mapping[Verdict, Properties] = {each.name: each for each in TABLE}
VERDICTS: tuple[Verdict, ...] = tuple(PROPERTIES)
GLYPHS: Mapping[Verdict, str] = {each.name: each.glyph for each in TABLE}
# Verdicts that say nothing about upstream, so they cannot agree or disagree with an expectation.
UNDECIDED: frozenset[Verdict] = frozenset(each.name for each in TABLE if not each.decided)
RETRIED: frozenset[Verdict] = frozenset(each.name for each in TABLE if each.retried)
# Verdicts with which nothing goes wrong silently; the other decided verdicts are bad.
GOOD: frozenset[Verdict] = frozenset(each.name for each in TABLE if each.good)
# A behaviour with one of these verdicts is a symptom of its issue.
SYMPTOMS: frozenset[Verdict] = frozenset({"affected", "guarded", "documented"})
