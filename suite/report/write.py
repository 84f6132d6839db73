"""The report → files: JSON and its schema, and what is made of that alone: a page, Markdown, a feed, badges, JUnit."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from suite.cell.atomic import write as put
from suite.errors import BadFile, Fault
from suite.files import dump, read
from suite.judge.table import GLYPHS, TABLE
from suite.report import compact, summary
from suite.report.changes import since
from suite.report.diff import tally
from suite.report.formats.badges import badges
from suite.report.formats.feed import feed
from suite.report.formats.junit import junit
from suite.report.formats.length_limit import fit
from suite.report.formats.markup import cell_text, said
from suite.report.model import Report
from suite.report.site import timings
from suite.report.site.embed import digest, highlight, link, verdict_styles
from suite.report.site.page import View
from suite.report.site.timings import Machine, amount, duration
from suite.report.upstream_texts import SORTS
from suite.timings.results import COMPARED, NOISE, RESULTS

TIMINGS = "timings.json"


def schema() -> str:
    """The JSON Schema of compat.json."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Report.model_json_schema()})


def write(report: Report, folder: Path) -> list[Path]:
    """Write every file of the report into `folder`; what was written. Raises BadFile, OSError."""
    timed = timings.machines(RESULTS, NOISE, COMPARED)
    own = {"compat.json": compact.text(report), TIMINGS: timings.text(timed)}
    return _put_all({**own, **siblings(report, folder / "compat.json", timed)}, folder)


def publish(report: Report, folder: Path) -> Report:
    """Write `report` into `folder` with what changed since the one that lies there; as it was written.

    A report that cannot be read costs nobody a run: then nothing is said of it. Raises BadFile, OSError.
    """
    try:
        changed = since(read(Report, folder / "compat.json"), report)
    except BadFile:
        changed = None
    dated = report.model_copy(update={"since": changed})
    write(dated, folder)
    return dated


def renew_timings(folder: Path) -> None:
    """Write the timings.json in `folder` from what the benchmarks have measured. Raises BadFile, OSError."""
    put(folder / TIMINGS, timings.text(timings.machines(RESULTS, NOISE, COMPARED)))


def rebuild(folder: Path) -> list[Path]:
    """Write anew what is made of the compat.json and the timings.json in `folder`. Raises BadFile, OSError."""
    source = folder / "compat.json"
    return _put_all(siblings(read(Report, source), source, timings.load(folder / TIMINGS)), folder)


def siblings(report: Report, source: Path, timed: tuple[Machine, ...]) -> dict[str, str]:
    """Name → text of each file that is made of the report, which is in `source`, and its timings. Raises BadFile."""
    made = badges(report)
    # A name becomes a path, and the report may be anybody's.
    if odd := [name for name in made if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name)]:
        raise BadFile([Fault(source, "issues.id", f"{name!r} is no id: lower case, digits and dashes") for name in odd])
    return {
        "compat.schema.json": schema(),
        "COMPAT.md": fit(render(report, "compat.md.jinja")),
        "index.html": _lean(render(report, "index.html.jinja", timed)),
        "feed.xml": feed(report),
        "junit.xml": junit(report),
        **{f"badges/{name}.json": text for name, text in made.items()},
    }


def _put_all(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write `files` into `folder`, and remove badges of what is no longer there; what was written."""
    for name, text in files.items():
        put(folder / name, text)
    written = [folder / name for name in files]
    for path in set((folder / "badges").glob("*.json")).difference(written):
        path.unlink()
    return written


def render(report: Report, template: str, timed: tuple[Machine, ...] = ()) -> str:
    """`report` and its timings as `template` shows them; whatever comes from somebody else's code is escaped."""
    view = View(report)
    script = _part("page/rules.js") + "\n" + _part("page/page.js")
    style = _part("page/page.css") + "\n" + verdict_styles()
    on_line = {cell.id for cell in view.line}
    shown = _templates().get_template(template)
    text = shown.render(
        report=report,
        page=view,
        seen=view.seen,
        line=view.line,
        last_line=summary.last_line(report),
        unexpected=summary.unexpected(report),
        undecided=summary.undecided(report),
        of_line=lambda observations: [each for each in observations if each.cell in on_line],
        compared={cell.id: cell.declared_observed for cell in report.cells},
        timed=_drawn(timed),
        script=script,
        script_digest=digest(script),
        style=style,
        style_digest=digest(style),
    )
    return text.rstrip() + "\n"


def _lean(page: str) -> str:
    """The page without what HTML takes as said: the ends of cells and rows, of which there are ten thousands."""
    return re.sub(r"</t[dhr]>", "", page)


def _drawn(timed: tuple[Machine, ...]) -> Sequence[tuple[Machine, Mapping[str, Markup]]]:
    """Each machine that has timings, and its charts."""
    if not timed:
        return ()
    # `nox -j` passes on all that is logged, and what draws would log what it thinks of each font.
    logging.getLogger("matplotlib").setLevel(logging.WARNING)
    # It is slow to import, and not every tree has something to draw.
    from suite.report.site.chart import drawn

    return [(each, drawn([chart for of in each.sections for chart in of.charts], each.releases)) for each in timed]


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("suite.report.site"),
        autoescape=lambda name: name is not None and name.endswith(".html.jinja"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"cell_text": cell_text, "said": said}
    of_report = (summary.story, summary.held, summary.ranges, summary.advice, summary.workaround, tally)
    templates.globals |= {each.__name__: each for each in (*of_report, link, highlight, duration, amount)}
    templates.globals |= {"glyphs": GLYPHS, "verdicts": TABLE, "sorts": SORTS}
    templates.globals |= {"stack_glyphs": summary.STACK_GLYPHS, "stack_words": summary.STACK_WORDS}
    return templates


@cache
def _part(name: str) -> Markup:
    """A script or a style of our own, to stand in the page as it is: what is hashed is what stands there."""
    path = Path(__file__).parent / "site" / "templates" / name
    return Markup(path.read_text(encoding="utf-8").strip())
