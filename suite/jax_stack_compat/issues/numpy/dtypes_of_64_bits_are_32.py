"""jnp.ones(2, dtype="float64") is float32 unless x64 is enabled

As documented, JAX computes in 32 bits by default, because training neural networks is a primary use (jax#1333).
`jax.numpy` warns when it truncates a 64-bit dtype that is requested by name (`asked_by_name`), but not when it
truncates NumPy arrays (`brought_along`). In a NumPy array, integers beyond 32 bits lose their upper half (`integers`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def asked_by_name() -> tuple[str, str]:
    """What is the dtype of jnp.ones(2, dtype="float64")?"""
    import jax.numpy as jnp

    dtype = str(jnp.ones(2, dtype="float64").dtype)
    return "kept" if dtype == "float64" else "truncated", dtype


def of_32_bits() -> None:
    """jnp.ones(2, dtype="float32") has the dtype float32."""
    import jax.numpy as jnp

    assert jnp.ones(2, dtype="float32").dtype == "float32"


def switched_on() -> None:
    """With x64 enabled, jnp.ones(2, dtype="float64") has the dtype float64."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    try:
        assert jnp.ones(2, dtype="float64").dtype == "float64"
    finally:  # by itself the module goes on in this process
        jax.config.update("jax_enable_x64", False)


def other_arrays() -> None:
    """With x64, arrays from NumPy keep dtypes and values, under jit too, and random numbers can have 64 bits."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    try:
        for dtype in ("float64", "int64", "uint64", "complex128", "float32", "int8"):
            x = np.asarray([[1, 2**40 + 5]]).astype(dtype)
            for got in (jnp.asarray(x), jax.jit(lambda x: x)(x)):
                assert got.dtype == dtype
                np.testing.assert_array_equal(got, x)
        assert jax.random.uniform(jax.random.PRNGKey(0), (2,), "float64").dtype == "float64"
    finally:
        jax.config.update("jax_enable_x64", False)


def brought_along() -> tuple[str, str]:
    """What is the dtype of jnp.asarray of a float64 NumPy array?"""
    import jax.numpy as jnp
    import numpy as np

    dtype = str(jnp.asarray(np.ones(2)).dtype)
    return "kept" if dtype == "float64" else "truncated", dtype


def integers() -> tuple[str, str]:
    """Does jnp.asarray of a NumPy array of int64 keep the value 2**40 + 5?"""
    import jax.numpy as jnp
    import numpy as np

    got = int(jnp.asarray(np.array([2**40 + 5]))[0])
    return {2**40 + 5: "kept", 5: "truncated"}.get(got, "other"), f"{got}"


_RUN = "documented under The Sharp Bits"
_ASKED = "if dtype in ('float64', 'int64', 'jax.numpy.float64', 'jax.numpy.int64') and without('jax_enable_x64')"

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#1333 jax#470", docs="jax:notebooks/Common_Gotchas_in_JAX.html#double-64bit-precision"
    ),
    touches=("64 bits",),
    control=of_32_bits,
    behaviours={"truncated": "documented", "truncated-with-warning": "documented", "kept": "different"},
    rules=(Rule("truncated", "", _RUN),),
    workaround=Workaround(
        'At startup, call jax.config.update("jax_enable_x64", True); most default dtypes then have 64 bits.',
        switched_on,
        elsewhere=other_arrays,
    ),
    cases=(
        Case(
            asked_by_name,
            rules=(Rule("truncated-with-warning", "", _RUN),),
            signatures={"truncated-with-warning": Signature("UserWarning", "Explicitly requested dtype")},
            touches=(
                *members("jax.numpy", "ones zeros", f"(shape, dtype) {_ASKED}"),
                *members("jax.numpy", "array asarray", f"(object, dtype) {_ASKED}"),
            ),
        ),
        Case(brought_along),
        Case(integers),
    ),
)
