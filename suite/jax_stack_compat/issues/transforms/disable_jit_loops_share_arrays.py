"""Under disable_jit, loops and jitted functions can modify NumPy inputs

Under `jax.disable_jit`, a loop runs in Python and its body receives NumPy arrays as they are, so `c += 1` modifies an
array that other code may share. In `jax.scipy.special.expi`, a factor shares its array with the constant 1 that the
loop adds (jax#27019). jax#27059 makes `jax.lax.while_loop` convert its carry to JAX arrays. `jax.lax.scan`,
`jax.lax.fori_loop` and `jax.jit` also let a function modify NumPy arrays (`scan_outputs`, `fori_loop`, `jitted`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def expi() -> tuple[str, str]:
    """Does jax.scipy.special.expi(jnp.array([-0.5])) agree with SciPy under jax.disable_jit?"""
    import jax
    import jax.numpy as jnp

    with jax.disable_jit():
        got = jax.scipy.special.expi(jnp.array([-0.5]))
    return compare(got, [-0.5597736], rtol=1e-5)


def with_jit() -> None:
    """Under jit, scan and expi return the expected values, and the NumPy carry is unchanged."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def step(c: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        c += 1.0
        return c, c

    start = np.zeros(1, np.float32)
    _, outputs = jax.lax.scan(step, start, None, length=3)
    assert outputs.ravel().tolist() == [1.0, 2.0, 3.0]
    assert start.tolist() == [0.0]
    np.testing.assert_allclose(jax.scipy.special.expi(jnp.array([-0.5])), [-0.5597736], rtol=1e-5)


def expi_with_jit() -> None:
    """Within jax.disable_jit(False), expi returns SciPy's value."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    with jax.disable_jit(), jax.disable_jit(False):
        got = jax.scipy.special.expi(jnp.array([-0.5]))
    np.testing.assert_allclose(got, [-0.5597736], rtol=1e-5)


def integral(x: Any) -> Any:
    """Under jax.disable_jit(False), compute expi of x and of its first number, made negative."""
    import jax
    import jax.numpy as jnp

    with jax.disable_jit(), jax.disable_jit(False):
        return jnp.append(jax.scipy.special.expi(x), jax.scipy.special.expi(-jnp.abs(x.ravel()[:1])))


def scipy_integral(x: Any) -> Any:
    """Return SciPy's values."""
    import numpy as np
    from scipy.special import expi

    return np.append(expi(x), expi(-abs(x.ravel()[:1])))


def scan_outputs() -> tuple[str, str]:
    """Does lax.scan with c += 1 under jax.disable_jit return 1, 2, 3, and leave its NumPy carry unchanged?"""
    import jax
    import numpy as np

    def step(c: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        c += 1.0
        return c, c

    start = np.zeros(1, np.float32)
    with jax.disable_jit():
        _, outputs = jax.lax.scan(step, start, None, length=3)
    return compare(np.concatenate([np.ravel(outputs), start]), [1.0, 2.0, 3.0, 0.0])


def jax_arrays() -> None:
    """Under jax.disable_jit, a JAX array as the carry stays unchanged, and lax.scan returns 1, 2, 3."""
    import jax
    import jax.numpy as jnp

    def step(c: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        c += 1.0
        return c, c

    start = jnp.zeros(1)
    with jax.disable_jit():
        _, outputs = jax.lax.scan(step, start, None, length=3)
        _, c = jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, step(s[1], None)[0]), (0, start))
    assert outputs.ravel().tolist() == [1.0, 2.0, 3.0]
    assert c.tolist() == [3.0]
    assert start.tolist() == [0.0]


def sums(x: Any) -> Any:
    """Add rows to a carry with `+=`, in two loops and a jitted function that get JAX copies, one of a tree."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def add(c: Any, row: Any) -> tuple[Any, Any]:
        c += row
        return c, c

    given = np.zeros_like(x[0])
    with jax.disable_jit():
        rows = jax.lax.scan(add, jnp.array(given), x)[1]
        copied = jax.tree_util.tree_map(jnp.array, {"sum": given, "count": np.int32(0)})
        last = jax.lax.fori_loop(
            0, len(x), lambda i, c: {"sum": add(c["sum"], x[i])[0], "count": c["count"] + 1}, copied
        )
        return jnp.stack([*rows, last["sum"], jax.jit(add)(jnp.array(given), x[0])[0], given])


def numpy_sums(x: Any) -> Any:
    """Return NumPy's cumulative sums, the last, the first, and zeros."""
    import numpy as np

    rows = np.cumsum(x, axis=0, dtype=x.dtype)
    return np.stack([*rows, rows[-1], x[0], np.zeros_like(x[0])])


def fori_loop() -> tuple[str, str]:
    """Does lax.fori_loop with c += 1 under jax.disable_jit leave its NumPy carry unchanged?"""
    import jax
    import numpy as np

    def step(i: int, c: jax.Array) -> jax.Array:
        c += 1.0
        return c

    start = np.zeros(1, np.float32)
    with jax.disable_jit():
        got = jax.lax.fori_loop(0, 3, step, start)
    return compare(np.concatenate([got, start]), [3.0, 0.0])


def while_loop() -> tuple[str, str]:
    """Does lax.while_loop with c += 1 under jax.disable_jit leave its NumPy carry unchanged?"""
    import jax
    import numpy as np

    def step(state: tuple[int, jax.Array]) -> tuple[int, jax.Array]:
        i, c = state
        c += 1.0
        return i + 1, c

    start = np.zeros(1, np.float32)
    with jax.disable_jit():
        _, got = jax.lax.while_loop(lambda state: state[0] < 3, step, (0, start))
    return compare(np.concatenate([got, start]), [3.0, 0.0])


def jitted() -> tuple[str, str]:
    """Does a jax.jit function with c += 1 under jax.disable_jit leave its NumPy argument unchanged?"""
    import jax
    import numpy as np

    def add_one(c: jax.Array) -> jax.Array:
        c += 1.0
        return c

    start = np.zeros(1, np.float32)
    with jax.disable_jit():
        got = jax.jit(add_one)(start)
    return compare(np.concatenate([got, start]), [1.0, 0.0])


_ARRAYS = Workaround(
    "If the function returns JAX arrays, copy its inputs first: jax.tree_util.tree_map(jnp.array, inputs).",
    jax_arrays,
    elsewhere=Elsewhere(
        sums,
        numpy_sums,
        ("int32 matrix", "float16 batch", "float32 vector", "complex64 square", "uint8 one"),
        rtol=1e-3,
    ),
)


def _touches(*names: str) -> tuple[str, str]:
    """Return the ways to disable jit in a project that uses one of these functions."""
    uses = f"uses({', '.join(map(repr, names))})"
    flag = "jax.config.update(name, value) if name == 'jax_disable_jit' and value == True"
    return f"jax.disable_jit if {uses}", f"{flag} and {uses}"


_ALL = (Rule("differs"),)
_RULES = (Rule("differs", "jax<0.5.3"), Rule("agrees", "", "jax#27059 (4ae3211ea2)"))

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#27019", fix="jax#27059", attempt="jax#27042"),
    touches=("jax.disable_jit", "jax_disable_jit"),
    control=with_jit,
    cases=(
        Case(
            expi,
            rules=_RULES,
            workaround=Workaround(
                "Call expi, exp1 and expn within jax.disable_jit(False); you then cannot step through them.",
                expi_with_jit,
                elsewhere=Elsewhere(
                    integral,
                    scipy_integral,
                    ("float32 vector", "positive float32 matrix", "unit float32 one", "float32 scalar"),
                    rtol=1e-4,
                ),
            ),
            touches=_touches("jax.scipy.special.expi", "jax.scipy.special.exp1", "jax.scipy.special.expn"),
        ),
        Case(scan_outputs, rules=_ALL, workaround=_ARRAYS, touches=_touches("jax.lax.scan")),
        Case(while_loop, rules=_RULES, workaround=_ARRAYS, touches=_touches("jax.lax.while_loop")),
        Case(fori_loop, rules=_ALL, workaround=_ARRAYS, touches=_touches("jax.lax.fori_loop")),
        Case(jitted, rules=_ALL, workaround=_ARRAYS, touches=_touches("jax.jit", "jax.lax.cond", "jax.lax.switch")),
    ),
)
