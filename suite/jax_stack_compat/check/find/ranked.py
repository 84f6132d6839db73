"""Results for a question, best first: issues, timings, releases, functions and refuted claims. Pure.

The script match.js of the pages does the same, and a test compares both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from jax_stack_compat.check.explain.matching import matches, telling, without_phrases
from jax_stack_compat.check.find.index import Index, IndexedIssue, Timing
from jax_stack_compat.check.find.words import (
    COMMON,
    Asked,
    admits,
    alike,
    asked,
    compared,
    flat,
    stem,
    whole,
    words,
)

Kind = Literal["release", "function", "issue", "timing", "refuted"]
_NAME = re.compile(r"[a-z_][\w.]*=?")
_FLAG = re.compile(r"[A-Za-z0-9.=-]*(?:_[A-Za-z0-9.=-]*){2,}", re.ASCII)
_MOST_FUNCTIONS = 2
_MOST_WORDS = 100
# A synonym, a word in a thread's title and a function's name count less than a word in the issue's own texts.
_SYNONYM, _HEARD = 0.5, 0.75
_BEGINS, _AFFECTED = 12.0, 6.0
# The score of words that are all there, some by a synonym or in a thread's title.
_WHOLE = 20.0


@dataclass(frozen=True)
class Result:
    """One result: what it is, its id, why it was found, and its score. It is `partial` if it has some words alone."""

    kind: Kind
    id: str
    why: str = ""
    score: float = 0.0
    partial: bool = False


# A score and the reason; no score is no match.
Scored = tuple[float, str]
_NOTHING: Scored = (0.0, "")


def ranked(index: Index, text: str) -> list[Result]:
    """Return the results for a text: releases and functions, then timings, issues and claims, each best first.

    If there is none, a word that is a flag or an option, with two underscores, is looked up alone.
    """
    found = _ranked(index, text)
    flags = [] if found else [word for word in dict.fromkeys(text.split()[:_MOST_WORDS]) if _FLAG.fullmatch(word)]
    of_flags = (_ranked(index, flag) for flag in flags)
    return found or [replace(result, partial=True) for result in next(filter(None, of_flags), [])]


def _ranked(index: Index, text: str) -> list[Result]:
    question = asked(text, index.packages, index.releases)
    return [
        *_releases(index, question),
        *_functions(index, question),
        *_sorted(_timings(index, question)),
        *_sorted(_issues(index, question)),
        *_refuted(index, question),
    ]


def _sorted(found: Iterable[Result]) -> list[Result]:
    return sorted((result for result in found if result.score), key=lambda result: -result.score)


def _releases(index: Index, question: Asked) -> Iterator[Result]:
    ids = (f"{name}-{version}" for name, version in question.versions.items())
    yield from (Result("release", id) for id in ids if id in index.releases)


def _functions(index: Index, question: Asked) -> Iterator[Result]:
    """Yield the functions whose numbers are known, at most two for a term."""
    known = {name.lower(): name for name in index.numbers}
    for term in question.terms:
        wanted = whole(flat(term), index.aliases).partition("(")[0]
        if len(wanted) < 3 or not _NAME.fullmatch(wanted):
            continue
        own = [wanted] if wanted in known else [name for name in known if name.endswith(f".{wanted}")]
        yield from (Result("function", known[name]) for name in own[:_MOST_FUNCTIONS])


def _issues(index: Index, question: Asked) -> Iterator[Result]:
    shown = {match.issue.id: match for match in matches(index.issues, question.text)}
    for issue in index.issues:
        found = [_by_phrase(issue, question), _by_thread(issue.threads, question)]
        if match := shown.get(issue.id):
            signature = match.signature
            why = f"{signature.type}{': ' * bool(signature.message)}{signature.message}"
            found.append((100.0 + match.score, why))
        found += [_by_name(issue, flat(term), index) for term in question.terms]
        best = max(found, key=lambda scored: scored[0])
        by_words, partial = _by_words(issue, question, index), False
        at = _at(issue, question)
        # A release that an issue does not affect has nothing to do with words about it.
        if by_words[0] > best[0] and at >= 0:
            best, partial = by_words, by_words[0] < _WHOLE
        if not best[0] and not question.terms and len(question.versions) > 1 and _meets_rules(issue, question):
            best = (40.0, "")
        if best[0]:
            yield Result("issue", issue.id, best[1], best[0] + max(at, 0.0), partial)


def _timings(index: Index, question: Asked) -> Iterator[Result]:
    for timing in index.timings:
        version = question.versions.get("jax", "")
        at = 0.0
        if version:
            if compared(version, timing.since) < 0 or (timing.until and compared(version, timing.until) >= 0):
                continue
            at = _BEGINS if compared(version, timing.since) == 0 else _AFFECTED
        score = max(_by_thread(timing.threads, question)[0], _of_timing(timing, question, index))
        if score:
            yield Result("timing", timing.id, score=score + at)


def _of_timing(timing: Timing, question: Asked, index: Index) -> float:
    def counts(word: str) -> float:
        if word in index.packages or word in index.aliases:
            return float(index.aliases.get(word, word) in timing.packages)
        return _hit(word, timing.words)

    scores = (_share(term, counts, is_dated=bool(question.versions)) for term in question.terms)
    return max(scores, default=0.0)


def _refuted(index: Index, question: Asked) -> Iterator[Result]:
    text = " ".join(question.terms) or question.text
    for number, (ref, claim) in enumerate(index.refuted, 1):
        said = frozenset(map(stem, words(claim)))

        def counts(word: str, said: frozenset[str] = said) -> float:
            return float(stem(word) in said)

        share = 0.0 if question.is_printed else _share(text, counts, is_dated=False)
        if share or _by_thread((ref,), question)[0]:
            yield Result("refuted", str(number))


def _by_phrase(issue: IndexedIssue, question: Asked) -> Scored:
    """Score a part of a message, or a message without its class."""
    text, best = question.flat, _NOTHING
    if question.is_printed or len(text) < 8 or _telling(text) < 2:
        return best
    for signed in issue.signed:
        signature = signed.signature
        said = f"{signature.type}{': ' * bool(signature.message)}{signature.message}"
        plain = not signature.everyday and not signature.module
        is_whole = plain and telling(signature.message) > 1 and _is_within(flat(signature.message), text)
        score = 80.0 if is_whole else 70.0 if text in flat(said) else 0.0
        if score > best[0]:
            best = (score, said)
    return best


def _is_within(message: str, text: str) -> bool:
    """Return True if a text has the pieces of a message, in order."""
    at = 0
    for piece in (each.strip() for each in message.split("…")):
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _by_thread(refs: Iterable[str], question: Asked) -> Scored:
    """Score a thread: the reports of an issue are its first threads, and count most."""
    for place, ref in enumerate(refs):
        repository, _, number = ref.partition("#")
        if any(number == of and repo in ("", repository.rpartition("/")[2].lower()) for repo, of in question.threads):
            return 90.0 - place / 100, ref
    return _NOTHING


def _by_name(issue: IndexedIssue, term: str, index: Index) -> Scored:
    """Score a function, a keyword or a module that an issue concerns."""
    wanted = whole(term, index.aliases).partition("(")[0]
    if len(wanted) < 3 or not _NAME.fullmatch(wanted):
        return _NOTHING
    for name in issue.names:
        said = flat(name)
        if said == wanted:
            return 60.0, name
        if said.startswith(f"{wanted}.") or said.endswith(f".{wanted}") or f"({wanted}" in said:
            return 50.0, name
    return _NOTHING


def _by_words(issue: IndexedIssue, question: Asked, index: Index) -> Scored:
    def counts(word: str) -> float:
        if word in index.packages or word in index.aliases:
            return float(index.aliases.get(word, word) in issue.packages)
        # A function counts by its last part.
        name = word.rpartition(".")[2]
        return max(_hit(name, issue.words), _HEARD * _hit(name, issue.heard))

    scores = (_share(term, counts, is_dated=bool(question.versions)) for term in question.terms)
    return max(scores, default=0.0), ""


def _hit(word: str, known: frozenset[str]) -> float:
    """Return 1 for a known stem, less for a synonym's, and 0 for none."""
    if stem(word) in known:
        return 1.0
    return 0.0 if known.isdisjoint(alike(word)) else _SYNONYM


def _share(term: str, counts: Callable[[str], float], *, is_dated: bool) -> float:
    """Return a score by the words of a term: of three all must count, of more half; beside a version, half of three."""
    wanted = _wanted(term)
    if not wanted:
        return 0.0
    hits = [counts(word) for word in wanted]
    enough = len(wanted) / 2 if len(wanted) > (2 if is_dated else 3) else float(len(wanted))
    if len([hit for hit in hits if hit]) < enough:
        return 0.0
    lacking = hits.count(0.0)
    part = 10.0 * sum(hits) / len(wanted)
    return part if lacking else _WHOLE + part


# Hundreds of issues are compared with the same few texts.
@lru_cache(maxsize=64)
def _wanted(term: str) -> list[str]:
    """Return the words of a term that count."""
    wanted = (word for word in words(without_phrases(term)) if len(word) > 1)
    return [word for word in wanted if word not in COMMON and word not in ("jax", "jaxlib")]


@lru_cache(maxsize=64)
def _telling(text: str) -> int:
    return telling(text)


def _at(issue: IndexedIssue, question: Asked) -> float:
    """Return a score of an issue on the versions of a question; negative if it affects none of them."""
    own = [span for span in issue.spans if span[0] in question.versions]
    there = [
        span
        for span in own
        if compared(question.versions[span[0]], span[1]) >= 0 and compared(question.versions[span[0]], span[2]) <= 0
    ]
    if any(compared(question.versions[package], first) == 0 for package, first, _ in there):
        return _BEGINS
    if there or _meets_rules(issue, question):
        return _AFFECTED
    return -1.0 if own else 0.0


def _meets_rules(issue: IndexedIssue, question: Asked) -> bool:
    return any(admits(on, question.versions) for on in issue.rules)
