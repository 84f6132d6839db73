"""jnp.clip(x, a_min=0) is a TypeError since jax 0.10.0, and jnp.clip(x, min=0) one up to jax 0.4.26

    jnp.clip(x, a_min=0, a_max=1)    # warns from jax 0.4.27; a TypeError from 0.10.0
    jnp.clip(x, min=0, max=1)        # from 0.4.27

The array API calls them min and max, and so does NumPy since 2.1, beside the names of old; JAX gave the old ones up,
after two years of a warning. By position both are what they were. Complex numbers have no order, and clip takes them no
more: a warning from 0.4.27, a ValueError since 0.4.32.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def old_keywords() -> tuple[str, str]:
    """Does clip take a_min and a_max?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(jnp.arange(4), a_min=1, a_max=2).tolist()}"


def by_position() -> None:
    """Both bounds by position: taken on every release."""
    import jax.numpy as jnp

    assert jnp.clip(jnp.arange(4), 1, 2).tolist() == [1, 1, 2, 2]
    assert jnp.clip(jnp.arange(4), 1, None).tolist() == [1, 1, 2, 3]


def array_by_keyword() -> tuple[str, str]:
    """Does it take the array as a?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(a=jnp.arange(4), a_min=1, a_max=2).tolist()}"


def new_keywords() -> tuple[str, str]:
    """Does it take min and max?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(jnp.arange(4), min=1, max=2).tolist()}"


def complex_numbers() -> tuple[str, str]:
    """Does it take complex numbers?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(jnp.array([2 + 1j]), 0, 1).tolist()}"


def each_part() -> None:
    """Of a complex number the parts, one by one."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([2 + 1j])
    assert jax.lax.complex(jnp.clip(x.real, 0, 1), jnp.clip(x.imag, 0, 1)).tolist() == [1 + 1j]


_CLIP = "jax.numpy.clip(arr, min, max, a, a_min, a_max)"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="jax#20550", changelog="jax:changelog.html"),
    touches=("jax.numpy.clip(a_min=)", "jax.numpy.clip(a_max=)", "jax.numpy.clip(a=)", "jax.numpy.clip"),
    control=by_position,
    rules=(Rule("taken", "jax<0.4.27"), Rule("warns", "jax<0.10.0"), Rule("gone")),
    workaround=Workaround("Give the bounds by position.", by_position),
    signatures={
        "warns": Signature("DeprecationWarning", "Passing arguments 'a', 'a_min'"),
        "gone": Signature("TypeError", "got an unexpected keyword argument", everyday=True),
    },
    cases=(
        Case(old_keywords, touches=(f"{_CLIP} if given(a_min) or given(a_max)",)),
        Case(array_by_keyword, touches=(f"{_CLIP} if given(a)",)),
        Case(
            new_keywords,
            behaviours={"refused": "guarded"},
            signatures={"refused": Signature("TypeError", "got an unexpected keyword argument", everyday=True)},
            rules=(Rule("refused", "jax<0.4.27"), Rule("taken")),
            touches=("jax.numpy.clip(min=)", "jax.numpy.clip(max=)"),
        ),
        Case(
            complex_numbers,
            behaviours={"refused": "documented"},
            signatures={
                "warns": Signature("DeprecationWarning", "Clip received a complex value"),
                "refused": Signature("ValueError", "Clip received a complex value"),
            },
            rules=(
                Rule("taken", "jax<0.4.27"),
                Rule("warns", "jax<0.4.32"),
                Rule("refused", "", "the changelog of 0.4.32"),
            ),
            workaround=Workaround("Clip the real and the imaginary part.", each_part),
            touches=("jax.numpy.clip",),
        ),
    ),
)
