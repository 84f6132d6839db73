"""A donated array is not reused for a value that a loop or jnp.sum reads

In a jitted step that donates x, XLA gives `y = jnp.exp(x)` its own buffer if a loop reads y before the result
overwrites x (xla#45912). The peak memory is then two arrays instead of one. A maintainer calls the extra buffer a
shortcoming of XLA's buffer assignment, which xla#45947 addresses. If `jnp.sum` reads y, YNNPACK's reductions cause an
extra buffer for y, too (`read_by_a_sum`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _temporary(step: Callable[[Any], Any]) -> tuple[str, str]:
    """Return "copy" if a step with a donated argument of 1 MiB allocates a temporary buffer of 1 MiB."""
    import jax

    argument = jax.ShapeDtypeStruct((2**18,), "float32")
    stats = jax.jit(step, donate_argnums=0).lower(argument).compile().memory_analysis()
    if not stats or not stats.output_size_in_bytes:
        return "untold", "memory_analysis() tells nothing of a CPU"
    assert stats.alias_size_in_bytes == 2**20, stats
    beside = stats.temp_size_in_bytes >= 2**20
    return ("copy", "a temporary buffer of 1 MiB") if beside else ("in-place", "no temporary buffer of its size")


def read_by_a_loop() -> tuple[str, str]:
    """Does jnp.exp reuse the buffer of a donated array if a lax.fori_loop reads some of the result?"""
    import jax
    import jax.numpy as jnp

    def step(x: Any) -> Any:
        y = jnp.exp(x)
        return y * jax.lax.fori_loop(0, 8, lambda i, total: total + y[1000 * i], 0.0)

    return _temporary(step)


def read_by_nothing() -> None:
    """jnp.exp(x) * 2.0 reuses the buffer of the donated x."""
    import jax.numpy as jnp

    assert _temporary(lambda x: jnp.exp(x) * 2.0)[0] != "copy"


def in_three_steps() -> None:
    """Three jitted functions, one of them for the loop, donate both arrays and give the correct result."""
    import jax
    import jax.numpy as jnp

    x = jnp.zeros(2**18)
    y = jax.jit(jnp.exp, donate_argnums=0)(x)
    total = jax.jit(lambda y: jax.lax.fori_loop(0, 8, lambda i, total: total + y[1000 * i], 0.0))(y)
    result = jax.jit(lambda y, total: y * total, donate_argnums=0)(y, total)
    assert x.is_deleted()
    assert y.is_deleted()
    assert result[0] == 8.0
    assert _temporary(jnp.exp)[0] != "copy"


def three_other_steps() -> None:
    """Three jitted functions, one with a lax.while_loop, have no large buffer for int32 and float16 matrices."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def read(y: Any) -> Any:
        row = lambda c: (c[0] + 1, c[1] + y[c[0], 3])  # noqa: E731
        return jax.lax.while_loop(lambda c: c[0] < 5, row, (0, jnp.zeros((), y.dtype)))[1]

    first, loop = jax.jit(lambda x: x * x + 1, donate_argnums=0), jax.jit(read)
    last = jax.jit(lambda y, total: y * total, donate_argnums=0)
    for dtype in ("int32", "float16"):
        given = (np.arange(2**16).reshape(2**8, 2**8) % 7).astype(dtype)
        x = jnp.asarray(given)
        y = first(x)
        total = loop(y)
        compiled = (first.lower(y).compile(), loop.lower(y).compile(), last.lower(y, total).compile())
        found, squares = np.asarray(last(y, total)), given * given + 1
        assert x.is_deleted()
        assert y.is_deleted()
        np.testing.assert_array_equal(found, squares * squares[:5, 3].sum(dtype=dtype))
        stats = (each.memory_analysis() for each in compiled)
        assert all(each.temp_size_in_bytes < given.nbytes for each in stats if each and each.output_size_in_bytes)


def read_by_a_sum() -> tuple[str, str]:
    """Does jnp.exp reuse the buffer of a donated array if jnp.sum reads the result?"""
    import jax.numpy as jnp

    def step(x: Any) -> Any:
        y = jnp.exp(x)
        return y * jnp.sum(y)

    return _temporary(step)


def other_reductions() -> None:
    """With an empty --xla_cpu_experimental_ynn_fusion_type, jnp.max and softmax allocate no large buffer."""
    import jax
    import jax.numpy as jnp

    def by_maximum(x: Any) -> Any:
        y = jnp.exp(x)
        return y / jnp.max(y)

    assert _temporary(by_maximum)[0] != "copy"
    for shape in ((2**18,), (2**9, 2**9), (2**6, 2**6, 2**6)):
        for step in (by_maximum, jax.nn.softmax):
            argument = jax.ShapeDtypeStruct(shape, "float32")
            stats = jax.jit(step, donate_argnums=0).lower(argument).compile().memory_analysis()
            assert not stats or stats.temp_size_in_bytes < 2**20, (shape, stats)


# A training step that donates its parameters is not named: its loops are those of a loss.
_DONATED = (
    "jax.jit(fun, donate_argnums, donate_argnames) if (given(donate_argnums) or given(donate_argnames)) "
    "and not uses('jax.grad', 'jax.value_and_grad')"
)
_UNTOLD = Rule("untold", "jaxlib<0.4.29")

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="xla#45912", docs="jax:buffer_donation.html", discussion="xla#45947"),
    control=read_by_nothing,
    behaviours={"copy": "affected", "untold": "absent"},
    cases=(
        Case(
            read_by_a_loop,
            rules=(_UNTOLD, Rule("copy", "jaxlib>=0.7.2,<0.11.1", "xla#45912"), Rule("in-place")),
            workaround=Workaround(
                "Except in bfloat16, make three jitted calls: before the loop, the loop, after the loop.",
                in_three_steps,
                elsewhere=three_other_steps,
            ),
            touches=(f"{_DONATED} and uses('jax.lax.fori_loop', 'jax.lax.while_loop', 'jax.lax.scan')",),
        ),
        Case(
            read_by_a_sum,
            rules=(_UNTOLD, Rule("in-place", "jaxlib<0.10.2"), Rule("copy")),
            workaround=Workaround(
                "For float32 jnp.exp, set XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type=, "
                "with which jnp.var and jnp.linalg.norm copy.",
                environment={"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type="},
                fails=("jaxlib<0.8.1",),  # it does not know the flag, and aborts
                elsewhere=other_reductions,
            ),
            touches=(f"{_DONATED} and uses('jax.numpy.exp') and uses('jax.numpy.sum', 'jax.numpy.max')",),
        ),
    ),
)
