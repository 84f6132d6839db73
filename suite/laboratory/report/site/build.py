"""The builder of the site: pages, and the style, scripts and data that they load. Pure.

Every page works from a file and without scripts. No page has the date of its making, so the same facts give the same
bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from jax_stack_compat.base.address import address, link
from jax_stack_compat.base.printable import printable
from jax_stack_compat.judge.verdict_table import GLYPHS, PROPERTIES
from jax_stack_compat.libraries.known import KnownLibrary
from laboratory.cores import over_cores
from laboratory.orders.compared import DeviceCell
from laboratory.programs.model import Programs
from laboratory.report import summary
from laboratory.report.compare import tally
from laboratory.report.markup import said
from laboratory.report.model import Report
from laboratory.report.site import install
from laboratory.report.site.facts import Facts
from laboratory.report.site.marked import highlight, linked, prose, verdict_styles
from laboratory.report.site.numbers import NOTHING, MeasuredNumbers, call
from laboratory.report.site.page import Page
from laboratory.report.site.pages import (
    cells,
    devices,
    findings,
    front,
    issues,
    libraries,
    matrix,
    numbers,
    programs,
    releases,
    seeds,
    timings,
)
from laboratory.report.site.timeline import TURNS
from laboratory.report.site.timings import TimedMachine, amount, turned
from laboratory.report.standing import label
from laboratory.timings.quantities import duration, quantity

ASSETS = Path(__file__).parent / "assets"
Kind = Callable[[Facts], Iterator[Page]]
KINDS: tuple[Kind, ...] = (
    front.pages,
    issues.pages,
    matrix.pages,
    libraries.pages,
    seeds.pages,
    cells.pages,
    findings.pages,
    releases.pages,
    numbers.pages,
    timings.pages,
    programs.pages,
    devices.pages,
)


def site(
    report: Report,
    timed: tuple[TimedMachine, ...],
    compiled: tuple[Programs, ...] = (),
    measured: MeasuredNumbers = NOTHING,
    on_devices: tuple[DeviceCell, ...] = (),
    of_libraries: Mapping[str, KnownLibrary] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the text of each file of the site, by path."""
    facts = Facts(report, timed, compiled, measured, on_devices, of_libraries)
    parts = {path.name: path.read_text(encoding="utf-8") for path in sorted(ASSETS.iterdir())}
    # The shared style comes first, so that a page's own style can override it.
    styles = sorted((name for name in parts if name.endswith(".css")), key=lambda name: (name != "style.css", name))
    files = {"assets/style.css": "".join([*(parts[name] for name in styles), verdict_styles(), "\n"])}
    files |= {f"assets/{name}": text for name, text in parts.items() if name.endswith(".js")}

    def pages(kinds: Sequence[Kind]) -> dict[str, str]:
        made: dict[str, str] = {}
        for page in (page for kind in kinds for page in kind(facts)):
            made |= {page.path: render(page, facts), **page.data}
        return made

    # The pages of issues take as long as all others together.
    others: Sequence[Kind] = [kind for kind in KINDS if kind is not issues.pages]
    for made in over_cores(pages, [others, [issues.pages]]):
        files |= made
    return files


def render(page: Page, facts: Facts) -> str:
    """Return a page as HTML; foreign text is escaped."""
    root = "../" * page.path.count("/")
    home = (address("Homepage") or "").rstrip("/")
    template = _templates().get_template(page.template)
    text = template.render(page=page, view=page.view, facts=facts, root=root, home=home)
    # Drop end tags that HTML does not need.
    lean = re.sub(r"</(?:t[dhr]|li|dt|dd|option)>", "", text)
    # Foreign text may contain control characters or bidirectional marks.
    return printable(lean.strip(), lines=True) + "\n"


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("laboratory.report.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"said": said, "prose": prose}
    of_report = (summary.held, summary.advice, summary.replay, tally)
    of_install = (install.pip_line, install.constrained, install.lock)
    own = (*of_report, *of_install, link, linked, highlight, duration, quantity, turned, amount, label, call)
    templates.globals |= {function.__name__: function for function in own}
    templates.globals |= {"glyphs": _marked(GLYPHS), "properties": PROPERTIES, "turn_words": TURNS}
    templates.globals |= {"stack_glyphs": _marked(summary.STACK_GLYPHS), "stack_words": summary.STACK_WORDS}
    templates.globals |= {"program_page": programs.path, "statuses": numbers.STATUSES, "numbers_page": numbers.path}
    templates.globals |= {"device_page": devices.path}
    templates.globals |= {"constraints_path": install.path, "library_mark": libraries.mark}
    return templates


def _marked(glyphs: Mapping[Any, str]) -> Mapping[Any, Markup]:
    """Return our glyphs as safe markup."""
    return {name: Markup(glyph) for name, glyph in glyphs.items()}
