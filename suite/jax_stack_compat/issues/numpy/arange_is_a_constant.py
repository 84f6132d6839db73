"""jnp.arange with a start or a step is a constant in what is compiled: up to jax 0.8.1, and 0.9.2

    jax.jit(lambda: jnp.arange(1, n)).lower()    # n numbers in the program, up to jax 0.8.1
    jax.jit(lambda: jnp.arange(0, n, 2)).lower() # n / 2 numbers, up to jax 0.9.2

You'd expect an `iota`, one instruction, which is what `jnp.arange(n)` gives. The others were made by NumPy and put into
the program, which grows with n, and so does the time to compile it: jax#32542 has a large one that is never done. A
start is an addition since 0.8.2 (jax#33602), a step a multiplication since 0.10.0 (3dd61872d0); the changelog has it
under 0.9.2. What is read here is the text that is lowered. The values changed too where floats are concerned: see
arange-rounds-its-steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _lowered(function: Callable[[], Any]) -> tuple[str, str]:
    """Whether a function of nothing is lowered to a text that grows with its thousand numbers."""
    import jax

    long = len(jax.jit(function).lower().as_text()) > 3000
    return ("constant", "its numbers are in the text") if long else ("computed", "its numbers are not in the text")


def start() -> tuple[str, str]:
    """Is arange(1, n) computed by the program?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(1, 1000))


def from_zero() -> None:
    """From 0 and by 1 it is computed on every release, and so is linspace."""
    import jax.numpy as jnp

    assert _lowered(lambda: jnp.arange(1000))[0] == "computed"
    assert _lowered(lambda: jnp.linspace(0.0, 1.0, 1000))[0] == "computed"
    assert jnp.arange(1, 6, 2).tolist() == [1, 3, 5]


def written_out() -> None:
    """The start and the step written out."""
    import jax.numpy as jnp

    assert _lowered(lambda: 1 + 2 * jnp.arange(1000))[0] == "computed"
    assert (1 + 2 * jnp.arange(3)).tolist() == jnp.arange(1, 7, 2).tolist()
    assert _lowered(lambda: 5.0 + jnp.arange(995.0))[0] == "computed"


def floats() -> tuple[str, str]:
    """Is arange(5.0, n)?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(5.0, 1000.0))


def step() -> tuple[str, str]:
    """Is arange(0, n, 2)?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(0, 2000, 2))


def downwards() -> tuple[str, str]:
    """Is arange(n, 0, -1)?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(1000, 0, -1))


_STEP = (Rule("constant", "jax<0.10.0"), Rule("computed", "", "3dd61872d0"))

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#32542", fix="jax#33602 jax@3dd61872d0"),
    control=from_zero,
    behaviours={"constant": "affected", "computed": "clear"},
    rules=(Rule("constant", "jax<0.8.2", "jax#32542"), Rule("computed", "", "jax#33602")),
    workaround=Workaround(
        "Write it out, in integers, and convert last: (start + step * jnp.arange(n)).astype(dtype).", written_out
    ),
    cases=(
        Case(
            start, touches=("jax.numpy.arange(start, stop, step) if start != 0 and stop >= 1000 and not given(step)",)
        ),
        Case(
            floats,
            touches=(
                "jax.numpy.arange(start, stop, step)"
                " if type(start) == 'float' and start != 0 and stop >= 1000 and not given(step)",
            ),
        ),
        Case(
            step,
            rules=_STEP,
            touches=(
                "jax.numpy.arange(start, stop, step) if step > 0 and (stop >= 1000 or start >= 1000 or step < 0.001)",
            ),
        ),
        Case(downwards, rules=_STEP, touches=("jax.numpy.arange(start, stop, step) if step < 0 and start >= 1000",)),
    ),
)
