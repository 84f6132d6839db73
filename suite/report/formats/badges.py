"""badges/*.json, as shields.io's endpoint reads them: one for each issue, and one for each two packages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from suite.files import dump
from suite.judge.metadata import DeclaredObserved
from suite.judge.table import PROPERTIES, VERDICTS, Verdict
from suite.printable import printable
from suite.report.model import CellRow, Observation, Report
from suite.report.summary import FORESEEN, line

# Words and a colour.
Told = tuple[str, str]

_PAIRS = tuple(combinations(("jax", "equinox", "diffrax"), 2))
_NOT_RUN = "not run", "lightgrey"
_TOGETHER: Mapping[DeclaredObserved, Told] = {
    "supported": ("works", "brightgreen"),
    "over-tight": ("works, though excluded", "yellow"),
    "guarded": ("excluded", "orange"),
    "latent": ("broken", "red"),
}


def badges(report: Report) -> dict[str, str]:
    """Name → JSON of each badge: what the newest stack of the line does, which is what an installer gives now."""
    # Less what is known to be out of reach, such as a release that was yanked.
    foreseen = {each.cell for each in report.observations if each.reason in FORESEEN}
    newest = next((cell for cell in reversed(line(report)) if cell.id not in foreseen), None)
    seen: dict[str, list[Observation]] = {issue.id: [] for issue in report.issues}
    for each in report.observations:
        if newest and each.cell == newest.id and each.issue in seen:
            seen[each.issue].append(each)
    made = {issue: _badge(issue, _of_issue(of, newest)) for issue, of in seen.items()}
    for one, other in _PAIRS:
        made[f"{one}-{other}"] = _badge(f"{one} × {other}", _together(one, other, newest))
    return made


def names(report: Report) -> list[str]:
    """What the badges of `report` are called."""
    return [*(issue.id for issue in report.issues), *map("-".join, _PAIRS)]


def _badge(label: str, told: Told) -> str:
    message, colour = told
    return dump({"schemaVersion": 1, "label": printable(label), "message": printable(message), "color": colour})


def _of_issue(seen: Sequence[Observation], newest: CellRow | None) -> Told:
    """The worst that any case does, and how many do so: what is not known is worse than good, and bad is worst."""
    if newest is None or not seen:
        return _NOT_RUN
    counts = Counter(each.verdict for each in seen)
    # What is by design is no news.
    worst = max([each for each in counts if each != "documented"] or counts, key=_badness)
    many = f" in {counts[worst]} of {len(seen)} cases" if worst not in ("clear", "absent") and len(seen) > 1 else ""
    return f"{worst}{many}, {newest.moves} {newest.holds[newest.moves]}", PROPERTIES[worst].badge


def _badness(verdict: Verdict) -> tuple[int, int]:
    of = PROPERTIES[verdict]
    return 1 if not of.decided else 0 if of.good else 2, -VERDICTS.index(verdict)


def _together(one: str, other: str, newest: CellRow | None) -> Told:
    """Whether these work together in the newest stack, by row zero, which takes all of it."""
    if newest is None or newest.declared_observed is None or not {one, other} <= newest.packages.keys():
        return _NOT_RUN
    words, colour = _TOGETHER[newest.declared_observed]
    because = f", {newest.blocked_by} does not import" if newest.blocked_by else ""
    return f"{newest.packages[one]} × {newest.packages[other]}: {words}{because}", colour
