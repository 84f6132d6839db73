"""The report → files: JSON and its schema, and what is made of that alone: a page, Markdown, a feed, badges, JUnit."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from suite.errors import BadFile, Fault, Misused, shown
from suite.files import dump, read, replace_all
from suite.judge.table import GLYPHS, TABLE
from suite.printable import printable
from suite.report import compact, summary
from suite.report.changes import since
from suite.report.diff import tally
from suite.report.formats import badges
from suite.report.formats.compat_md import compat_md
from suite.report.formats.feed import feed
from suite.report.formats.junit import junit
from suite.report.formats.markup import address, cell_text, in_markdown, prose, said
from suite.report.formats.observations_csv import observations_csv
from suite.report.model import Report
from suite.report.site import timings
from suite.report.site.embed import digest, highlight, link, verdict_styles
from suite.report.site.page import View
from suite.report.site.timings import Machine, amount, duration
from suite.report.upstream_texts import SORTS
from suite.timings.results import COMPARED, NOISE, RESULTS

TIMINGS = "timings.json"
_ID = re.compile(r"[a-z0-9][a-z0-9-]*")


def schema() -> str:
    """The JSON Schema of compat.json."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Report.model_json_schema()})


def write(report: Report, folder: Path) -> list[Path]:
    """Write every file of the report into `folder`; what was written. Raises BadFile, Misused, OSError."""
    timed = timings.machines(RESULTS, NOISE, COMPARED)
    own = {"compat.json": compact.text(report), TIMINGS: timings.text(timed)}
    return _put_all({**own, **siblings(report, folder / "compat.json", timed)}, folder)


def publish(report: Report, folder: Path) -> Report:
    """Write `report` into `folder` with what changed since the one that lies there; as it was written.

    A report that cannot be read costs nobody a run: then nothing is said of it. Raises BadFile, Misused, OSError.
    """
    former = _former(folder)
    dated = report.model_copy(update={"since": since(former, report) if former else None})
    write(dated, folder)
    return dated


def rebuild(folder: Path, *, timed_anew: bool = False) -> list[Path]:
    """Write anew what is made of the compat.json and the timings.json in `folder`. Raises BadFile, Misused, OSError.

    `timed_anew`: and that timings.json, of what the benchmarks have measured.
    """
    source = folder / "compat.json"
    report = read(Report, source)
    timed = timings.machines(RESULTS, NOISE, COMPARED) if timed_anew else timings.load(folder / TIMINGS)
    own = {TIMINGS: timings.text(timed)} if timed_anew else {}
    return _put_all({**own, **siblings(report, source, timed)}, folder)


def siblings(report: Report, source: Path, timed: tuple[Machine, ...]) -> dict[str, str]:
    """Name → text of each file that is made of the report, which is in `source`, and its timings. Raises BadFile."""
    made = badges.badges(report)
    # A name becomes a path, and the report may be anybody's.
    if odd := [name for name in made if not _ID.fullmatch(name)]:
        raise BadFile([Fault(source, "issues.id", f"{name!r} is no id: lower case, digits and dashes") for name in odd])
    return {
        "compat.schema.json": schema(),
        "COMPAT.md": compat_md(report),
        "index.html": _lean(render(report, "index.html.jinja", timed)),
        "feed.xml": feed(report),
        "junit.xml": junit(report),
        "observations.csv": observations_csv(report),
        **{f"badges/{name}.json": text for name, text in made.items()},
    }


def _put_all(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write `files` into `folder`, all or none, and remove the badges that only the report there had; what was written.

    Nothing else in the folder is touched, and nothing is written over what is no report's. Raises Misused, OSError.
    """
    if not (folder / "compat.json").exists():
        for name in files:
            if (folder / name).exists():
                raise Misused(f"no report wrote {shown(folder / name)}, without a compat.json beside it: name another")
    former = _former(folder)
    known = {f"badges/{name}.json" for name in badges.names(former) if _ID.fullmatch(name)} if former else set()
    replace_all(folder, files, sorted(known.difference(files)))
    return [folder / name for name in files]


def _former(folder: Path) -> Report | None:
    """The report that lies in `folder`; None where none does that can be read."""
    try:
        return read(Report, folder / "compat.json")
    except BadFile:
        return None


def render(report: Report, template: str, timed: tuple[Machine, ...] = ()) -> str:
    """`report` and its timings as `template` shows them; whatever comes from somebody else's code is escaped."""
    view = View(report)
    script = _part("page/rules.js") + "\n" + _part("page/page.js")
    style = _part("page/page.css") + "\n" + verdict_styles()
    on_line = {cell.id for cell in view.line}
    text = (
        _templates(page=template.endswith(".html.jinja"))
        .get_template(template)
        .render(
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
    )
    # A control or a mark that turns text round may stand in anything that came from elsewhere.
    return printable(text.rstrip(), lines=True) + "\n"


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
def _templates(*, page: bool) -> Environment:
    """Templates of the page, or of Markdown: in both what they show is escaped, unless it is marked as escaped."""
    templates = Environment(
        loader=PackageLoader("suite.report.site"),
        autoescape=page,
        finalize=None if page else _as_markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {each.__name__: each for each in (address, cell_text, prose, said)}
    of_report = (summary.story, summary.held, summary.ranges, summary.advice, summary.workaround, tally)
    templates.globals |= {each.__name__: each for each in (*of_report, link, highlight, duration, amount)}
    templates.globals |= {"glyphs": _marked(GLYPHS), "verdicts": TABLE, "sorts": SORTS}
    templates.globals |= {"stack_glyphs": _marked(summary.STACK_GLYPHS), "stack_words": summary.STACK_WORDS}
    return templates


def _marked(glyphs: Mapping[Any, str]) -> Mapping[Any, Markup]:
    """Glyphs of our own, which are no markup and stand in code too."""
    return {name: Markup(glyph) for name, glyph in glyphs.items()}


def _as_markdown(value: object) -> object:
    return in_markdown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _part(name: str) -> Markup:
    """A script or a style of our own, to stand in the page as it is: what is hashed is what stands there."""
    path = Path(__file__).parent / "site" / "templates" / name
    return Markup(path.read_text(encoding="utf-8").strip())
