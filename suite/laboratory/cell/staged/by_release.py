"""Cases whose behaviour depends on the release; the packages contain only their version.

The real probe runs this module, so it is code for a cell.
"""

import os
from collections.abc import Callable
from pathlib import Path

from jax_stack_compat.cell.issue import Case, Issue, Rule, Seen


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _told(wrong: bool) -> Seen:
    return ("wrong", "2 + 2 is 5") if wrong else ("right", "2 + 2 is 4")


def changes() -> Seen:
    """Is it wrong? From jax 0.4.24."""
    import jax

    return _told(_release(jax.__version__) >= (0, 4, 24))


def again() -> Seen:
    """Is it wrong again? It is right from jax 0.4.21 to 0.4.25."""
    import jax

    return _told(not (0, 4, 21) <= _release(jax.__version__) < (0, 4, 26))


def wavers() -> Seen:
    """Does it waver? The same as `changes`, but on jax 0.4.24 every second attempt is right."""
    import jax

    if jax.__version__ == "0.4.24":
        tally = Path(os.environ["CORPUS_FOLDER"], "tally")
        count = len(tally.read_text()) if tally.exists() else 0
        tally.write_text("x" * (count + 1))
        return _told(count % 2 == 0)
    return changes()


def library() -> Seen:
    """Is it the library? Wrong up to Equinox 0.11.6."""
    import equinox

    return _told(_release(equinox.__version__) < (0, 11, 7))


def _well() -> None:
    pass


def _case(reproducer: Callable[[], Seen], *rules: Rule, needs: tuple[str, ...] = ("jax",)) -> Case:
    return Case(reproducer, _well, {"right": "clear", "wrong": "affected"}, rules, needs=needs)


ISSUE = Issue(
    "crash",
    (),
    (
        _case(changes, Rule("right", "jax<0.4.24", "seen before"), Rule("wrong", "", "seen since")),
        _case(
            again,
            Rule("wrong", "jax<0.4.21", "seen at first"),
            Rule("right", "jax<0.4.25", "thought to have come back with 0.4.25"),
            Rule("wrong", "", "thought to have come back with 0.4.25"),
        ),
        _case(wavers),
        _case(library, needs=("jax", "jaxlib", "equinox")),
    ),
)
