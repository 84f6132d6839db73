"""badges/*.json, as shields.io's endpoint reads them: one for each issue, and one for each two packages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from suite.files import dump
from suite.judge.metadata import DeclaredObserved
from suite.judge.table import PROPERTIES, VERDICTS, Verdict
from suite.report.formats.markup import printable
from suite.report.model import CellRow, Observation, Report
from suite.report.summary import FORESEEN, line

_PACKAGES = ("jax", "equinox", "diffrax")
_UNKNOWN = "lightgrey"
_TOGETHER: Mapping[DeclaredObserved, str] = {
    "supported": "brightgreen",
    "over-tight": "yellow",
    "guarded": "orange",
    "latent": "red",
}


def badges(report: Report) -> dict[str, str]:
    """Name → JSON of each badge: what the newest stack of the line does, which is what an installer gives now."""
    newest = _newest(report)
    seen: dict[str, list[Observation]] = {issue.id: [] for issue in report.issues}
    for each in report.observations:
        if newest and each.cell == newest.id and each.issue in seen:
            seen[each.issue].append(each)
    made = {issue: _badge(issue, *_of_issue(of, newest)) for issue, of in seen.items()}
    for one, other in combinations(_PACKAGES, 2):
        made[f"{one}-{other}"] = _badge(f"{one} × {other}", *_together(one, other, newest))
    return {name: dump(badge) for name, badge in made.items()}


def _newest(report: Report) -> CellRow | None:
    """The last cell of the line, less what is known to be out of reach, such as a release that was yanked."""
    foreseen = {each.cell for each in report.observations if each.reason in FORESEEN}
    return next((cell for cell in reversed(line(report)) if cell.id not in foreseen), None)


def _badge(label: str, message: str, colour: str) -> dict[str, Any]:
    return {"schemaVersion": 1, "label": printable(label), "message": printable(message), "color": colour}


def _of_issue(seen: Sequence[Observation], newest: CellRow | None) -> tuple[str, str]:
    """The worst that any case does, and how many do so: what is not known is worse than good, and bad is worst."""
    if newest is None or not seen:
        return "not run", _UNKNOWN
    counts = Counter(each.verdict for each in seen)
    # What is by design is no news.
    worst = max([each for each in counts if each != "documented"] or counts, key=_badness)
    many = f" in {counts[worst]} of {len(seen)} cases" if worst not in ("clear", "absent") and len(seen) > 1 else ""
    return f"{worst}{many}, {newest.moves} {newest.holds[newest.moves]}", PROPERTIES[worst].badge


def _badness(verdict: Verdict) -> tuple[int, int]:
    of = PROPERTIES[verdict]
    worse = -VERDICTS.index(verdict)
    return (0 if of.good else 2, worse) if of.decided else (1, worse)


def _together(one: str, other: str, newest: CellRow | None) -> tuple[str, str]:
    """Whether these work together in the newest stack, by row zero, which takes all of it."""
    versions = [newest.packages.get(name) for name in (one, other)] if newest else [None]
    if newest is None or None in versions or newest.declared_observed is None:
        return "not run", _UNKNOWN
    words = {"supported": "works", "over-tight": "works, though excluded", "guarded": "excluded", "latent": "broken"}
    word = words[newest.declared_observed]
    if newest.blocked_by:
        word += f", {newest.blocked_by} does not import"
    where = " × ".join(map(str, versions))
    return f"{where}: {word}", _TOGETHER[newest.declared_observed]
