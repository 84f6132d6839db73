"""A ControlTerm with a vector field adds the same scalar to every component of y

    diffusion = lambda t, y, args: jnp.array([10.0, 100.0])    # meant as a diagonal
    diffrax.ControlTerm(diffusion, path)                       # path goes from [0, 0] to [1, 2]: y + [210, 210]

You'd expect [10, 200], or an error. A field times a control is `tensordot`, so that two vectors give one number. Up to
diffrax 0.6.2 that was broadcast to the shape of y: all its components have the same noise, and what was meant as a
diagonal is added up, without a word. From 0.7.0 on it is a ValueError with a long explanation (diffrax#565). The
example of a neural SDE met it (diffrax#621): a field and a control of one number each, with a `y` of length 1, had been
right, and are refused too.

Seen in these runs:

- The error of 0.7.0 comes with Euler, Heun, Midpoint, Ralston, EulerHeun and LeapfrogMidpoint.
- Bosh3, Dopri5, Dopri8, Tsit5 and ReversibleHeun, which use the field and the control one after the other, broadcast on
  the newest release as they always did.
- SEA, ShARK and SRA1 broadcast, too, with diffrax 0.6.2, 0.7.0, 0.7.1 and 0.7.2: the two components of y have the same
  number. SlowRK, SPaRK, GeneralShARK and StratonovichMilstein raise there from 0.7.0.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def euler() -> tuple[str, str]:
    """Is a vector taken for a diagonal, by Euler's method?"""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(jnp.array([0.0, 1.0]), jnp.array([[0.0, 0.0], [1.0, 2.0]]))
    term = diffrax.ControlTerm(lambda t, y, args: jnp.array([10.0, 100.0]), path)
    end = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.5, jnp.zeros(2))
    return compare(end.ys[-1], [10.0, 200.0], rtol=1e-3)


def control_by_hand() -> None:
    """Euler's method by hand with the diagonal is right, and what the path says of its steps."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    path, y = diffrax.LinearInterpolation(jnp.array([0.0, 1.0]), jnp.array([[0.0, 0.0], [1.0, 2.0]])), np.zeros(2)
    for t0, t1 in ((0.0, 0.5), (0.5, 1.0)):
        y = y + np.array([10.0, 100.0]) * np.asarray(path.evaluate(t0, t1))
    np.testing.assert_allclose(y, [10.0, 200.0], rtol=1e-3)


def matrix() -> None:
    """With a matrix for the field, of y's shape and then the control's, Euler's method is right."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    path = diffrax.LinearInterpolation(jnp.array([0.0, 1.0]), jnp.array([[0.0, 0.0], [1.0, 2.0]]))
    term = diffrax.ControlTerm(lambda t, y, args: jnp.diag(jnp.array([10.0, 100.0])), path)
    end = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.5, jnp.zeros(2))
    np.testing.assert_allclose(end.ys[-1], [10.0, 200.0], rtol=1e-3)


def tsit5() -> tuple[str, str]:
    """Is it, by Tsit5?"""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(jnp.array([0.0, 1.0]), jnp.array([[0.0, 0.0], [1.0, 2.0]]))
    term = diffrax.ControlTerm(lambda t, y, args: jnp.array([10.0, 100.0]), path)
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.5, jnp.zeros(2))
    return compare(end.ys[-1], [10.0, 200.0], rtol=1e-3)


def matrix_for_tsit5() -> None:
    """With a matrix, Tsit5 is right."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    path = diffrax.LinearInterpolation(jnp.array([0.0, 1.0]), jnp.array([[0.0, 0.0], [1.0, 2.0]]))
    term = diffrax.ControlTerm(lambda t, y, args: jnp.diag(jnp.array([10.0, 100.0])), path)
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.5, jnp.zeros(2))
    np.testing.assert_allclose(end.ys[-1], [10.0, 200.0], rtol=1e-3)


def numbers_for_an_array_of_one() -> tuple[str, str]:
    """Is a field of one number, with a control of one, added to a y of length 1?"""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(jnp.array([0.0, 1.0]), jnp.array([0.0, 2.0]))
    term = diffrax.ControlTerm(lambda t, y, args: jnp.array(10.0), path)
    end = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.5, jnp.zeros(1))
    return compare(end.ys[-1], [20.0], rtol=1e-3)


def array_of_one() -> None:
    """With a field of length 1, it is right."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    path = diffrax.LinearInterpolation(jnp.array([0.0, 1.0]), jnp.array([0.0, 2.0]))
    term = diffrax.ControlTerm(lambda t, y, args: jnp.array([10.0]), path)
    end = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.5, jnp.zeros(1))
    np.testing.assert_allclose(end.ys[-1], [20.0], rtol=1e-3)


_REFUSED = Rule("refused", "diffrax>=0.7.0", "diffrax#565")
_TEXT = "Give a matrix, jnp.diag(…), or from 0.6.0 a lineax.DiagonalLinearOperator."

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="diffrax#621", fix="diffrax#565 diffrax@1e26f9b"),
    touches=("diffrax.ControlTerm",),
    control=control_by_hand,
    signatures={
        "refused": Signature("ValueError", "The `ControlTerm` returned arrays whose output structure did not match")
    },
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(euler, rules=(_REFUSED, Rule("differs")), workaround=Workaround(_TEXT, matrix)),
        Case(tsit5, rules=(Rule("differs"),), workaround=Workaround(_TEXT, matrix_for_tsit5)),
        Case(
            numbers_for_an_array_of_one,
            rules=(_REFUSED, Rule("agrees")),
            workaround=Workaround("Give the field as an array of length 1.", array_of_one),
        ),
    ),
)
