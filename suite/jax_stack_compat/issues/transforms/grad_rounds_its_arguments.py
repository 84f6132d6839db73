"""jax.grad and jax.vjp round their arguments since jax 0.8.0: float64 to float32, and the int64 2**40 to 0

    jax.vjp(lambda x: x, np.float64(0.1))[0]        # float64 0.1 up to jax 0.7.2, float32 from 0.8.0
    jax.vjp(lambda x: x, np.int64(2**40))[0]        # 2**40 up to jax 0.7.2, 0 from 0.8.0

Without x64 an argument was of 32 bits in all that JAX computed with it, and as it was where f only passed it on: in the
value of `value_and_grad`, in `has_aux`, in `vjp`. From 0.8.0 it is rounded at the door (b8f92cbe9b); the changelog says
so, "primals to float32", and a test that compared with NumPy to 1e-12 fails.

Seen in these runs:

- Integers are cut too: an int64 that f only passes on comes out as its lower 32 bits, from 0.8.0 on.
- `jax.jvp` gives float64 back as float64 from 0.4.18 on. So the value of f depends on the transformation that
  asks for it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def floats() -> tuple[str, str]:
    """Is a float64 that f returns as it is the same float64 in jax.value_and_grad?"""
    import jax
    import numpy as np

    got = jax.value_and_grad(lambda x: x)(np.float64(0.1))[0]
    return {"float64": "kept", "float32": "rounded"}.get(got.dtype.name, "other"), f"{got.dtype.name} {float(got)!r}"


def integers() -> tuple[str, str]:
    """Is an int64 of 2**40 that f returns as it is 2**40 in jax.vjp?"""
    import jax
    import numpy as np

    got = int(jax.vjp(lambda x, step: (x, step), 1.0, np.int64(2**40))[0][1])
    return {2**40: "kept", 0: "rounded"}.get(got, "other"), f"{got}"


def what_is_computed() -> None:
    """What f computes is float32 on every release, and so is the gradient."""
    import jax
    import numpy as np

    value, gradient = jax.value_and_grad(lambda x: x * x)(np.float64(0.1))
    assert value.dtype.name == gradient.dtype.name == "float32"


def pass_it_by() -> None:
    """What is not to be differentiated goes past: by a closure, or as an argument of grad that it does not name."""
    import jax
    import numpy as np

    def f(x: float, step: object) -> tuple[float, object]:
        return x * x, step

    step = np.int64(2**40)
    assert int(jax.grad(f, has_aux=True)(1.0, step)[1]) == 2**40
    assert int(jax.vjp(lambda x: f(x, step), 1.0, has_aux=False)[0][1]) == 2**40
    assert np.float64(0.1).dtype.name == "float64"


def jvp() -> tuple[str, str]:
    """Is a float64 that f returns as it is the same float64 in jax.jvp?"""
    import jax
    import numpy as np

    got = jax.jvp(lambda x: x, (np.float64(0.1),), (np.float64(1.0),))[0]
    return {"float64": "kept", "float32": "rounded"}.get(got.dtype.name, "other"), f"{got.dtype.name} {float(got)!r}"


_BEFORE = Rule("kept", "jax<0.8.0")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(change="jax@b8f92cbe9b", docs="jax:changelog.html"),
    touches=("jax.grad", "jax.value_and_grad", "jax.vjp", "jax.linearize"),
    control=what_is_computed,
    behaviours={"kept": "clear", "rounded": "documented", "other": "different"},
    workaround=Workaround("Let what is only passed on go by a closure, or compare in float32.", pass_it_by),
    cases=(
        Case(
            integers,
            behaviours={"kept": "clear", "rounded": "affected", "other": "different"},
            rules=(_BEFORE, Rule("rounded", "", "the changelog speaks of floats")),
            touches=("jax.vjp", "jax.linearize"),
        ),
        Case(floats, rules=(_BEFORE, Rule("rounded", "", "the changelog"))),
        Case(jvp, rules=(Rule("kept"),), touches=("jax.jvp",)),
    ),
)
