"""The page devices.html, and a page for each device: what ran there, beside the CPU with the same interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from laboratory.orders import compared
from laboratory.orders.archives import NumberRow
from laboratory.orders.compared import DeviceCell, ProgramPair
from laboratory.programs.targets import TARGETS
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page


@dataclass(frozen=True)
class DeviceView:
    """The view of a device's page.

    `numbers` has the calls that differ by more than rounding, those first that are right on the CPU alone. `quiet`
    counts the others by kind. `programs` has the programs beside their predictions.
    """

    cell: DeviceCell
    numbers: list[NumberRow]
    quiet: Mapping[str, int]
    programs: list[ProgramPair]

    @property
    def predicted(self) -> int:
        """The number of programs whose counts were predicted without the device."""
        return sum(pair.is_same for pair in self.programs)


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the list of devices and a page for each, if any results came home."""
    if facts.devices:
        views = [_view(facts, cell) for cell in facts.devices]
        yield Page("devices.html", "devices.html.jinja", "Devices", views)
        for view in views:
            stack = view.cell.stack
            title = f"jax {stack.packages['jax']} on {stack.kind}"
            yield Page(path(view.cell.id), "device.html.jinja", title, view)


def path(cell: str) -> str:
    """Return the path of a device's page."""
    return f"devices/{cell}.html"


def _view(facts: Facts, cell: DeviceCell) -> DeviceView:
    rows = cell.run.differences
    listed = [row for row in rows if row.is_listed]
    listed.sort(key=lambda row: (row.cpu != "right", row.function, row.form))
    quiet = Counter(row.kind for row in rows if not row.is_listed)
    of_kind = [found for found in facts.programs if cell.stack.kind.startswith(TARGETS[found.target].kinds)]
    pairs = [pair for compiled in of_kind for pair in compared.programs(cell.run, compiled)]
    return DeviceView(cell, listed, quiet, pairs)
