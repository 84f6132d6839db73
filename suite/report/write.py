"""The report → files: JSON and its schema, Markdown, and one self-contained page."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from suite.atomic import write as put
from suite.files import dump
from suite.judge import GLYPHS
from suite.report import summary
from suite.report.findings import SORTS
from suite.report.model import Report
from suite.report.page import Changes, View, digest, highlight, link
from suite.report.text import said


def schema() -> str:
    """The JSON Schema of compat.json."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Report.model_json_schema()})


def write(report: Report, folder: Path, changes: Changes | None = None) -> list[Path]:
    """Write every file of the report into `folder`; what was written. Raises OSError.

    `changes` is what the report before this one said otherwise; None where there is none.
    """
    files = {
        "compat.json": dump(report.model_dump(mode="json")),
        "compat.schema.json": schema(),
        "COMPAT.md": render(report, "compat.md.jinja"),
        "index.html": render(report, "index.html.jinja", changes),
    }
    for name, text in files.items():
        put(folder / name, text)
    return [folder / name for name in files]


def render(report: Report, template: str, changes: Changes | None = None) -> str:
    """`report` as `template` shows it; whatever comes from somebody else's code is escaped."""
    view = View(report, changes)
    script, style = (_part(f"page/page.{kind}") for kind in ("js", "css"))
    return (
        _templates()
        .get_template(template)
        .render(
            report=report,
            page=view,
            seen=view.seen,
            glyphs=GLYPHS,
            last_line=summary.last_line(report),
            line=view.line,
            unexpected=summary.unexpected(report),
            undecided=summary.undecided(report),
            story=summary.story,
            held=summary.held,
            ranges=summary.ranges,
            advice=summary.advice,
            stack_glyphs=summary.STACK_GLYPHS,
            stack_words=summary.STACK_WORDS,
            compared={cell.id: cell.declared_observed for cell in report.cells},
            workaround=summary.workaround,
            link=link,
            highlight=highlight,
            sorts=SORTS,
            timings=None,
            script=script,
            script_digest=digest(script),
            style=style,
            style_digest=digest(style),
        )
        .rstrip()
        + "\n"
    )


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("suite.report"),
        autoescape=lambda name: name is not None and name.endswith(".html.jinja"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["cell_text"] = _cell_text
    templates.filters["said"] = said
    return templates


@cache
def _part(name: str) -> Markup:
    """A script or a style of our own, to stand in the page as it is: what is hashed is what stands there."""
    path = Path(__file__).parent / "templates" / name
    return Markup(path.read_text(encoding="utf-8").strip())


def _cell_text(text: str) -> str:
    """Somebody else's text inside a Markdown table: one line, with nothing that Markdown or HTML would act on."""
    line = " ".join(text.split())
    for mark, instead in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;"), ("`", "&#96;")):
        line = line.replace(mark, instead)
    for mark in "\\*_[]~":
        line = line.replace(mark, f"\\{mark}")
    return line
