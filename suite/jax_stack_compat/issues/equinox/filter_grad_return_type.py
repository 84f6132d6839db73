"""A loss under eqx.filter_grad returns its gradient, and None for a Python float

Put `@eqx.filter_jit @eqx.filter_grad` where `@jax.jit` was, on a loss that averages to one number over 3-D arrays, and
an array of the first argument's shape comes back (equinox#838, whose title has decorators turn scalars into arrays).
Nothing is converted: `filter_grad` is a transform, like `jax.grad`, and its answer is the gradient by the first
argument. `filter_jit` alone returns just what `jax.jit` returns, a `jax.Array` of shape `()`; that was never a Python
float either. `filter_value_and_grad` is the one that keeps the loss: `(loss, gradient)`.

The second surprise is `filter_grad` on a Python float: the gradient is `None`, without a warning (equinox#189). It
differentiates by floating-point *arrays* only, and a float is not one; `jax.grad` takes it. The thread names `default=`
and `args=`; in Equinox 0.5.0, 0.8.0 and 0.9.2 `filter_grad` has `arg=` instead, and none of these from 0.10.0 on. What
is run below makes the float an array.

All of this is by design, and the same on every release run, from Equinox 0.11.1 and JAX 0.4.20 on. An
output that is not a scalar is refused with JAX's own TypeError, one of shape `(1,)` included. Seen in these runs:
- A Python float stays one: with it as the only argument, `filter_jit` of `x**2`, and the value that
  `filter_value_and_grad` gives, are the Python float `9.0`, where `jax.jit` gives a weakly typed `float32[]`.
- A NumPy array or scalar is differentiated by, and the gradient is a `jax.Array`.
- One composition did change: `jax.jit(eqx.filter_grad(loss))` works up to Equinox 0.12.2, and raises `TypeError:
  unhashable type: 'dict'` from 0.13.0, whose modules hash their fields (equinox#1089). Under `eqx.filter_jit` it works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def _returned(transform: Callable[[Any], Any]) -> tuple[str, str]:
    """What a new scalar loss over 3-D arrays, transformed, gives back where it is 2 and its gradient minus identity."""
    import jax
    import jax.numpy as jnp

    loss = transform(lambda pred, x: jnp.mean(jnp.square(jnp.matmul(pred, x) - x)))
    value = loss(jnp.zeros((2, 2, 2)), jnp.array([[[2.0, 0.0], [0.0, 2.0]]] * 2))
    parts = value if isinstance(value, tuple) else (value,)
    known = {"loss": 2.0, "gradient": [[[-1.0, 0.0], [0.0, -1.0]]] * 2}
    names = [name for part in parts for name in known if isinstance(part, jax.Array) and part.tolist() == known[name]]
    assert names in (["loss"], ["gradient"], ["loss", "gradient"]), f"neither the loss nor its gradient: {value!r}"
    return "-and-".join(names), " and ".join(f"a jax.Array, {part.dtype}{list(part.shape)}" for part in parts)


def filter_jit_of_filter_grad() -> tuple[str, str]:
    """What does a scalar loss return under @eqx.filter_jit @eqx.filter_grad?"""
    import equinox as eqx

    return _returned(lambda loss: eqx.filter_jit(eqx.filter_grad(loss)))


def jax_control() -> None:
    """What `jax.jit` and `jax.grad` give for the same functions: loss, gradient, a float's derivative, a refusal."""
    import jax
    import jax.numpy as jnp

    got = [_returned(jax.jit)[0], _returned(jax.grad)[0], jax.grad(lambda x: x**2)(3.0)]
    assert got == ["loss", "gradient", 6.0], got
    try:
        said = str(jax.grad(lambda x: x**2)(jnp.ones((2, 2, 2))))
    except TypeError as refusal:
        said = str(refusal)
    assert "Gradient only defined for scalar-output functions" in said, said


def ask_for_both() -> None:
    """The loss is a scalar, with the gradient beside it."""
    import equinox as eqx

    got = _returned(lambda loss: eqx.filter_jit(eqx.filter_value_and_grad(loss)))
    assert got[0] == "loss-and-gradient", got


def filter_jit() -> tuple[str, str]:
    """Does @eqx.filter_jit alone leave a scalar loss a scalar?"""
    import equinox as eqx

    return _returned(eqx.filter_jit)


def filter_grad() -> tuple[str, str]:
    """What does a scalar loss return under @eqx.filter_grad, without jit?"""
    import equinox as eqx

    return _returned(eqx.filter_grad)


def filter_value_and_grad() -> tuple[str, str]:
    """Does eqx.filter_value_and_grad keep the loss a scalar?"""
    import equinox as eqx

    return _returned(eqx.filter_value_and_grad)


def python_float_argument() -> tuple[str, str]:
    """What is eqx.filter_grad's gradient by a Python float?"""
    import equinox as eqx

    gradient = eqx.filter_grad(lambda x: x**2)(3.0)
    assert gradient is None or gradient == 6.0, gradient
    return "none" if gradient is None else "gradient", f"{gradient}, for d(x**2)/dx at the Python float 3.0"


def make_it_an_array() -> None:
    """A float made an array is differentiated."""
    import equinox as eqx
    import jax.numpy as jnp

    gradient = eqx.filter_grad(lambda x: x**2)(jnp.asarray(3.0))
    assert gradient == 6.0, gradient


def non_scalar_output() -> tuple[str, str]:
    """Does eqx.filter_grad refuse a function whose output is not a scalar?"""
    import equinox as eqx
    import jax.numpy as jnp

    return "answered", str(eqx.filter_grad(lambda x: x**2)(jnp.ones((2, 2, 2))))


def reduce_to_a_scalar() -> None:
    """The same output, summed, is differentiated."""
    import equinox as eqx
    import jax.numpy as jnp

    gradient = eqx.filter_grad(lambda x: (x**2).sum())(jnp.full((2, 2, 2), 3.0))
    assert gradient.tolist() == [[[6.0, 6.0]] * 2] * 2, gradient


def _always(behaviour: str, evidence: str) -> tuple[Rule, ...]:
    return (Rule(behaviour, "", evidence),)


_GRADIENT: dict[str, Any] = {"loss": "clear", "loss-and-gradient": "clear", "gradient": "documented"}
_LOSS = {**_GRADIENT, "gradient": "affected"}  # where no gradient was asked for
_BOTH = Workaround("Use eqx.filter_jit alone for the loss, eqx.filter_value_and_grad for the two.", ask_for_both)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(report="equinox#838 equinox#189"),
    touches=("equinox.filter_grad", "equinox.filter_value_and_grad"),
    control=jax_control,
    behaviours=_GRADIENT,
    needs=("jax", "equinox"),
    cases=(
        Case(
            filter_jit_of_filter_grad,
            rules=_always("gradient", "equinox#838 is closed, and filter_grad's documentation says gradient"),
            workaround=_BOTH,
        ),
        Case(filter_jit, behaviours=_LOSS, rules=_always("loss", "in shape and dtype as jax.jit's")),
        Case(filter_grad, rules=_always("gradient", "as jax.grad's"), workaround=_BOTH),
        Case(filter_value_and_grad, behaviours=_LOSS, rules=_always("loss-and-gradient", "as jax.value_and_grad's")),
        Case(
            python_float_argument,
            behaviours={"none": "documented", "gradient": "clear"},
            rules=_always("none", "intended (equinox#189): gradients are for floating-point arrays only"),
            workaround=Workaround("Make a Python float an array before differentiating by it.", make_it_an_array),
        ),
        Case(
            non_scalar_output,
            behaviours={"answered": "affected"},
            rules=_always("refused", "the TypeError is the one that jax.grad raises"),
            signatures={"refused": Signature("TypeError", "Gradient only defined for scalar-output functions")},
            workaround=Workaround("Reduce the output to one number: sum or average it.", reduce_to_a_scalar),
        ),
    ),
)
