"""Issues whose signatures match a traceback or an error text, best first. Pure.

A signature matches if the exception's class and two words of its message agree, or if upstream defines the class. If
ordinary mistakes raise the same exception, the text must also mention the issue's functions.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from jax_stack_compat.cell.issue import Signature
from jax_stack_compat.check.explain.raised import LONGEST, Raised, plain, raised
from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.judge.verdict_table import SYMPTOMS
from jax_stack_compat.packages import MODULES, ON_JAX, STACK, guests

_PIN = re.compile(rf"\b({'|'.join(STACK)})[-=@ ]{{1,2}}v?(\d+(?:\.\d+)+)")
# Unspecific classes that are not Python's own.
_GENERAL = ("XlaRuntimeError", "JaxRuntimeError", "EquinoxRuntimeError", "PicklingError", "TracerBoolConversionError")
_SAME = {"JaxRuntimeError": "XlaRuntimeError"}
# A name that more issues concern does not identify one.
_MAX_ISSUES_OF_RARE_NAME = 3


@dataclass(frozen=True)
class Match:
    """An issue that a text may show: the matching cases, the behaviour, the signature and its score."""

    issue: KnownIssue
    cases: tuple[KnownCase, ...]
    behaviour: str
    signature: Signature
    score: float


def matches(knowledge: Knowledge, text: str) -> list[Match]:
    """Return the issues whose signatures match `text`, best first."""
    told = raised(text)
    concerned = Counter(name for issue in knowledge.issues for name in _names(issue))
    found = []
    for issue in knowledge.issues:
        rare = frozenset(name for name in _names(issue) if concerned[name] <= _MAX_ISSUES_OF_RARE_NAME)
        scored = [each for each in _scored(issue, told, rare) if each[0]]
        if scored:
            best, behaviour, signature, _ = max(scored, key=lambda each: each[0])
            cases = {case.id: case for score, of, _, case in scored if score == best and of == behaviour}
            found.append(Match(issue, tuple(cases.values()), behaviour, signature, best))
    return sorted(found, key=lambda each: -each.score)


def is_enough(type: str, message: str, *, everyday: bool, known_by: str) -> bool:
    """Return True if a message alone shows an issue: upstream's own class, or two words, and no everyday mistake."""
    own = not hasattr(builtins, type) and type not in _GENERAL
    return (own or len(words(message)) > 1) and (bool(known_by) or not everyday)


def versions(text: str) -> dict[str, str]:
    """Return the versions of the stack in a text, as `pip`, `uv` or people write them."""
    return dict(_PIN.findall(plain(text[:LONGEST])))


def words(text: str) -> list[str]:
    """Return the words of a message, also those within names: `get_aval` and `MainTrace` have two."""
    return re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])", text)


def _scored(
    issue: KnownIssue, told: list[Raised], rare: frozenset[str]
) -> Iterator[tuple[float, str, Signature, KnownCase]]:
    for case in issue.cases:
        for behaviour, signature in case.signatures:
            if case.behaviours.get(behaviour) in SYMPTOMS:
                for error in told:
                    yield _score(issue, case, signature, error, rare), behaviour, signature, case


def _score(issue: KnownIssue, case: KnownCase, signature: Signature, error: Raised, rare: frozenset[str]) -> float:
    """Return a score of the match between an exception and a signature: by words, class and module."""
    if _SAME.get(signature.type, signature.type) != _SAME.get(error.type, error.type):
        return 0.0
    # A specific class that upstream defines.
    own = not hasattr(builtins, signature.type) and signature.type not in _GENERAL
    count = len(words(signature.message))
    if (error.message or not own) and not ((count > 1 or own) and _pattern(signature.message).search(error.message)):
        return 0.0
    if not all(MODULES[guest] in error.said for guest in guests(case.needs)):
        return 0.0
    module = signature.module
    named = "." in module and module.replace("._src", "") in error.message
    through = bool(module) and (named or error.through(module))
    if module and not through and (error.files or not own):
        return 0.0
    if (signature.everyday or issue.row_zero) and not _is_concerned(issue, case, error, rare):
        return 0.0
    if signature.everyday and issue.row_zero:
        # An ordinary mistake does not show that a stack fails to work at all.
        return 0.0
    unlike = bool(issue.known_by) and not signature.everyday and not re.search(issue.known_by, error.said)
    return min(count, 10) + 5 * own + 3 * through - unlike


def _is_concerned(issue: KnownIssue, case: KnownCase, error: Raised, rare: frozenset[str]) -> bool:
    """Return True if an exception concerns an issue by the place where it was raised, or by a name."""
    # JAX raises for its callers, so the innermost file outside JAX counts.
    *_, innermost = ["", *(package for package in error.packages if package != "jax")]
    if issue.row_zero:
        return innermost in ON_JAX
    about = max((need for need in case.needs if need in ON_JAX), key=lambda need: STACK[need].layer, default="jax")
    if innermost == about:
        return True
    if issue.known_by:
        return re.search(issue.known_by, error.said) is not None
    return any(re.search(rf"\b{re.escape(name)}\b", error.said) for name in rare)


def _names(issue: KnownIssue) -> set[str]:
    """Return the last parts of the names of functions that an issue concerns."""
    names = {touch.partition("(")[0].rpartition(".")[2] for touch in issue.touches if "." in touch}
    return {name for name in names if not name.startswith("__")}


@cache
def _pattern(message: str) -> re.Pattern[str]:
    """Return a pattern that finds a signature's message: its pieces in order, from the start of a word.

    In a message about an unhashable type, any of dict, list and set matches.
    """
    said = re.sub(r"\s+", " ", plain(message))
    found = ".*?".join(map(re.escape, said.split("…")))
    found = re.sub(r"'(?:dict|list|set)'", "'(?:dict|list|set)'", found) if said.startswith("unhashable") else found
    return re.compile((r"(?<!\w)" if said[:1].isalnum() else "") + found, re.DOTALL)
