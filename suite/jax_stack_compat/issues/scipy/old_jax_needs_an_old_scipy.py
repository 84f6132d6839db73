"""jax.scipy.linalg does not import beside SciPy 1.13: an older jax takes tril and triu from it

    import jax.scipy.linalg    # jax 0.4.23, scipy 1.13.0: AttributeError: module 'scipy.linalg' has no attribute 'tril'

You'd expect a jax that was pinned to go on working. It asks for SciPy 1.9 or newer and sets no upper bound, so that who
installs it afresh gets a SciPy without `tril` and `triu`, which jax only wanted the documentation of. JAX imports; what
fails is jax.scipy.linalg, and with it jax.scipy.stats and Optax. JAX had stopped in 0.4.24, two months before, so that
it bites who pins jax alone.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def linalg() -> tuple[str, str]:
    """Does jax.scipy.linalg import, and factorise a matrix?"""
    import jax.numpy as jnp
    import jax.scipy.linalg
    import scipy

    found = float(jax.scipy.linalg.cholesky(jnp.array([[4.0]]))[0, 0])
    return "works" if found == 2.0 else "other-values", f"{found} with SciPy {scipy.__version__}"


def by_numpy() -> None:
    """The same from jax.numpy, which needs no SciPy for it."""
    import jax.numpy as jnp

    assert float(jnp.linalg.cholesky(jnp.array([[4.0]]))[0, 0]) == 2.0


ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(report="jax#20965 lanl/scico#539", change="huggingface/transformers#30402 jax#17182"),
    touches=("jax.scipy.linalg", "jax.scipy.stats"),
    control=by_numpy,
    behaviours={"other-values": "affected"},
    rules=(Rule("no-tril", "jax<0.4.24 scipy>=1.13.0", "jax#20965"), Rule("works")),
    workaround=Workaround("Hold SciPy with jax 0.4.23 and older, or take from jax.numpy.", pin="scipy<1.13"),
    signatures={"no-tril": Signature("AttributeError", "has no attribute 'tri", "jax")},
    needs=("jax", "scipy"),
    cases=(Case(linalg),),
)
