"""pl.num_programs returns the size of an earlier grid of the same kernel

While JAX traces a kernel, `pl.num_programs` is a constant. jax@dc57508356 traces kernels with `pe.trace_to_jaxpr`,
whose cache did not depend on the grid (jax#40847). So a kernel called with one block shape and several grids can get
the constant of an earlier grid (`one_kernel_for_three_grids`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def _programs(kernel: Callable[[], Callable[[Any], None]]) -> list[int]:
    """Return the numbers that a kernel writes in calls with grids of 2, 5 and 3."""
    import jax
    from jax.experimental import pallas as pl

    def told(programs: int) -> int:
        spec = pl.BlockSpec(block_shape=(8,), index_map=lambda i: (i,))
        shape = jax.ShapeDtypeStruct((8 * programs,), "int32")
        return int(pl.pallas_call(kernel(), shape, grid=(programs,), out_specs=spec, interpret=True)()[0])

    return [told(programs) for programs in (2, 5, 3)]


def _kernel(o_ref: Any) -> None:
    """Write the size of the grid: one function for all grids."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    o_ref[...] = jnp.full((8,), pl.num_programs(0), "int32")


def one_kernel_for_three_grids() -> tuple[str, str]:
    """Does pl.num_programs(0) return 2, 5 and 3 if pl.pallas_call gets one kernel with grids of 2, 5 and 3?"""
    return compare(_programs(lambda: _kernel), [2, 5, 3])


def one_grid() -> None:
    """Without a kernel, a jitted function fills an array with a constant."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(lambda: jnp.full((8,), 2))().tolist() == [2] * 8


def a_kernel_for_each() -> None:
    """With a new kernel function for each grid, pl.num_programs returns the size of that grid."""
    assert _programs(lambda: lambda o_ref: _kernel(o_ref)) == [2, 5, 3]


def sums_halved_at_the_end() -> None:
    """With a new lambda for each call, a kernel's last program halves a sum of blocks, for several grids under jit."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, o_ref: Any) -> None:
        row, column = pl.program_id(0), pl.program_id(1)
        is_first, is_last = row + column == 0, row + column == pl.num_programs(0) + pl.num_programs(1) - 2
        before = jnp.where(is_first, 0, o_ref[...])
        o_ref[...] = (before + x_ref[...]) * jnp.where(is_last, 0.5, 1.0)

    block = {"in_specs": [pl.BlockSpec(block_shape=(4, 2), index_map=lambda i, j: (i, j))]}
    block["out_specs"] = pl.BlockSpec(block_shape=(4, 2), index_map=lambda i, j: (0, 0))
    shape = jax.ShapeDtypeStruct((4, 2), "float32")
    for rows, columns in ((2, 1), (5, 1), (3, 1), (2, 3), (3, 2), (2, 1)):
        x = jnp.arange(8.0 * rows * columns).reshape(4 * rows, 2 * columns)
        halved = pl.pallas_call(lambda *refs: kernel(*refs), shape, grid=(rows, columns), interpret=True, **block)
        assert jax.jit(halved)(x).tolist() == (x.reshape(rows, 4, columns, 2).sum((0, 2)) / 2).tolist()


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40847", cause="jax@dc57508356"),
    touches=("jax.experimental.pallas.num_programs if unseen and within('jax.experimental.pallas.pallas_call')",),
    control=one_grid,
    behaviours={"not-yet": "absent"},
    rules=(
        Rule("not-yet", "jax<0.4.26"),
        Rule("differs", "jax>=0.11.0,<0.12.0", "dc57508356"),
        Rule("agrees", "absl-py"),
        Rule("not-installed", "jax>=0.5.3,<0.6.2"),
        Rule("agrees"),
    ),
    workaround=Workaround(
        "For each grid, pass pallas_call a new lambda *refs: kernel(*refs), which JAX traces again.",
        a_kernel_for_each,
        elsewhere=sums_halved_at_the_end,
        fails=("jax<0.4.26",),
    ),
    signatures={"not-yet": Signature("AttributeError", "has no attribute 'num_programs'")},
    cases=(Case(one_kernel_for_three_grids),),
)
