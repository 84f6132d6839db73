"""Every part notes that it was run."""

import os

from jax_stack_compat.cell import Workaround
from laboratory.cell.corpus import Seen, case, issue, note, right


def _tally(part: str) -> None:
    """Note that a part was run, and in which process."""
    note(f"{part} {os.getpid()}", "tally")


def forked() -> Seen:
    """Is it run just once?"""
    _tally("reproducer")
    return right()


def under_flags() -> Seen:
    """Does it see the variables that were asked for, and no others?"""
    _tally(os.environ.get("TALLY", "reproducer"))
    return "right" if "XLA_FLAGS" in os.environ else "wrong", os.environ.get("XLA_FLAGS", "none")


def workaround() -> None:
    """Works."""
    _tally("workaround")


def control() -> None:
    """Works."""
    _tally("control")


FLAGS = {"XLA_FLAGS": "--xla_of_the_case"}
MORE = Workaround("Set it.", environment={"TALLY": "again", "XLA_FLAGS": "--xla_of_the_workaround"})

ISSUE = issue(
    case(forked, workaround=workaround, control=control),
    case(forked, "apart", workaround=workaround, control=control, isolation="fork-and-exit"),
    case(forked, "in_interpreter", workaround=workaround, control=control, isolation="interpreter"),
    case(forked, "without_workaround", control=control),
    case(forked, "by_pin", control=control, workaround=Workaround("Stay.", pin="jax<0.5")),
    case(under_flags, environment=FLAGS, host_devices=2, workaround=MORE, control=control),
    case(under_flags, "helped", workaround=MORE, control=control, expected="wrong"),
)
