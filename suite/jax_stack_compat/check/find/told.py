"""The command `find`: the search of the pages' box, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jax_stack_compat.base.address import address
from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.check import knowledge
from jax_stack_compat.check.explain import arguments, missing, ordinary
from jax_stack_compat.check.explain.raised import raised
from jax_stack_compat.check.find import index as indexed
from jax_stack_compat.check.find.index import Index
from jax_stack_compat.check.find.ranked import Result, ranked
from jax_stack_compat.check.find.words import asked
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.output.text import say

# Two lines for an issue, and one for all else, are less than a screen.
_MAX_ISSUES = 8
_MAX_OTHERS = 4
_NONE = "Nothing documented matches. It may still be known upstream: search there."


def find(words: Sequence[str], *, console: Terminal) -> Exit:
    """Search the index for any words. Raises BadFile."""
    text = " ".join(words)
    index = indexed.load()
    found = ranked(index, text)
    sentences = [*missing.told(text, index.guests), *arguments.told(text)]
    if not any(result.kind == "issue" for result in found):
        sentences += [line for _, line in ordinary.told(raised(text))]
    for sentence in sentences:
        say(console, sentence, "bold")
    for line, style in lines(index, knowledge.load(), text, found):
        say(console, line, style)
    if not found and not sentences:
        say(console, _NONE, "bold")
    return Exit.AS_EXPECTED if found or sentences else Exit.UNEXPECTED


def lines(index: Index, known: Knowledge, text: str, found: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Return the lines of an answer, each with its style."""
    of = {kind: [result for result in found if result.kind == kind] for kind in ("function", "timing", "issue")}
    timings = {timing.id: timing for timing in index.timings}
    for result in of["timing"][:_MAX_OTHERS]:
        timing = timings[result.id]
        yield f"{timing.told}{f'; faster again in {timing.until}' * bool(timing.until)}", "bold"
    links = {issue.id: issue.link for issue in known.issues}
    if of["issue"] and all(result.partial for result in of["issue"]):
        yield "No issue has all of these words. Issues with some of them:", "bold"
    for result in of["issue"][:_MAX_ISSUES]:
        yield f"{result.id}  {index.by_id[result.id].title}", "bold red"
        why = f" (matches {result.why})" if result.why else ""
        yield f"    {_page(result.id) or links.get(result.id, '')}{why}", ""
    if len(of["issue"]) > _MAX_ISSUES:
        yield f"… and {len(of['issue']) - _MAX_ISSUES} more: say more of it.", "dim"
    yield from ((line, "dim") for line in _rest(index, text, found))


def _rest(index: Index, text: str, found: Sequence[Result]) -> Iterator[str]:
    """Yield lines on claims, and on the commands that answer about versions and functions."""
    refuted = [index.refuted[int(result.id) - 1] for result in found if result.kind == "refuted"]
    for ref, claim in refuted[:_MAX_OTHERS]:
        yield f"Refuted: {claim} ({ref})"
    functions = [result.id for result in found if result.kind == "function"]
    for name in functions[:_MAX_OTHERS]:
        yield f"{name}: what it returned on each release is in {_numbers(name)}"
    pins = asked(text, index.packages, index.releases).versions
    if pins:
        stack = " ".join(f"{name}=={version}" for name, version in pins.items())
        yield f'All that affects these versions: jax-stack-compat check --from "{stack}"'


def _page(issue: str) -> str:
    homepage = address("Homepage")
    return f"{homepage.rstrip('/')}/issues/{issue}.html" if homepage else ""


def _numbers(function: str) -> str:
    module = function.rpartition(".")[0]
    homepage = address("Homepage")
    return f"{homepage.rstrip('/')}/functions/{module}.html#{function}" if homepage else f"numbers/{module}.csv"
