"""The report → files: JSON and its schema, Markdown, and one self-contained page."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from suite.atomic import write as put
from suite.files import dump
from suite.judge import GLYPHS
from suite.report import summary
from suite.report.model import Observation, Report


def schema() -> str:
    """The JSON Schema of compat.json."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Report.model_json_schema()})


def write(report: Report, folder: Path) -> list[Path]:
    """Write every file of the report into `folder`; what was written. Raises OSError."""
    files = {
        "compat.json": dump(report.model_dump(mode="json")),
        "compat.schema.json": schema(),
        "COMPAT.md": render(report, "compat.md.jinja"),
        "index.html": render(report, "index.html.jinja"),
    }
    for name, text in files.items():
        put(folder / name, text)
    return [folder / name for name in files]


def render(report: Report, template: str) -> str:
    """`report` as `template` shows it; whatever comes from somebody else's code is escaped."""
    templates = Environment(
        loader=PackageLoader("suite.report"),
        autoescape=template.endswith(".html.jinja"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["cell_text"] = _cell_text
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


def _cell_text(text: str) -> str:
    """Somebody else's text inside a Markdown table: one line, with nothing that Markdown or HTML would act on."""
    line = " ".join(text.split())
    for mark, instead in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;"), ("`", "&#96;")):
        line = line.replace(mark, instead)
    for mark in "\\*_[]~":
        line = line.replace(mark, f"\\{mark}")
    return line
