"""A traceback or an error text → the issues whose signatures it has, best first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from suite.cell.issue import Signature
from suite.check.knowledge import Knowledge, KnownCase, KnownIssue
from suite.judge.rules import STACK

# What is longer was not written by a person, and says what it says at its ends.
_LONGEST = 1_000_000
_PIN = re.compile(rf"\b({'|'.join(STACK)})[-=@ ]{{1,2}}v?(\d+(?:\.\d+)+)")


@dataclass(frozen=True)
class Match:
    """An issue that a text may be about: the cases whose signatures it has, and how much of them, from 0 to 1."""

    issue: KnownIssue
    cases: tuple[KnownCase, ...]
    signature: Signature
    score: float


def matches(knowledge: Knowledge, text: str) -> list[Match]:
    """The issues whose signatures `text` has, the most telling first."""
    said = _flat(text if len(text) <= _LONGEST else text[: _LONGEST // 2] + text[-_LONGEST // 2 :])
    found = []
    for issue in knowledge.issues:
        scored = [(score, signature, case) for score, signature, case in _scored(issue, said) if score]
        if scored:
            best = max(score for score, _, _ in scored)
            cases = {case.id: case for score, _, case in scored if score == best}
            signature = next(signature for score, signature, _ in scored if score == best)
            found.append(Match(issue, tuple(cases.values()), signature, best))
    return sorted(found, key=lambda each: -each.score)


def versions(text: str) -> dict[str, str]:
    """The versions that a text tells of the stack, as `pip` and `uv` write them and as people do."""
    return dict(_PIN.findall(text[:_LONGEST]))


def _scored(issue: KnownIssue, said: str) -> Iterator[tuple[float, Signature, KnownCase]]:
    for case in issue.cases:
        for behaviour, signature in case.signatures:
            if case.behaviours.get(behaviour) not in ("clear", "absent"):
                yield _score(signature, said), signature, case


def _score(signature: Signature, said: str) -> float:
    """How much of a signature a text has: its message tells most, then the exception, then where it came through."""
    pieces = [piece for piece in map(_flat, signature.message.split("…")) if piece]
    at = 0
    for piece in pieces:
        if (place := said.find(piece, at)) < 0:
            return 0.0
        at = place + len(piece)
    named = re.search(rf"\b{re.escape(signature.type.lower())}\b", said) is not None
    through = not signature.module or signature.module.replace(".", "/").lower() in said
    if not pieces:
        # An exception without a message is told by where it came through; without that it may be anybody's.
        return 0.4 if named and signature.module and through else 0.0
    telling = min(1.0, sum(map(len, pieces)) / 40)
    return 0.5 * telling + 0.3 * named + 0.2 * through


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub('[\\u2018\\u2019\\u201c\\u201d"`]', "'", text)).lower().strip()
