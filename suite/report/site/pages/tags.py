"""The page tags.html: the issues by function, keyword and area."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from suite.report.model import IssueRow
from suite.report.site.facts import Facts
from suite.report.site.page import Page
from suite.report.site.search import names_and_areas


@dataclass(frozen=True)
class Tag:
    """A function with its keywords, or an area, and the issues that concern it."""

    name: str
    keywords: list[str]
    issues: list[IssueRow]


@dataclass(frozen=True)
class Tags:
    """The view of tags.html: areas, then the functions of each package."""

    areas: list[Tag]
    packages: dict[str, list[Tag]]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of functions and areas."""
    by_area: dict[str, list[IssueRow]] = {}
    by_name: dict[str, tuple[list[str], list[IssueRow]]] = {}
    for issue in facts.report.issues:
        names, areas = names_and_areas(issue)
        for area in areas:
            by_area.setdefault(area, []).append(issue)
        for named in names:
            name, _, keyword = named.partition("(")
            keywords, issues = by_name.setdefault(name, ([], []))
            keywords += [keyword.removesuffix(")")] if keyword else []
            issues += [issue] if issue not in issues else []
    packages: dict[str, list[Tag]] = {}
    for name, (keywords, issues) in sorted(by_name.items()):
        packages.setdefault(name.partition(".")[0], []).append(Tag(name, sorted(set(keywords)), issues))
    areas_told = [Tag(name, [], issues) for name, issues in sorted(by_area.items())]
    ordered = dict(sorted(packages.items(), key=lambda each: (each[0] != "jax", each[0])))
    yield Page("tags.html", "tags.html.jinja", "Issues by function", Tags(areas_told, ordered))
