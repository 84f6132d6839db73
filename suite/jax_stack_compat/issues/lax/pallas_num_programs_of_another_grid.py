"""pl.num_programs is that of an earlier grid where one Pallas kernel is called with several, in jax 0.11.0 to 0.11.2

    def kernel(o_ref):
        o_ref[...] = jnp.full((8,), pl.num_programs(0))    # grids of 2, 5 and 3: 2, 2, 2, or in jax 0.11.2 2, 5, 5

You'd expect that of the grid that is called. A kernel is traced once for all grids with blocks of one shape, with the
number in the trace as a constant, and since 0.11.0 that was kept from call to call (jax#40847). Nothing is raised.

Seen in these runs: 0.12.0 and 0.12.0.1 are right, though the thread saw nightlies of 0.12.0 wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def _programs(kernel: Callable[[], Callable[[Any], None]]) -> list[int]:
    """What a kernel says of its grid, called with grids of 2, 5 and 3."""
    import jax
    from jax.experimental import pallas as pl

    def told(programs: int) -> int:
        spec = pl.BlockSpec(block_shape=(8,), index_map=lambda i: (i,))
        shape = jax.ShapeDtypeStruct((8 * programs,), "int32")
        return int(pl.pallas_call(kernel(), shape, grid=(programs,), out_specs=spec, interpret=True)()[0])

    return [told(programs) for programs in (2, 5, 3)]


def _kernel(o_ref: Any) -> None:
    """One for all grids."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    o_ref[...] = jnp.full((8,), pl.num_programs(0), "int32")


def one_kernel_for_three_grids() -> tuple[str, str]:
    """Is pl.num_programs that of the grid, of each of three grids that a kernel is called with?"""
    return compare(_programs(lambda: _kernel), [2, 5, 3])


def a_kernel_for_each() -> None:
    """A new function for each grid: functools.partial makes one, too."""
    assert _programs(lambda: lambda o_ref: _kernel(o_ref)) == [2, 5, 3]


def one_grid() -> None:
    """Without a kernel, the number is known."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(lambda: jnp.full((8,), 2))().tolist() == [2] * 8


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40847"),
    touches=("jax.experimental.pallas.num_programs", "jax.experimental.pallas.pallas_call"),
    control=one_grid,
    behaviours={"not-yet": "absent"},
    rules=(
        Rule("not-yet", "jax<0.4.26"),
        Rule("differs", "jax>=0.11.0,<0.12.0", "jax#40847"),
        Rule("agrees", "absl-py"),
        Rule("not-installed", "jax>=0.5.3,<0.6.2"),
        Rule("agrees"),
    ),
    workaround=Workaround("A function of its own for each grid.", a_kernel_for_each, fails=("jax<0.4.26",)),
    signatures={"not-yet": Signature("AttributeError", "has no attribute 'num_programs'")},
    cases=(Case(one_kernel_for_three_grids),),
)
