"""Without x64, jax.grad and jax.vjp round 64-bit arguments to 32 bits

Without x64, JAX computes in 32 bits, but an argument that a function returned under `jax.grad` or `jax.vjp` kept its 64
bits. b8f92cbe9b converts the arguments that `jax.grad` and `jax.vjp` differentiate before the function is called.
Floats become float32, as the changelog says (`floats`), and integers keep their lower 32 bits (`integers`). `jax.jvp`
keeps float64 (`jvp`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def floats() -> tuple[str, str]:
    """Does jax.value_and_grad(lambda x: x) return its float64 argument unchanged as the value?"""
    import jax
    import numpy as np

    got = jax.value_and_grad(lambda x: x)(np.float64(0.1))[0]
    return {"float64": "kept", "float32": "rounded"}.get(got.dtype.name, "other"), f"{got.dtype.name} {float(got)!r}"


def what_is_computed() -> None:
    """For a float64 x, the value and the gradient of x * x are float32."""
    import jax
    import numpy as np

    value, gradient = jax.value_and_grad(lambda x: x * x)(np.float64(0.1))
    assert value.dtype.name == gradient.dtype.name == "float32"


def integers() -> tuple[str, str]:
    """Does jax.vjp of a function that returns its int64 argument, 2**40, give 2**40 as the value?"""
    import jax
    import numpy as np

    got = int(jax.vjp(lambda x, step: (x, step), 1.0, np.int64(2**40))[0][1])
    return {2**40: "kept", 0: "rounded"}.get(got, "other"), f"{got}"


def pass_it_by() -> None:
    """An int64 stays 2**40 if a function in jax.vjp closes over it or jax.grad does not differentiate it."""
    import jax
    import numpy as np

    def f(x: float, step: object) -> tuple[float, object]:
        return x * x, step

    step = np.int64(2**40)
    assert int(jax.grad(f, has_aux=True)(1.0, step)[1]) == 2**40
    assert int(jax.vjp(lambda x: f(x, step), 1.0, has_aux=False)[0][1]) == 2**40
    assert np.float64(0.1).dtype.name == "float64"


def close_over_arrays() -> None:
    """Float64, int64 and uint64 arrays that a function closes over come back unchanged from grad and vjp."""
    import jax
    import numpy as np

    empty, steps = np.zeros((0, 2)), np.array([2**40 + 1, -1], np.int64)
    for kept in (np.array([[0.1, -0.2]]), empty, steps, np.uint64(2**63), np.complex128(0.1j)):
        aux = jax.value_and_grad(lambda x, kept=kept: (x.sum(), kept), has_aux=True)(np.array([0.1]))[0][1]
        value = jax.vjp(lambda x, kept=kept: (x * x, kept), 1.0)[0][1]
        for got in (aux, value):
            assert got.dtype == kept.dtype
            assert np.array_equal(got, kept)


def jvp() -> tuple[str, str]:
    """Does jax.jvp of lambda x: x return its float64 argument unchanged as the value?"""
    import jax
    import numpy as np

    got = jax.jvp(lambda x: x, (np.float64(0.1),), (np.float64(1.0),))[0]
    return {"float64": "kept", "float32": "rounded"}.get(got.dtype.name, "other"), f"{got.dtype.name} {float(got)!r}"


_KEPT, _ROUNDED = Rule("kept", "jax<0.8.0"), Rule("rounded", "", "b8f92cbe9b")
_NO_X64 = "not uses('jax_enable_x64')"
_WIDE = "('int64', 'uint64', 'numpy.int64', 'numpy.uint64')"
_INTEGERS = " or ".join(f"form({name}) in {_WIDE}" for name in "abc")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(change="jax@b8f92cbe9b", docs="jax:changelog.html#jax-0-8-0-october-15-2025"),
    control=what_is_computed,
    behaviours={"kept": "clear", "rounded": "documented", "other": "different"},
    cases=(
        Case(
            floats,
            rules=(_KEPT, _ROUNDED),
            touches=tuple(
                f"jax.{name} if unseen and {_NO_X64}" for name in ("grad", "value_and_grad", "vjp", "jacrev")
            ),
        ),
        Case(
            integers,
            behaviours={"kept": "clear", "rounded": "affected", "other": "different"},
            rules=(_KEPT, _ROUNDED),
            workaround=Workaround(
                "Close over values that are not differentiated: jax.vjp(lambda x: f(x, step), x).",
                pass_it_by,
                elsewhere=close_over_arrays,
            ),
            touches=(f"jax.vjp(fun, a, b, c) if ({_INTEGERS}) and unseen and {_NO_X64}",),
        ),
        Case(jvp, rules=(Rule("kept"),), touches=("jax.jvp",)),
    ),
)
