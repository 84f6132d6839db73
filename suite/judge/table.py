"""The verdicts: all that belongs to one, in one table. A page, a badge, a test report looks it up here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Verdict = Literal[
    "crashed",
    "hung",
    "affected",
    "different",
    "guarded",
    "documented",
    "clear",
    "absent",
    "flaky",
    "error",
    "blocked",
    "conflict",
    "unavailable",
    "not-run",
]
Count = Literal["run", "unavailable", "error", "not_run"]
TestOutcome = Literal["error", "skipped"]


@dataclass(frozen=True)
class Properties:
    """What belongs to a verdict. The table's order is the readers': worst first.

    `decided`: it says something of upstream, so that it can agree or disagree with what was expected. `good`: nothing
    goes wrong silently. `colour` is a style of rich, `badge` a colour of shields.io, `css` the class that colours it on
    a page. `counted` says where it goes in a report's coverage, `junit` what it is as a test that is as expected: None
    where that passes.
    """

    name: Verdict
    glyph: str
    meaning: str
    colour: str
    badge: str
    css: str
    decided: bool = True
    good: bool = False
    counted: Count = "run"
    junit: TestOutcome | None = None


TABLE: tuple[Properties, ...] = (
    Properties("crashed", "☠", "died on a signal, also at the interpreter's exit", "red", "red", "other"),
    Properties("hung", "⧖", "ran into its time limit", "red", "red", "other"),
    Properties("affected", "✗", "the documented symptom, recognised by its signature", "red", "red", "bad"),
    Properties("different", "≠", "failed, but not in the documented way: somebody must look", "red", "red", "other"),
    Properties(
        "guarded",
        "◐",
        "upstream refuses loudly what used to go wrong silently, or warns about it",
        *("yellow", "yellow", "guard"),
        good=True,
    ),
    Properties(
        "documented",
        "◇",
        "by design: it does what upstream documents, and people are surprised",
        *("cyan", "blue", "neutral"),
        good=True,
    ),
    Properties(
        *("clear", "✓", "it ran; the documented symptom is absent"), *("green", "brightgreen", "clear"), good=True
    ),
    Properties(
        *("absent", "–", "what the case is about does not exist in this release"),
        *("dim", "brightgreen", "absent"),
        good=True,
    ),
    Properties(*("flaky", "~", "attempts disagree"), *("magenta", "lightgrey", "other"), decided=False, junit="error"),
    Properties(
        *("error", "!", "our fault or the machine's: it says nothing of upstream"),
        *("magenta", "lightgrey", "undecided"),
        decided=False,
        counted="error",
        junit="error",
    ),
    Properties(
        *("blocked", "▢", "a package that the case needs does not import: row zero tells it"),
        *("dim", "lightgrey", "undecided"),
        decided=False,
        counted="unavailable",
        junit="skipped",
    ),
    Properties(
        *("conflict", "⊘", "the packages' own metadata excludes this set"),
        *("dim", "lightgrey", "undecided"),
        decided=False,
        counted="unavailable",
        junit="skipped",
    ),
    Properties(
        *("unavailable", "∅", "no release, wheel, interpreter, device or CPU feature"),
        *("dim", "lightgrey", "undecided"),
        decided=False,
        counted="unavailable",
        junit="skipped",
    ),
    Properties(
        *("not-run", "·", "planned, not tried"),
        *("dim", "lightgrey", "undecided"),
        decided=False,
        counted="not_run",
        junit="skipped",
    ),
)
PROPERTIES: Mapping[Verdict, Properties] = {each.name: each for each in TABLE}
# Worst first: what a row for a whole issue shows of its cases.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
GLYPHS: Mapping[Verdict, str] = {each.name: each.glyph for each in TABLE}
# Where nothing was learned of upstream, nothing can agree or disagree with what was expected of it.
UNDECIDED: frozenset[Verdict] = frozenset(each.name for each in TABLE if not each.decided)
# Where nothing goes wrong silently; of what was decided, the rest is bad.
GOOD: frozenset[Verdict] = frozenset(each.name for each in TABLE if each.decided and each.good)
