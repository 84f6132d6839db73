"""TensorFlow Probability on JAX: no release imports beside jax 0.7.0, and 0.24.0 fails beside NumPy 2

    from tensorflow_probability.substrates import jax as tfp
    tfp.distributions    # from jax 0.7.0: AttributeError: jax.interpreters.xla.pytype_aval_mappings was deprecated …

You'd expect the newest release to work with the newest jax. The last one is of November 2024, and its backend takes a
table from a module in which JAX no longer has it. Its maintainers answer that the nightly builds are what they support
on JAX; Distrax, jaxns, dynamax and others changed to those or capped jax. NumPy 2 had been the same before: 0.24.0 asks
for `np.issctype` as it makes a multivariate normal, and 0.25.0 no longer does. Neither bound stands in the metadata:
jax is named by the extra `jax` alone, without a bound.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def normal() -> tuple[str, str]:
    """Does TensorFlow Probability import, and give the density of a normal?"""
    import math

    from tensorflow_probability.substrates import jax as tfp

    return compare(tfp.distributions.Normal(0.0, 1.0).log_prob(1.0), -0.5 - 0.5 * math.log(2 * math.pi), rtol=1e-5)


def control() -> None:
    """A normal's density by JAX alone."""
    import math

    import jax

    assert abs(float(jax.scipy.stats.norm.logpdf(1.0)) + 0.5 + 0.5 * math.log(2 * math.pi)) < 1e-5


def table_put_back() -> None:
    """JAX's table, put where TensorFlow Probability looks for it before that is imported."""
    import math

    import jax.interpreters.xla
    from jax._src import core

    jax.interpreters.xla.pytype_aval_mappings = core.pytype_aval_mappings
    from tensorflow_probability.substrates import jax as tfp

    found = tfp.distributions.Normal(0.0, 1.0).log_prob(1.0)
    assert abs(float(found) + 0.5 + 0.5 * math.log(2 * math.pi)) < 1e-5


def multivariate_normal() -> tuple[str, str]:
    """Does it give the density of a multivariate normal, whose matrix has a dtype to be looked up?"""
    import math

    import jax.numpy as jnp
    from tensorflow_probability.substrates import jax as tfp

    found = tfp.distributions.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2)).log_prob(jnp.ones(2))
    return compare(found, -1.0 - math.log(2 * math.pi), rtol=1e-5)


NO_TABLE = Signature("AttributeError", "pytype_aval_mappings", "tensorflow_probability")
REMOVED = Rule("no-pytype-aval-mappings", "tensorflow-probability<=0.25.0 jax>=0.7.0", "probability#2009")

ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(
        report="tensorflow/probability#2009 tensorflow/probability#2010 tensorflow/probability#1994 "
        "tensorflow/probability#1814"
    ),
    touches=("TensorFlow Probability",),
    control=control,
    needs=("jax", "tensorflow-probability"),
    cases=(
        Case(
            normal,
            workaround=Workaround(
                "Put JAX's table back where it is looked for, before the import; or install tfp-nightly.",
                code=table_put_back,
            ),
            signatures={"no-pytype-aval-mappings": NO_TABLE},
            rules=(REMOVED, Rule("agrees")),
        ),
        Case(
            multivariate_normal,
            workaround=Workaround("Stay below NumPy 2, or use 0.25.0.", pin="numpy<2"),
            signatures={
                "no-pytype-aval-mappings": NO_TABLE,
                "no-issctype": Signature("AttributeError", "np.issctype", "tensorflow_probability"),
            },
            rules=(
                REMOVED,
                Rule("no-issctype", "tensorflow-probability<0.25.0 numpy>=2", "probability#1814"),
                Rule("agrees"),
            ),
        ),
    ),
)
