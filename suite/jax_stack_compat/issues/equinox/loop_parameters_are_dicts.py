"""diffeqsolve: parameters to jaxpr equations must have __hash__

Equinox's loops passed a dict to the primitive `maybe_set`, which stores saved values. The cache of jax#29498 needs
hashable equation parameters, so jax refuses the dict (diffrax#662). equinox#1039 turns Equinox's dicts into tuples.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def diffeqsolve() -> tuple[str, str]:
    """Does diffrax.diffeqsolve with Euler's method and SaveAt(ts=...) bind a dict as a parameter, which jax refuses?"""
    import diffrax

    term = diffrax.ODETerm(lambda t, y, args: -y)
    saveat = diffrax.SaveAt(ts=[0.5, 1.0])
    sol = diffrax.diffeqsolve(term, diffrax.Euler(), t0=0.0, t1=1.0, dt0=0.25, y0=1.0, saveat=saveat)
    assert abs(float(sol.ys[-1]) - 0.75**4) <= 1e-5, f"diffeqsolve gave {sol.ys}"
    return "solved", "four steps of Euler's method"


def plain_loop() -> None:
    """Four steps of Euler's method, in a jitted lax.while_loop."""
    import jax

    def solve(y0: Any, steps: Any) -> Any:
        return jax.lax.while_loop(lambda c: c[0] < steps, lambda c: (c[0] + 1, 0.75 * c[1]), (0, y0))[1]

    assert abs(float(jax.jit(solve)(1.0, 4)) - 0.75**4) <= 1e-5


_LATE = Signature("TypeError", "unhashable type: 'dict'", everyday=True)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="diffrax#662", change="jax@9cf81e4d12", discussion="equinox#1039 equinox#1095"),
    known_by=r"\bjax/_src/interpreters/mlir\.py",
    cases=(
        Case(
            diffeqsolve,
            plain_loop,
            behaviours={"solved": "clear", "no-concrete-array": "different", "constants-lost": "different"},
            signatures={
                "refused-in-tracing": Signature("TypeError", "parameters to jaxpr equations must have __hash__"),
                "refused-in-lowering": _LATE,
                "no-concrete-array": Signature("AttributeError", "'ConcreteArray'"),
                "constants-lost": Signature("ValueError", "safe_map() argument 2 is shorter than argument 1"),
            },
            rules=(
                Rule("constants-lost", "jax==0.4.27", "jax#21116"),
                Rule("no-concrete-array", "jax>=0.4.36 diffrax<0.6.1", "diffrax#527"),
                Rule("refused-in-lowering", "jax>=0.9.2 equinox<0.13.0"),
                Rule("refused-in-tracing", "jax>=0.7.0 equinox<0.13.0", "jax#29498, diffrax#662"),
                Rule("solved"),
            ),
            workaround=Workaround("Upgrade Equinox to 0.13.0.", pin="equinox>=0.13.0"),
            needs=("jax", "equinox", "diffrax"),
            touches=("diffrax.diffeqsolve", "equinox.internal.while_loop", "equinox.internal.scan"),
        ),
    ),
)
