"""The pages of retired issues, so that old links lead to what is known of each name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from suite.catalogue.retired import retired
from suite.names import query
from suite.report.site.facts import Facts
from suite.report.site.page import Page


@dataclass(frozen=True)
class RetiredCase:
    """A former case: the name that it was about, the releases that have the name, and its replacement."""

    case: str
    name: str
    there: str
    instead: str


def pages(facts: Facts) -> Iterator[Page]:
    """Yield a page for each retired issue, at its former address."""
    for issue, cases in retired().items():
        rows = [_row(case, name) for case, name in cases.items()]
        yield Page(f"issues/{issue}.html", "retired.html.jinja", issue, rows)


def _row(case: str, name: str) -> RetiredCase:
    # `function(keyword` names a parameter.
    dotted = name.partition("(")[0]
    newest = query.names(dotted.partition(".")[0]).releases[-1]
    life = query.module_life(dotted) or query.life(dotted) if "(" not in name else None
    there = query.told(dotted, life) if life else "no release that was walked"
    return RetiredCase(case, name, there, query.words(dotted) or ", ".join(query.replacements(dotted, newest)))
