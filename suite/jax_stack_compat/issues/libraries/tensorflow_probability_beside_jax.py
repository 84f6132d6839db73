"""TensorFlow Probability's JAX backend fails to load with newer jax

The backend reads `jax.interpreters.xla.pytype_aval_mappings`, which JAX has removed (tensorflow/probability#2009). For
JAX, a maintainer recommends tfp-nightly, with the tensorflow-probability package uninstalled
(tensorflow/probability#2010). `MultivariateNormalDiag` can also fail: it calls `np.issctype`, which NumPy has removed
(tensorflow/probability#1814).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def normal() -> tuple[str, str]:
    """Does tfp.distributions load, and does Normal(0.0, 1.0).log_prob(1.0) return the log density?"""
    import math

    from tensorflow_probability.substrates import jax as tfp

    return compare(tfp.distributions.Normal(0.0, 1.0).log_prob(1.0), -0.5 - 0.5 * math.log(2 * math.pi), rtol=1e-5)


def control() -> None:
    """jax.scipy.stats.norm.logpdf, without TensorFlow Probability, returns the log density."""
    import math

    import jax

    assert abs(float(jax.scipy.stats.norm.logpdf(1.0)) + 0.5 + 0.5 * math.log(2 * math.pi)) < 1e-5


def table_put_back() -> None:
    """Put JAX's table where TensorFlow Probability looks for it, before tfp is imported."""
    import math

    import jax.interpreters.xla
    from jax._src import core

    jax.interpreters.xla.pytype_aval_mappings = core.pytype_aval_mappings
    from tensorflow_probability.substrates import jax as tfp

    found = tfp.distributions.Normal(0.0, 1.0).log_prob(1.0)
    assert abs(float(found) + 0.5 + 0.5 * math.log(2 * math.pi)) < 1e-5


def gamma_and_categorical() -> None:
    """With JAX's table put back, the densities of Gamma and Categorical match SciPy, also under jit, vmap and grad."""
    import jax.interpreters.xla
    import jax.numpy as jnp
    import numpy as np
    import scipy.stats
    from jax._src import core

    jax.interpreters.xla.pytype_aval_mappings = core.pytype_aval_mappings
    from tensorflow_probability.substrates import jax as tfp

    def density(rate: Any, x: Any) -> Any:
        return tfp.distributions.Gamma(2.0, rate).log_prob(x)

    rate, x = np.array([[0.5], [1.0], [3.0]], np.float32), np.array([0.25, 1.0, 2.0, 8.0], np.float32)
    wanted = scipy.stats.gamma.logpdf(x, 2.0, scale=1 / rate)
    np.testing.assert_allclose(jax.jit(density)(rate, x), wanted, rtol=1e-4, atol=1e-5)
    slope = jax.vmap(jax.grad(density), (0, None))(jnp.array([0.5, 1.0, 3.0]), 2.0)
    np.testing.assert_allclose(slope, 2 / np.array([0.5, 1.0, 3.0]) - 2, rtol=1e-4, atol=1e-5)
    found = tfp.distributions.Categorical(probs=jnp.array([[0.4, 0.6], [0.1, 0.9]])).log_prob(jnp.array([0, 1]))
    np.testing.assert_allclose(found, np.log([0.4, 0.9]), rtol=1e-4)


def multivariate_normal() -> tuple[str, str]:
    """Does tfp.distributions.MultivariateNormalDiag return the log density of a multivariate normal?"""
    import math

    import jax.numpy as jnp
    from tensorflow_probability.substrates import jax as tfp

    found = tfp.distributions.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2)).log_prob(jnp.ones(2))
    return compare(found, -1.0 - math.log(2 * math.pi), rtol=1e-5)


NO_TABLE = Signature("AttributeError", "pytype_aval_mappings", "tensorflow_probability")
REMOVED = Rule("no-pytype-aval-mappings", "tensorflow-probability<=0.25.0 jax>=0.7.0", "probability#2009")

# The workaround reads the table.
_IMPORT = "import tensorflow_probability.substrates.jax if without('jax._src.core.pytype_aval_mappings')"

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
            touches=(f"{_IMPORT} and shows('no-pytype-aval-mappings')",),
            workaround=Workaround(
                "Before the import, set jax.interpreters.xla.pytype_aval_mappings to the one in jax._src.core.",
                code=table_put_back,
                elsewhere=gamma_and_categorical,
            ),
            signatures={"no-pytype-aval-mappings": NO_TABLE},
            rules=(REMOVED, Rule("agrees")),
        ),
        Case(
            multivariate_normal,
            touches=(
                f"{_IMPORT} and shows('no-pytype-aval-mappings')",
                "tensorflow_probability.substrates.jax.distributions.MultivariateNormalDiag if shows('no-issctype')",
            ),
            workaround=Workaround(
                "If the error names np.issctype, and jax accepts it: pin numpy<2.",
                pin="numpy<2",
                fails=(REMOVED.on,),
            ),
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
