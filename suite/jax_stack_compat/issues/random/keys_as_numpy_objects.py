"""np.asarray of a typed random key is an array of objects, silently, up to jax 0.4.35, and a TypeError from 0.4.36

    np.asarray(jax.random.key(0)).dtype    # object; np.save then pickles the key, and == compares objects

A typed key has no numbers that NumPy could take for its own, and NumPy makes an object of what it does not know. So
code that saves or compares arrays by NumPy went on with the key's Python object. jax#24481 raises instead, and names
`jax.random.key_data`, which gives the numbers on every release. A key of `jax.random.PRNGKey` is an array of numbers.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def asarray() -> tuple[str, str]:
    """What is a typed key as a NumPy array?"""
    import jax
    import numpy as np

    found = np.asarray(jax.random.key(0))
    return "objects" if found.dtype == object else "other", f"an array of {found.dtype}, of shape {found.shape}"


def untyped() -> None:
    """One of jax.random.PRNGKey is an array of two numbers."""
    import jax
    import numpy as np

    assert np.asarray(jax.random.PRNGKey(0)).dtype == np.uint32
    assert np.asarray(jax.random.PRNGKey(0)).shape == (2,)


def by_key_data() -> None:
    """By its numbers, and back."""
    import jax
    import numpy as np

    key = jax.random.key(3)
    numbers = np.asarray(jax.random.key_data(key))
    assert numbers.dtype == np.uint32
    again = jax.random.wrap_key_data(numbers)
    assert float(jax.random.uniform(again)) == float(jax.random.uniform(key))


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#24481"),
    control=untyped,
    behaviours={"objects": "affected", "other": "different"},
    rules=(Rule("objects", "jax<0.4.36"), Rule("refused", "", "jax#24481")),
    workaround=Workaround(
        "np.asarray(jax.random.key_data(key)), and jax.random.wrap_key_data to go back.", by_key_data
    ),
    signatures={"refused": Signature("TypeError", "PRNGKey dtype cannot be converted to a NumPy array")},
    cases=(Case(asarray, touches=("jax.random.key if within('numpy.asarray', 'numpy.array')",)),),
)
