"""corrections.html: the sentences that were published and were wrong."""

from __future__ import annotations

from collections.abc import Iterator

from suite.report.site.facts import Facts
from suite.report.site.page import Page


def pages(facts: Facts) -> Iterator[Page]:
    """The page of corrections."""
    yield Page("corrections.html", "corrections.html.jinja", "Corrections", facts.report.corrections)
