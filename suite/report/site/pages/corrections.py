"""The page corrections.html: published sentences that were wrong."""

from __future__ import annotations

from collections.abc import Iterator

from suite.report.site.facts import Facts
from suite.report.site.page import Page


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of corrections."""
    yield Page("corrections.html", "corrections.html.jinja", "Corrections", facts.report.corrections)
