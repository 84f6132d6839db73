"""Under jax.disable_jit() loops write in the NumPy arrays they are given, and results differ from those under jit

    with jax.disable_jit():
        jax.scipy.special.expi(jnp.array([-0.5]))               # 27.9 up to 0.5.2, should be -0.56
        jax.lax.scan(add_one, np.zeros(1), None, length=3)[1]   # 3, 3, 3, should be 1, 2, 3

`disable_jit` is for debugging. A loop is then one of Python, and a carry that came in as a NumPy array is handed to the
body as it is: `c += 1` writes in it, where under jit it makes a new one. So the caller's array changes, and whatever
else is the same array with it; in `expi` that is a coefficient. jax#27019 has `expi`; jax#27059, in 0.5.3, has
`while_loop` make JAX arrays of its carry.

Seen in these runs:

- `scan` and `fori_loop` write in the NumPy array that they are given, from 0.4.18 on.
- With `scan` the outputs are wrong too: each is the same array, and all show its last state.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def expi() -> tuple[str, str]:
    """Does jax.scipy.special.expi give under disable_jit what SciPy gives?"""
    import jax
    import jax.numpy as jnp

    with jax.disable_jit():
        got = jax.scipy.special.expi(jnp.array([-0.5]))
    return compare(got, [-0.5597736], rtol=1e-5)


def scan_outputs() -> tuple[str, str]:
    """Are the outputs of a scan with `c += 1` under disable_jit those under jit, and is its NumPy carry left alone?"""
    import jax
    import numpy as np

    def step(c: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        c += 1.0
        return c, c

    start = np.zeros(1, np.float32)
    with jax.disable_jit():
        _, outputs = jax.lax.scan(step, start, None, length=3)
    return compare(np.concatenate([np.ravel(outputs), start]), [1.0, 2.0, 3.0, 0.0])


def with_jit() -> None:
    """Under jit the same loops are right."""
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


def jax_arrays() -> None:
    """JAX arrays to begin with, which nothing writes in."""
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


def fori_loop() -> tuple[str, str]:
    """Does a fori_loop with `c += 1` under disable_jit leave the NumPy array alone that it is given?"""
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
    """Does a while_loop?"""
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


_ARRAYS = Workaround("Give loops JAX arrays: jnp.asarray(carry).", jax_arrays)
_ALL = (Rule("differs"),)
_RULES = (Rule("differs", "jax<0.5.3"), Rule("agrees", "", "jax#27059 (4ae3211ea2)"))

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#27019", fix="jax#27059"),
    touches=("jax.disable_jit", "jax_disable_jit"),
    control=with_jit,
    cases=(
        Case(scan_outputs, rules=_ALL, workaround=_ARRAYS, touches=("jax.disable_jit if uses('jax.lax.scan')",)),
        Case(expi, rules=_RULES, touches=("jax.disable_jit if uses('jax.scipy.special.expi')",)),
        Case(while_loop, rules=_RULES, workaround=_ARRAYS, touches=("jax.disable_jit if uses('jax.lax.while_loop')",)),
        Case(fori_loop, rules=_ALL, workaround=_ARRAYS, touches=("jax.disable_jit if uses('jax.lax.fori_loop')",)),
    ),
)
