"""Workarounds that help on their examples, and not everywhere; they need jax."""

from __future__ import annotations

import os
import signal
from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Workaround
from laboratory.cell.corpus import Seen, issue, right, well


def plain() -> Seen:
    """Is 2 + 2 still 4?"""
    return right()


def another() -> Seen:
    """Is 2 + 2 still 4 here?"""
    return right()


def ends() -> Seen:
    """Is 2 + 2 still 4 there?"""
    return right()


def root(x: Any) -> Any:
    """Return the square root."""
    import jax.numpy as jnp

    if x.ndim > 1:
        raise ValueError("only vectors")
    return jnp.sqrt(x)


def numpy_root(x: Any) -> Any:
    """Return the square root of the magnitude."""
    import numpy as np

    return np.sqrt(np.abs(x))


def raises() -> None:
    """Raise, as a program that does not help."""
    raise AssertionError("2 + 2 is not 5")


def dies() -> None:
    """End this process."""
    os.kill(os.getpid(), signal.SIGKILL)


_INPUTS = ("positive float32 vector", "float32 scalar", "positive float32 matrix")
ISSUE = issue(
    Case(plain, well, workaround=Workaround("Do.", well, elsewhere=Elsewhere(root, numpy_root, _INPUTS, rtol=1e-6))),
    Case(another, well, workaround=Workaround("Do.", well, elsewhere=raises)),
    Case(ends, well, workaround=Workaround("Do.", well, elsewhere=dies)),
)
