"""The terminal of the commands, which prints text literally."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from jax_stack_compat.base.printable import inert

_WIDTH = 80


class Terminal(Console):
    """A console that prints text literally: control characters and commands of a workflow are spelled out."""

    def __init__(self, width: int | None = None) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, width=width)
        # COLUMNS=0 means that the width is unknown; rich would print nothing.
        if not self.width:
            self.width = _WIDTH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, such as a table or a bar, with inert text."""
        for each in super().render(renderable, options):
            yield each if each.control else Segment(inert(each.text, lines=True), each.style)

    def on_broken_pipe(self) -> None:
        """If the reader is gone, raise BrokenPipeError; rich would exit as if the suite had failed."""
        raise BrokenPipeError


OUT = Terminal()
