"""An issue that depends on the release it runs on: of packages of the stack that hold their version, and no more.

It is run through the real probe, so it is cell side.
"""

from __future__ import annotations

import os
from pathlib import Path

from suite.cell.issue import Case, Expectation, Issue, JudgedAs, Seen

_BEHAVIOURS: dict[str, JudgedAs] = {"right": "clear", "wrong": "affected"}


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _told(wrong: bool) -> Seen:
    return Seen("wrong", "2 + 2 is 5") if wrong else Seen("right", "2 + 2 is 4")


def changes() -> Seen:
    """Wrong from jax 0.4.24."""
    import jax

    return _told(_release(jax.__version__) >= (0, 4, 24))


def again() -> Seen:
    """Wrong, right from jax 0.4.21, and wrong again from 0.4.26."""
    import jax

    return _told(not (0, 4, 21) <= _release(jax.__version__) < (0, 4, 26))


def wavers() -> Seen:
    """The same as `changes`, but on jax 0.4.24 every second attempt is right."""
    import jax

    if jax.__version__ == "0.4.24":
        tally = Path(os.environ["CORPUS_FOLDER"], "tally")
        count = len(tally.read_text()) if tally.exists() else 0
        tally.write_text("x" * (count + 1))
        return _told(count % 2 == 0)
    return changes()


def library() -> Seen:
    """Wrong up to Equinox 0.11.6."""
    import equinox

    return _told(_release(equinox.__version__) < (0, 11, 7))


def well() -> None:
    """Nothing is wrong."""


ISSUE = Issue(
    id="by-release",
    title="It depends on the release",
    kind="crash",
    story="A fixture.",
    upstream=(),
    workaround="None.",
    cases=(
        Case(
            id="changes",
            question="Is it wrong?",
            reproducer=changes,
            control=well,
            behaviours=_BEHAVIOURS,
            expectations=(
                Expectation("right", ("jax<0.4.24",), "seen before"),
                Expectation("wrong", ("jax>=0.4.24",), "seen since"),
            ),
        ),
        Case(
            id="again",
            question="Is it wrong again?",
            reproducer=again,
            control=well,
            behaviours=_BEHAVIOURS,
            expectations=(
                Expectation("wrong", ("jax<0.4.21",), "seen at first"),
                Expectation("right", ("jax>=0.4.21,<0.4.25",), "thought to have come back with 0.4.25"),
                Expectation("wrong", ("jax>=0.4.25",), "thought to have come back with 0.4.25"),
            ),
        ),
        Case("wavers", "Does it waver?", wavers, well, _BEHAVIOURS, ()),
        Case("library", "Is it the library?", library, well, _BEHAVIOURS, (), needs=("jax", "jaxlib", "equinox")),
    ),
)
