"""The terminal of the commands: printed text is never markup, and never moves the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from suite.printable import printable

_WIDTH = 80


class Terminal(Console):
    """A console that prints any text as it is: markup in it has no effect, and it cannot move the cursor."""

    def __init__(self, width: int | None = None) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, width=width)
        # COLUMNS=0 is a terminal that does not say; rich would print nothing.
        if not self.width:
            self.width = _WIDTH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the parts of a renderable, such as a table or a bar, made printable."""
        for each in super().render(renderable, options):
            yield each if each.control else Segment(printable(each.text, lines=True), each.style)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError if the reader is gone; rich would exit as after an unexpected error."""
        raise BrokenPipeError


OUT = Terminal()
