"""The pages of issues that were retired: an old link leads to a sentence, and to what is known of each name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from suite.catalogue.retired import retired
from suite.names import query
from suite.report.site.facts import Facts
from suite.report.site.page import Page


@dataclass(frozen=True)
class Row:
    """A case that was, the name that it was about, the releases that have it, and what upstream or we say of it."""

    case: str
    name: str
    there: str
    instead: str


def pages(facts: Facts) -> Iterator[Page]:
    """Return a page for each retired issue, at the address that it had."""
    for issue, cases in retired().items():
        rows = [_row(case, name) for case, name in cases.items()]
        yield Page(f"issues/{issue}.html", "retired.html.jinja", issue, rows)


def _row(case: str, name: str) -> Row:
    # A keyword is a parameter of a function.
    dotted = name.partition("(")[0]
    newest = query.names(dotted.partition(".")[0]).releases[-1]
    life = query.module_life(dotted) or query.life(dotted) if "(" not in name else None
    there = query.told(dotted, life) if life else "no release that was asked"
    return Row(case, name, there, query.words(dotted) or ", ".join(query.replacements(dotted, newest)))
