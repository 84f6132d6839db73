"""NumPy wraps a typed jax.random key as an object, or cannot read it

A typed key has no numeric dtype, so `np.asarray` wrapped it as a Python object (jax#18767), which `np.save` pickled.
Since jax#24481, `np.asarray` of a typed key raises, and the message names `jax.random.key_data`. `np.array_equal`
catches the TypeError of a typed key, and returns False for equal keys (`array_equal`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def asarray() -> tuple[str, str]:
    """Does np.asarray of a jax.random.key return an array of objects?"""
    import jax
    import numpy as np

    found = np.asarray(jax.random.key(0))
    return "objects" if found.dtype == object else "other", f"an array of {found.dtype}, of shape {found.shape}"


def untyped() -> None:
    """A jax.random.PRNGKey is an array of two numbers."""
    import jax
    import numpy as np

    assert np.asarray(jax.random.PRNGKey(0)).dtype == np.uint32
    assert np.asarray(jax.random.PRNGKey(0)).shape == (2,)


def by_key_data() -> None:
    """jax.random.key_data returns a key's numbers, and wrap_key_data makes a key of them that draws the same."""
    import jax
    import numpy as np

    key = jax.random.key(3)
    numbers = np.asarray(jax.random.key_data(key))
    assert numbers.dtype == np.uint32
    again = jax.random.wrap_key_data(numbers)
    assert float(jax.random.uniform(again)) == float(jax.random.uniform(key))


def saved_keys() -> None:
    """Keys of three implementations, single and in batches, are equal after np.save, and draw the same numbers."""
    import io

    import jax
    import numpy as np

    for impl in ("threefry2x32", "rbg", "unsafe_rbg"):
        key = jax.random.key(3, impl=impl)
        for keys in (key, jax.random.split(key, 3), jax.random.split(key, 0)):
            file = io.BytesIO()
            np.save(file, jax.random.key_data(keys))
            file.seek(0)
            again = jax.random.wrap_key_data(np.load(file), impl=jax.random.key_impl(keys))
            assert (again.shape, again.dtype) == (keys.shape, keys.dtype)
            assert np.array_equal(jax.random.key_data(again), jax.random.key_data(keys))
        assert jax.random.uniform(jax.random.wrap_key_data(jax.random.key_data(key), impl=impl)) == jax.random.uniform(
            key
        )


def array_equal() -> tuple[str, str]:
    """Is np.array_equal of two equal keys from jax.random.key true?"""
    import jax
    import numpy as np

    found = bool(np.array_equal(jax.random.key(0), jax.random.key(0)))
    return ("agrees" if found else "differs"), f"{found}"


_NUMPY = "'numpy.array', 'numpy.asarray', 'numpy.save', 'numpy.savez', 'numpy.stack'"
# What these return is no key.
_DRAWS = "key_data bits bernoulli categorical choice exponential gamma normal permutation randint uniform"
_NO_KEY = ", ".join(f"'jax.random.{name}'" for name in _DRAWS.split())


def _within(functions: str) -> tuple[str]:
    """Return the touch of a key in an argument of one of the functions."""
    return (f"jax.random.key if unseen and within({functions}) and not within({_NO_KEY})",)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#18767", fix="jax#24481"),
    control=untyped,
    signatures={"refused": Signature("TypeError", "PRNGKey dtype cannot be converted to a NumPy array")},
    workaround=Workaround(
        "Pass jax.random.key_data(key); restore with jax.random.wrap_key_data(data, impl=jax.random.key_impl(key)).",
        by_key_data,
        elsewhere=saved_keys,
    ),
    cases=(
        Case(
            asarray,
            behaviours={"objects": "affected", "other": "different"},
            rules=(Rule("objects", "jax<0.4.36"), Rule("refused", "", "jax#24481 (c8f5b2bb13)")),
            touches=_within(_NUMPY),
        ),
        Case(
            array_equal,
            rules=(
                Rule("agrees", "jax<0.4.36"),
                Rule("differs", "", "np.array_equal catches the TypeError of jax#24481"),
            ),
            touches=_within("'numpy.array_equal'"),
        ),
    ),
)
