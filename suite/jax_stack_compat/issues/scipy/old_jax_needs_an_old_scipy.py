"""jax.scipy.linalg does not import beside a SciPy without tril and triu

`jax.scipy.linalg` wrapped `tril` and `triu` of SciPy, which removed these functions (scipy/scipy#19674). Jax declared
no upper bound for SciPy, so an installer chooses a SciPy without `tril` and `triu`; jax@e356d76913 removes the
wrappers. Optax, which imports `jax.scipy.stats`, fails too (huggingface/transformers#30402).
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
    """jnp.linalg.cholesky factorises the matrix [[4.0]]."""
    import jax.numpy as jnp

    assert float(jnp.linalg.cholesky(jnp.array([[4.0]]))[0, 0]) == 2.0


ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(
        report="jax#20965 lanl/scico#539",
        cause="scipy/scipy#19674",
        change="jax#17182 jax@e356d76913",
        discussion="huggingface/transformers#30402",
    ),
    control=by_numpy,
    behaviours={"other-values": "affected"},
    rules=(Rule("no-tril", "jax<0.4.24 scipy>=1.13.0", "scipy/scipy#19674"), Rule("works", "", "jax@e356d76913")),
    workaround=Workaround('Install an older SciPy: pip install "scipy<1.13".', pin="scipy<1.13"),
    signatures={"no-tril": Signature("AttributeError", "has no attribute 'tri", "jax")},
    needs=("jax", "scipy"),
    cases=(
        Case(
            linalg,
            touches=(
                *("import jax.scipy.linalg", "import jax.scipy.stats"),
                *("jax.scipy.linalg", "jax.scipy.stats"),
            ),
        ),
    ),
)
