"""A loss under `eqx.filter_grad` is no longer the loss: what each Equinox decorator hands back.

Put `@eqx.filter_jit @eqx.filter_grad` where `@jax.jit` was, on a loss that averages to one number over 3-D arrays, and
an array of the first argument's shape comes back (equinox#838, whose title has decorators turn scalars into arrays).
Nothing is converted: `filter_grad` is a transform, like `jax.grad`, and its answer is the gradient by the first
argument. `filter_jit` alone returns just what `jax.jit` returns, a `jax.Array` of shape `()`; that was never a Python
float either. `filter_value_and_grad` is the one that keeps the loss: `(loss, gradient)`.

The second surprise is `filter_grad` on a Python float: the gradient is `None`, without a word (equinox#189). It
differentiates by floating-point *arrays* only, and a float is not one; `jax.grad` takes it. The remedy given there,
`default=` and `args=`, went away in Equinox 0.10.0, before any release here; what is run below is to make it an array.

All of this is by design, and the same on every release run: Equinox 0.11.1 to 0.13.8, JAX 0.4.20 to 0.12.0.1. An
output that is not a scalar is refused with JAX's own TypeError, one of shape `(1,)` included; recent JAX releases add
advice to its message.

In no thread:
- A Python float stays one: with it as the only argument, `filter_jit` of `x**2`, and the value that
  `filter_value_and_grad` gives, are the Python float `9.0`, where `jax.jit` gives a weakly typed `float32[]`.
- A NumPy array or scalar is differentiated by, and the gradient is a `jax.Array`.
- One composition did change: `jax.jit(eqx.filter_grad(loss))` works up to Equinox 0.12.2, and raises `TypeError:
  unhashable type: 'dict'` from 0.13.0, whose modules hash their fields (equinox#1089). Under `eqx.filter_jit` it works.

On JAX 0.7.0 alone, a process that called `eqx.filter_jit` on a function since dropped gives the right answer and then
dies as the interpreter exits (equinox#1084, jax#30517). That is another issue: what comes back is judged here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suite.cell.issue import Case, Expectation, Issue, JudgedAs, Seen, Upstream, main


def _problem() -> tuple[Callable[..., Any], Any, Any]:
    """A new scalar loss over 3-D arrays, and arguments at which it is 2 and its gradient minus the identity."""
    import jax.numpy as jnp

    def loss(pred: Any, x: Any) -> Any:
        return jnp.mean(jnp.square(jnp.matmul(pred, x) - x))

    return loss, jnp.array([[[0.0, 0.0], [0.0, 0.0]]] * 2), jnp.array([[[2.0, 0.0], [0.0, 2.0]]] * 2)


def _describe(value: Any) -> str:
    """The kind, dtype and shape of `value`; its class's own name and module change between releases."""
    import jax

    if isinstance(value, tuple):
        return f"({', '.join(map(_describe, value))})"
    if not isinstance(value, jax.Array):
        return repr(value)
    weak = " weakly typed" if value.weak_type else ""
    return f"jax.Array{weak} {value.dtype}[{','.join(map(str, value.shape))}]"


def _is_loss(value: Any) -> bool:
    import jax

    return isinstance(value, jax.Array) and value.shape == () and float(value) == 2.0


def _is_gradient(value: Any) -> bool:
    import jax

    return isinstance(value, jax.Array) and value.tolist() == [[[-1.0, 0.0], [0.0, -1.0]]] * 2


def _returned(value: Any) -> Seen:
    """Name what a transformed loss gave back; something that is neither the loss nor its gradient is an error."""
    if _is_loss(value):
        return Seen("loss", f"{_describe(value)}, the loss")
    if _is_gradient(value):
        return Seen("gradient", f"{_describe(value)}, the gradient by the first argument; no loss")
    if isinstance(value, tuple) and len(value) == 2 and _is_loss(value[0]) and _is_gradient(value[1]):
        return Seen("loss-and-gradient", f"{_describe(value)}, the loss and its gradient by the first argument")
    raise AssertionError(f"neither the loss nor its gradient: {_describe(value)}")


def filter_jit_of_filter_grad() -> Seen:
    """The two decorators of the report, stacked where `jax.jit` was, return the gradient and not the loss."""
    import equinox as eqx

    loss, pred, x = _problem()
    return _returned(eqx.filter_jit(eqx.filter_grad(loss))(pred, x))


def filter_jit() -> Seen:
    """`filter_jit` alone returns the loss, as `jax.jit` does."""
    import equinox as eqx

    loss, pred, x = _problem()
    return _returned(eqx.filter_jit(loss)(pred, x))


def filter_grad() -> Seen:
    """`filter_grad` alone returns the gradient, as `jax.grad` does."""
    import equinox as eqx

    loss, pred, x = _problem()
    return _returned(eqx.filter_grad(loss)(pred, x))


def filter_value_and_grad() -> Seen:
    """`filter_value_and_grad` returns a pair: the loss, still a scalar, and its gradient."""
    import equinox as eqx

    loss, pred, x = _problem()
    return _returned(eqx.filter_value_and_grad(loss)(pred, x))


def python_float_argument() -> Seen:
    """`filter_grad` on a Python float returns None, where `jax.grad` returns the derivative."""
    import equinox as eqx
    import jax

    gradient = eqx.filter_grad(lambda x: x**2)(3.0)
    if gradient is None:
        return Seen("none", "None, for d(x**2)/dx at the Python float 3.0")
    if isinstance(gradient, jax.Array) and gradient.shape == () and float(gradient) == 6.0:
        return Seen("gradient", f"{_describe(gradient)}, for d(x**2)/dx at the Python float 3.0")
    raise AssertionError(f"neither None nor 6.0: {_describe(gradient)}")


def non_scalar_output() -> Seen:
    """`filter_grad` of a function whose output is not a scalar is refused."""
    import equinox as eqx
    import jax.numpy as jnp

    try:
        gradient = eqx.filter_grad(lambda x: x**2)(jnp.ones((2, 2, 2)))
    except TypeError as error:
        if "Gradient only defined for scalar-output functions" not in str(error):
            raise
        return Seen("refused", f"TypeError: {str(error).strip().splitlines()[0]}")
    return Seen("answered", _describe(gradient))


def _loss_control() -> None:
    """`jax.jit` and `jax.grad` of the same loss return a scalar and an array of the first argument's shape."""
    import jax

    loss, pred, x = _problem()
    value = jax.jit(loss)(pred, x)
    if not _is_loss(value):
        raise AssertionError(f"jax.jit gave {_describe(value)}, not the loss")
    loss, pred, x = _problem()
    gradient = jax.grad(loss)(pred, x)
    if not _is_gradient(gradient):
        raise AssertionError(f"jax.grad gave {_describe(gradient)}, not the gradient")


def _float_control() -> None:
    """`jax.grad` differentiates by a Python float."""
    import jax

    gradient = jax.grad(lambda x: x**2)(3.0)
    if not (isinstance(gradient, jax.Array) and gradient.shape == () and float(gradient) == 6.0):
        raise AssertionError(f"jax.grad at the Python float 3.0 gave {_describe(gradient)}")


def _non_scalar_control() -> None:
    """The same function alone keeps its shape, and `jax.grad` refuses it."""
    import jax
    import jax.numpy as jnp

    out = jax.jit(lambda x: x**2)(jnp.full((2, 2, 2), 3.0))
    if not (out.shape == (2, 2, 2) and bool((out == 9.0).all())):
        raise AssertionError(f"jax.jit gave {_describe(out)}")
    try:
        gradient = jax.grad(lambda x: x**2)(jnp.ones((2, 2, 2)))
    except TypeError as error:
        if "Gradient only defined for scalar-output functions" not in str(error):
            raise
    else:
        raise AssertionError(f"jax.grad gave {_describe(gradient)}")


def ask_for_both() -> None:
    """`filter_jit` of `filter_value_and_grad` keeps the loss a scalar and gives the gradient beside it."""
    import equinox as eqx

    loss, pred, x = _problem()
    seen = _returned(eqx.filter_jit(eqx.filter_value_and_grad(loss))(pred, x))
    if seen.behaviour != "loss-and-gradient":
        raise AssertionError(f"filter_value_and_grad gave {seen.detail}")


def make_it_an_array() -> None:
    """A float made an array is differentiated."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    gradient = eqx.filter_grad(lambda x: x**2)(jnp.asarray(3.0))
    if not (isinstance(gradient, jax.Array) and gradient.shape == () and float(gradient) == 6.0):
        raise AssertionError(f"filter_grad at an array of 3.0 gave {_describe(gradient)}")


def reduce_to_a_scalar() -> None:
    """The same output, summed, is differentiated."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    gradient = eqx.filter_grad(lambda x: (x**2).sum())(jnp.full((2, 2, 2), 3.0))
    if not (isinstance(gradient, jax.Array) and gradient.shape == (2, 2, 2) and bool((gradient == 6.0).all())):
        raise AssertionError(f"filter_grad of the sum gave {_describe(gradient)}")


_RETURNED: dict[str, JudgedAs] = {"loss": "clear", "loss-and-gradient": "clear", "gradient": "affected"}
_NEEDS = ("jax", "equinox")
_RUN = "run on equinox 0.11.1 to 0.13.8 with jax 0.4.20 to 0.12.0.1"


ISSUE = Issue(
    id="filter-grad-return-type",
    title="A loss under eqx.filter_grad returns its gradient, and None for a Python float",
    kind="by-design",
    story=(
        "Swap @jax.jit for @eqx.filter_jit @eqx.filter_grad on a scalar loss and an array comes back: the gradient by "
        "the first argument. filter_jit alone changes nothing. On a Python float, filter_grad gives None, since it "
        "differentiates floating-point arrays only. Both are documented, and the same on every release."
    ),
    upstream=(
        Upstream("patrick-kidger/equinox#838", "report", "closed"),
        Upstream("patrick-kidger/equinox#189", "report", "closed"),
    ),
    workaround=(
        "Use eqx.filter_jit alone for the loss, and eqx.filter_value_and_grad for the loss with its gradient. Make a "
        "Python float an array before differentiating by it."
    ),
    cases=(
        Case(
            id="filter-jit-of-filter-grad",
            question="What does a scalar loss return under @eqx.filter_jit @eqx.filter_grad?",
            reproducer=filter_jit_of_filter_grad,
            control=_loss_control,
            workaround=ask_for_both,
            behaviours=_RETURNED,
            expectations=(
                Expectation(
                    "gradient", (), f"{_RUN}; equinox#838 is closed, and filter_grad's documentation says gradient"
                ),
            ),
            needs=_NEEDS,
        ),
        Case(
            id="filter-jit",
            question="Does @eqx.filter_jit alone leave a scalar loss a scalar?",
            reproducer=filter_jit,
            control=_loss_control,
            behaviours=_RETURNED,
            expectations=(
                Expectation("loss", (), f"{_RUN}: a jax.Array of shape (), equal in dtype and shape to jax.jit's"),
            ),
            needs=_NEEDS,
        ),
        Case(
            id="filter-grad",
            question="What does a scalar loss return under @eqx.filter_grad, without jit?",
            reproducer=filter_grad,
            control=_loss_control,
            workaround=ask_for_both,
            behaviours=_RETURNED,
            expectations=(Expectation("gradient", (), f"{_RUN}; the same array as jax.grad's"),),
            needs=_NEEDS,
        ),
        Case(
            id="filter-value-and-grad",
            question="Does eqx.filter_value_and_grad keep the loss a scalar?",
            reproducer=filter_value_and_grad,
            control=_loss_control,
            behaviours=_RETURNED,
            expectations=(Expectation("loss-and-gradient", (), f"{_RUN}; the same pair as jax.value_and_grad's"),),
            needs=_NEEDS,
        ),
        Case(
            id="python-float-argument",
            question="What is eqx.filter_grad's gradient by a Python float?",
            reproducer=python_float_argument,
            control=_float_control,
            workaround=make_it_an_array,
            behaviours={"none": "affected", "gradient": "clear"},
            expectations=(
                Expectation(
                    "none",
                    (),
                    f"{_RUN}; intended, says the answer in equinox#189: gradients are for floating-point arrays only",
                ),
            ),
            needs=_NEEDS,
        ),
        Case(
            id="non-scalar-output",
            question="Does eqx.filter_grad refuse a function whose output is not a scalar?",
            reproducer=non_scalar_output,
            control=_non_scalar_control,
            workaround=reduce_to_a_scalar,
            behaviours={"refused": "guarded", "answered": "affected"},
            expectations=(Expectation("refused", (), f"{_RUN}; the TypeError is the one that jax.grad raises"),),
            needs=_NEEDS,
        ),
    ),
)


if __name__ == "__main__":
    main(ISSUE)
