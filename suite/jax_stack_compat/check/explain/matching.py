"""Issues whose signatures match a traceback or an error text, best first. Pure.

A signature matches if the exception's class and two words of its message agree, or if upstream defines the class. If
ordinary mistakes raise the same exception, the text must also mention the issue's functions.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from jax_stack_compat.base.spelling import is_version
from jax_stack_compat.cell.issue import Signature
from jax_stack_compat.check.explain.ordinary import ORDINARY
from jax_stack_compat.check.explain.raised import LONGEST, Raised, plain, raised
from jax_stack_compat.check.find.index import IndexedIssue, Signed
from jax_stack_compat.packages import ON_JAX, STACK

_PIN = re.compile(rf"\b({'|'.join(STACK)})[-=@ ]{{1,2}}v?(\d+(?:\.\d+)+)")
# Unspecific classes that are not Python's own.
GENERAL = ("XlaRuntimeError", "JaxRuntimeError", "EquinoxRuntimeError", "PicklingError", "TracerBoolConversionError")
_SAME = {"JaxRuntimeError": "XlaRuntimeError"}
# Python's phrases, which say nothing without the names beside them.
_KEYWORD = "unexpected keyword argument"
PHRASES = re.compile(
    rf"(?:got an )?{_KEYWORD}|(?:module|object)? ?.?has no attribute|cannot import name|no module named|"
    r"is not (?:defined|callable|iterable|subscriptable)|\b\w*(?:Error|Exception|Warning)\b",
    re.IGNORECASE,
)
_CALL = re.compile(rf"\b(?P<function>\w++)\(\) got an {_KEYWORD} '(?P<keyword>\w+)'")
# A name that more issues concern does not identify one.
_MAX_ISSUES_OF_RARE_NAME = 3


@dataclass(frozen=True)
class Match:
    """An issue that a text may show: the matching cases, the behaviour, the signature and its score.

    `rules` are those of the stacks on which the signature was seen, and `cell` is the first of these.
    """

    issue: IndexedIssue
    cases: tuple[str, ...]
    behaviour: str
    signature: Signature
    score: float
    rules: tuple[str, ...] = ()
    cell: str = ""


def matches(issues: Iterable[IndexedIssue], text: str) -> list[Match]:
    """Return the issues whose signatures match `text`, best first."""
    told = raised(text)
    if not told:
        return []
    issues = list(issues)
    concerned = Counter(name for issue in issues for name in _names(issue))
    found = []
    for issue in issues:
        rare = frozenset(name for name in _names(issue) if concerned[name] <= _MAX_ISSUES_OF_RARE_NAME)
        if match := _best(issue, told, rare):
            found.append(match)
    return sorted(found, key=lambda match: -match.score)


def _best(issue: IndexedIssue, told: list[Raised], rare: frozenset[str]) -> Match | None:
    """Return an issue's best match: its first, with all cases that match as well and behave alike."""
    scored = [(_score(issue, signed, error, rare), signed) for signed in issue.signed for error in told]
    score, best = max(scored, key=lambda each: each[0], default=(0.0, None))
    if not score or best is None:
        return None
    equal = [signed for of, signed in scored if of == score and signed.behaviour == best.behaviour]
    cases = dict.fromkeys(case for signed in equal for case in signed.cases)
    rules = dict.fromkeys(rule for signed in equal for rule in signed.rules)
    return Match(issue, tuple(cases), best.behaviour, best.signature, score, tuple(rules), best.cell)


def is_enough(type: str, message: str, *, everyday: bool, known_by: str) -> bool:
    """Return True if a message alone shows an issue: upstream's own class, or two words, and no everyday mistake."""
    own = not hasattr(builtins, type) and type not in GENERAL
    everyday = everyday or type in ORDINARY
    return (own or len(words(message)) > 1) and (bool(known_by) or not everyday)


def versions(text: str) -> dict[str, str]:
    """Return the versions of the stack in a text, as `pip`, `uv` or people write them."""
    found = dict(_PIN.findall(plain(text[:LONGEST])))
    return {name: version for name, version in found.items() if is_version(version)}


def words(text: str) -> list[str]:
    """Return the words of a message, also those within names: `get_aval` and `MainTrace` have two."""
    return re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])", text)


def telling(text: str) -> int:
    """Return the number of words in a message, without the phrases that Python puts in thousands of messages."""
    return len(words(without_phrases(text)))


def without_phrases(text: str) -> str:
    """Return a message without the phrases that Python puts in thousands of messages."""
    return PHRASES.sub(" ", text)


def _score(issue: IndexedIssue, signed: Signed, error: Raised, rare: frozenset[str]) -> float:
    """Return a score of the match between an exception and a signature: by words, class and module."""
    signature = signed.signature
    if _SAME.get(signature.type, signature.type) != _SAME.get(error.type, error.type):
        return 0.0
    # A specific class that upstream defines.
    own = not hasattr(builtins, signature.type) and signature.type not in GENERAL
    count = len(words(signature.message))
    if (error.message or not own) and not ((count > 1 or own) and _says(error.message, signature.message)):
        return 0.0
    if not all(guest in error.said for guest in signed.guests):
        return 0.0
    module = signature.module
    named = "." in module and module.replace("._src", "") in error.message
    through = bool(module) and (named or error.through(module))
    if module and not through and (error.files or not own):
        return 0.0
    if _KEYWORD in signature.message and not _is_of_call(issue, signature, error):
        return 0.0
    everyday = signature.everyday or signature.type in ORDINARY
    if (everyday or issue.row_zero) and not _is_concerned(issue, signed, error, rare):
        return 0.0
    if everyday and issue.row_zero and not module:
        # An ordinary mistake does not show that a stack fails to work at all.
        return 0.0
    unlike = bool(issue.known_by) and not everyday and not re.search(issue.known_by, error.said)
    return min(count, 10) + 5 * own + 3 * through - unlike


def _is_of_call(issue: IndexedIssue, signature: Signature, error: Raised) -> bool:
    """Return True if the function that refuses a keyword, or the keyword, is the signature's or the issue's."""
    if telling(signature.message) > 0:
        return True
    call = _CALL.search(error.message)
    return call is not None and call["function"] in _names(issue)


def _is_concerned(issue: IndexedIssue, signed: Signed, error: Raised, rare: frozenset[str]) -> bool:
    """Return True if an exception concerns an issue by the place where it was raised, or by a name."""
    # JAX raises for its callers, so the innermost file outside JAX counts.
    *_, innermost = ["", *(package for package in error.packages if package != "jax")]
    if issue.row_zero:
        return innermost in ON_JAX
    if innermost == signed.about:
        return True
    if issue.known_by:
        return re.search(issue.known_by, error.said) is not None
    return any(re.search(rf"\b{re.escape(name)}\b", error.said) for name in rare)


def _names(issue: IndexedIssue) -> set[str]:
    """Return the last parts of the names of functions that an issue concerns."""
    names = {name.partition("(")[0].rpartition(".")[2] for name in issue.names}
    return {name for name in names if not name.startswith("__")}


def _says(text: str, message: str) -> bool:
    """Return True if a text has a signature's message: its pieces in order, from the start of a word."""
    at = 0
    # One pattern for all pieces would take quadratic time.
    for piece in _pieces(message):
        found = piece.search(text, at)
        if found is None:
            return False
        at = found.end()
    return True


@cache
def _pieces(message: str) -> tuple[re.Pattern[str], ...]:
    """Return a pattern for each piece of a signature's message, which an ellipsis separates.

    In a message about an unhashable type, any of dict, list and set matches.
    """
    said = re.sub(r"\s+", " ", plain(message))
    pieces = [re.escape(piece) for piece in said.split("…")]
    if said.startswith("unhashable"):
        pieces = [re.sub(r"'(?:dict|list|set)'", "'(?:dict|list|set)'", piece) for piece in pieces]
    if said[:1].isalnum():
        pieces[0] = rf"(?<!\w){pieces[0]}"
    return tuple(map(re.compile, pieces))
