"""jnp.arange with a start or step puts all its numbers in the program

`jnp.arange(n)` is lowered to one `iota` instruction. With a start or a step, the program stored NumPy's numbers as a
constant, so compile time exploded for large arrays (jax#32542). jax#33602 adds the start to an `iota`; 3dd61872d0 also
multiplies by the step, because large arrays on the host are "probably more damaging than not matching NumPy". The
values of float ranges changed, too: see arange-rounds-its-steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _lowered(function: Callable[[], Any]) -> tuple[str, str]:
    """Return "constant" if the lowered text holds a thousand numbers."""
    import jax

    long = len(jax.jit(function).lower().as_text()) > 3000
    return ("constant", "its numbers are in the text") if long else ("computed", "its numbers are not in the text")


def start() -> tuple[str, str]:
    """Does the lowered program compute jnp.arange(1, n), rather than hold its numbers as a constant?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(1, 1000))


def from_zero() -> None:
    """A program computes jnp.arange(n) and jnp.linspace, instead of storing their numbers."""
    import jax.numpy as jnp

    assert _lowered(lambda: jnp.arange(1000))[0] == "computed"
    assert _lowered(lambda: jnp.linspace(0.0, 1.0, 1000))[0] == "computed"
    assert jnp.arange(1, 6, 2).tolist() == [1, 3, 5]


def written_out() -> None:
    """A program computes 1 + 2 * jnp.arange(n) and 5.0 + jnp.arange(n), instead of storing their numbers."""
    import jax.numpy as jnp

    assert _lowered(lambda: 1 + 2 * jnp.arange(1000))[0] == "computed"
    assert (1 + 2 * jnp.arange(3)).tolist() == jnp.arange(1, 7, 2).tolist()
    assert _lowered(lambda: 5.0 + jnp.arange(995.0))[0] == "computed"


def other_counts() -> None:
    """In other dtypes, start + step * jnp.arange(n) agrees with np.arange, and a program computes it."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def counted(start: float, step: float, n: int, dtype: str) -> Any:
        return jax.jit(lambda: (start + step * jnp.arange(n)).astype(dtype))()

    for start, step, n, dtype in (
        *((5, 3, 1000, "int16"), (1000, -1, 1000, "int32"), (250, -2, 120, "uint8"), (7, 1, 0, "int32")),
        *((0.5, 0.25, 1000, "float32"), (5.0, 1, 300, "float16"), (1, 1, 3000, "float32"), (9, 1, 1, "float32")),
    ):
        wanted = np.arange(start, start + step * n, step).astype(dtype)
        np.testing.assert_array_equal(counted(start, step, n, dtype), wanted, strict=True)
    assert _lowered(lambda: (1000 - jnp.arange(1000)).astype("bfloat16"))[0] == "computed"


def floats() -> tuple[str, str]:
    """Does the lowered program compute jnp.arange(5.0, n), rather than hold its numbers as a constant?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(5.0, 1000.0))


def step() -> tuple[str, str]:
    """Does the lowered program compute jnp.arange(0, n, 2), rather than hold its numbers as a constant?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(0, 2000, 2))


def downwards() -> tuple[str, str]:
    """Does the lowered program compute jnp.arange(n, 0, -1), rather than hold its numbers as a constant?"""
    import jax.numpy as jnp

    return _lowered(lambda: jnp.arange(1000, 0, -1))


_STEP = (Rule("constant", "jax<0.10.0"), Rule("computed", "", "3dd61872d0"))
_JIT = "(within('jax.jit', 'equinox.filter_jit') or unseen)"
# A thousand numbers are in the text as well, but folding took 0.1 s at ten thousand, and 5 s at a million.
_MANY = "not start >= 1000 and stop >= 1000 and (stop >= 100000 or unseen)"
_DOWN = "stop < 1000 and start >= 1000 and (start >= 100000 or unseen)"
_ARANGE = "jax.numpy.arange(start, stop, step)"
_START = f"{_ARANGE} if start != 0 and {_MANY} and not given(step) and {_JIT}"

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#32542", fix="jax#33602 jax@3dd61872d0"),
    control=from_zero,
    behaviours={"constant": "affected", "computed": "clear"},
    rules=(Rule("constant", "jax<0.8.2", "jax#32542"), Rule("computed", "", "jax#33602")),
    workaround=Workaround(
        "If all n numbers fit int32, write (start + step * jnp.arange(n)).astype(dtype).",
        written_out,
        elsewhere=other_counts,
    ),
    cases=(
        Case(start, touches=(f"{_START} and type(start) != 'float'",)),
        Case(floats, touches=(f"{_START} and type(start) == 'float'",)),
        Case(
            step,
            rules=_STEP,
            touches=(f"{_ARANGE} if (0 < step <= 10 and {_MANY} or 0 < step < 0.00001) and {_JIT}",),
        ),
        Case(downwards, rules=_STEP, touches=(f"{_ARANGE} if -10 <= step < 0 and {_DOWN} and {_JIT}",)),
    ),
)
