"""The report → files: JSON and its schema, and what is made of that alone: a page, Markdown, a feed, badges, JUnit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from suite.atomic import write as put
from suite.files import BadFile, Fault, dump, read
from suite.judge import GLYPHS
from suite.report import summary
from suite.report.badges import badges
from suite.report.feed import feed
from suite.report.fit import fit
from suite.report.junit import junit
from suite.report.markup import cell_text
from suite.report.model import Observation, Report


def schema() -> str:
    """The JSON Schema of compat.json."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Report.model_json_schema()})


def write(report: Report, folder: Path) -> list[Path]:
    """Write every file of the report into `folder`; what was written. Raises BadFile, OSError."""
    beside = siblings(report, folder / "compat.json")
    return put_all({"compat.json": dump(report.model_dump(mode="json")), **beside}, folder)


def rebuild(folder: Path) -> list[Path]:
    """Write every sibling of the compat.json in `folder` anew; what was written. Raises BadFile, OSError."""
    source = folder / "compat.json"
    return put_all(siblings(read(Report, source), source), folder)


def siblings(report: Report, source: Path) -> dict[str, str]:
    """Name → text of each file that is made of the report alone, which is in `source`. Raises BadFile."""
    made = badges(report)
    # A name becomes a path, and the report may be anybody's.
    if odd := [name for name in made if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name)]:
        raise BadFile([Fault(source, "issues.id", f"{name!r} is no id: lower case, digits and dashes") for name in odd])
    return {
        "compat.schema.json": schema(),
        "COMPAT.md": fit(render(report, "compat.md.jinja")),
        "index.html": render(report, "index.html.jinja"),
        "feed.xml": feed(report),
        "junit.xml": junit(report),
        **{f"badges/{name}.json": text for name, text in made.items()},
    }


def put_all(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write `files` into `folder`, and remove badges of what is no longer there; what was written. Raises OSError."""
    written = [folder / name for name in files]
    for path, text in zip(written, files.values(), strict=True):
        put(path, text)
    for path in set((folder / "badges").glob("*.json")).difference(written):
        path.unlink()
    return written


def render(report: Report, template: str) -> str:
    """`report` as `template` shows it; whatever comes from somebody else's code is escaped."""
    templates = Environment(
        loader=PackageLoader("suite.report"),
        autoescape=template.endswith(".html.jinja"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["cell_text"] = cell_text
    on_line = {cell.id for cell in summary.line(report)}
    seen: dict[tuple[str, str], dict[str, Observation]] = {}
    for each in report.observations:
        seen.setdefault((each.issue, each.case), {})[each.cell] = each
    return (
        templates.get_template(template)
        .render(
            report=report,
            seen=seen,
            glyphs=GLYPHS,
            last_line=summary.last_line(report),
            line=summary.line(report),
            unexpected=summary.unexpected(report),
            is_unexpected=summary.is_unexpected,
            undecided=summary.undecided(report),
            story=summary.story,
            of_line=lambda observations: [each for each in observations if each.cell in on_line],
            held=summary.held,
            ranges=summary.ranges,
            advice=summary.advice,
            stack_glyphs=summary.STACK_GLYPHS,
            cells={cell.id: cell for cell in report.cells},
            compared={cell.id: cell.declared_observed for cell in report.cells},
            replay=summary.replay,
            workaround=summary.workaround,
            link=_link,
        )
        .rstrip()
        + "\n"
    )


def _link(ref: str) -> str:
    """The address of an upstream thread: `jax-ml/jax#27829`, or an address as it stands."""
    repository, _, number = ref.partition("#")
    return f"https://github.com/{repository}/issues/{number}" if number.isdecimal() else ref
