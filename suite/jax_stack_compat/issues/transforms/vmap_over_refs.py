"""jax.vmap over a Ref raises, or reads and writes other elements

dd6d6d24ae drops the index of `r[...] = x`; mapped along different axes, `x` is not moved, so a write raises
(`another_shape`, jax#39288) or, in a square ref, is transposed (`written_along_axis_one`). ce1baf2fb9 maps by a slice
instead of indices, so `r[i]` takes all rows' indices (`mapped_index`), and reading `r[0]` raises (`first_element`,
jax#33309) or gives other elements (`first_row`). A mapped `scan` moved axis 1 to the front, which refs do not support
(`in_a_loop`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def another_shape() -> tuple[str, str]:
    """Does a ref of shape (2, 3) hold what jax.vmap with in_axes=(1, 0) wrote into it?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def write(r: jax.Array, x: jax.Array) -> None:
        r[...] = x

    ref = jax.new_ref(jnp.zeros((2, 3)))
    jax.vmap(write, in_axes=(1, 0))(ref, jnp.array([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]))
    return compare(ref[...], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


def whole_rows() -> None:
    """vmap reads and writes whole rows of a ref along axis 0; on releases without refs, it reads rows of an array."""
    import jax
    import jax.numpy as jnp

    rows = jnp.array([[0.0, 1.0], [2.0, 3.0]])
    if not hasattr(jax, "new_ref"):
        assert jax.vmap(lambda r: r[...] + 1.0)(rows).tolist() == [[1.0, 2.0], [3.0, 4.0]]
        return

    def add(r: jax.Array) -> None:
        r[...] += 1.0

    ref = jax.new_ref(rows)
    jax.vmap(add)(ref)
    assert ref[...].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert jax.vmap(lambda r: r[...])(ref).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def map_the_array() -> None:
    """If jax.vmap maps over the array, and one assignment writes the ref, the ref holds the expected values."""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return
    ref = jax.new_ref(jnp.zeros((2, 2)))
    ref[...] = jax.vmap(lambda r, i: r.at[i].add(1.0))(ref[...], jnp.array([0, 1]))
    assert ref[...].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    ref[...] = jax.vmap(lambda r, x: x, in_axes=(1, 0), out_axes=1)(ref[...], jnp.array([[0.0, 2.0], [1.0, 3.0]]))
    assert ref[...].tolist() == [[0.0, 1.0], [2.0, 3.0]]


def added_twice(x: Any, y: Any) -> Any:
    """Add y twice to a ref, in a loop mapped over axis 1 of the array."""
    import jax

    def add(column: Any, other: Any) -> Any:
        return jax.lax.fori_loop(0, 2, lambda _, total: total + other, column)

    ref = jax.new_ref(x)
    ref[...] = jax.vmap(add, in_axes=(1, 1), out_axes=1)(ref[...], y)
    return ref[...]


def sum_of_three(x: Any, y: Any) -> Any:
    """Return x + y + y."""
    return x + y + y


def written_along_axis_one() -> tuple[str, str]:
    """Does a square ref hold what jax.vmap with in_axes=(1, 0) wrote into it?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def write(r: jax.Array, x: jax.Array) -> None:
        r[...] = x

    ref = jax.new_ref(jnp.zeros((2, 2)))
    jax.vmap(write, in_axes=(1, 0))(ref, jnp.array([[0.0, 2.0], [1.0, 3.0]]))
    return compare(ref[...], [[0.0, 1.0], [2.0, 3.0]])


def mapped_index() -> tuple[str, str]:
    """Does r[i] += 1 under jax.vmap add 1 to each row of a ref at the row's own index?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def add(r: jax.Array, i: jax.Array) -> None:
        r[i] += 1.0

    ref = jax.new_ref(jnp.zeros((2, 2)))
    jax.vmap(add)(ref, jnp.array([0, 1]))
    return compare(ref[...], [[1.0, 0.0], [0.0, 1.0]])


def first_element() -> tuple[str, str]:
    """Does jax.vmap(lambda r: r[0]) of a ref return the first element of each row?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"
    return compare(jax.vmap(lambda r: r[0])(jax.new_ref(jnp.array([[0.0, 1.0], [2.0, 3.0]]))), [0.0, 2.0])


def first_row() -> tuple[str, str]:
    """Does jax.vmap(lambda r: r[0]) of a ref of shape (2, 2, 2) return the first row of each matrix?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"
    return compare(jax.vmap(lambda r: r[0])(jax.new_ref(jnp.arange(8.0).reshape(2, 2, 2))), [[0.0, 1.0], [4.0, 5.0]])


def in_a_loop() -> tuple[str, str]:
    """Does jax.lax.scan add to a ref that jax.vmap maps along axis 1?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def add(r: jax.Array) -> None:
        def step(carry: int, _: None) -> tuple[int, None]:
            r[...] += 1.0
            return carry, None

        jax.lax.scan(step, 0, None, length=2)

    ref = jax.new_ref(jnp.zeros((2, 3)))
    jax.vmap(add, in_axes=1)(ref)
    return compare(ref[...].ravel(), [2.0] * 6)


_ABSENT = Rule("absent", "jax<0.7.2", "jax.new_ref came with 0.7.2")
_FIRST = Rule("agrees", "jax<0.8.0")
_REFS = "uses('jax.new_ref', 'jax.Ref', 'jax.experimental.mutable_array')"
# A function that only writes to a ref returns nothing, so its vmap has no out_axes.
_ALONG = (f"jax.vmap(fun, in_axes, out_axes) if in_axes != 0 and not given(out_axes) and {_REFS}",)
_WRITE = "dd6d6d24ae"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#39288 jax#33309",
        cause="jax@dd6d6d24ae jax@ce1baf2fb9",
        fix="jax@ce6f33d55b jax#37113 jax#39293",
        attempt="jax#39745",
    ),
    touches=("jax.new_ref", "jax.vmap"),
    known_by=r"\bnew_ref\b|\bRef\b|jax/_src/state/",
    control=whole_rows,
    workaround=Workaround(
        "Map over the array ref[...], which copies it, and assign new values to ref[...].",
        map_the_array,
        elsewhere=Elsewhere(
            added_twice,
            sum_of_three,
            (
                "float32 matrix, float32 matrix",
                "float16 square, zero float16 square",
                "int32 batch, int32 batch",
                "uint8 matrix, uint8 matrix",
            ),
        ),
    ),
    cases=(
        Case(
            another_shape,
            behaviours={"refused": "affected", "differs": "different"},
            signatures={"refused": Signature("ValueError", "Invalid shape for `swap`", everyday=True)},
            rules=(_ABSENT, _FIRST, Rule("refused", "jax<0.11.1", _WRITE), Rule("agrees", "", "jax#39293")),
            touches=_ALONG,
        ),
        Case(
            written_along_axis_one,
            rules=(_ABSENT, _FIRST, Rule("differs", "jax<0.11.1", _WRITE), Rule("agrees", "", "jax#39293")),
            touches=_ALONG,
        ),
        Case(
            mapped_index,
            behaviours={"refused": "affected"},
            signatures={"refused": Signature("ValueError", "Indexer must have rank")},
            rules=(
                _ABSENT,
                _FIRST,
                Rule("differs", "jax<0.8.2", "ce1baf2fb9"),
                Rule("refused", "jax<0.10.1", "ce6f33d55b"),
                Rule("agrees", "", "jax#37113"),
            ),
            touches=("jax.new_ref if unseen and uses('jax.vmap')",),
        ),
        Case(
            first_element,
            behaviours={"refused": "affected", "differs": "different"},
            signatures={"refused": Signature("ValueError", "is out of bounds for array of dimension", everyday=True)},
            rules=(_ABSENT, _FIRST, Rule("refused", "jax<0.8.2", "ce1baf2fb9"), Rule("agrees", "", "ce6f33d55b")),
            touches=("jax.new_ref if unseen and uses('jax.vmap')",),
        ),
        Case(
            first_row,
            rules=(_ABSENT, _FIRST, Rule("differs", "jax<0.8.2", "ce1baf2fb9"), Rule("agrees", "", "ce6f33d55b")),
            touches=("jax.new_ref if unseen and uses('jax.vmap')",),
        ),
        Case(
            in_a_loop,
            behaviours={"refused": "affected", "differs": "different"},
            signatures={"refused": Signature("AttributeError", "'Ref' object has no attribute", everyday=True)},
            rules=(
                _ABSENT,
                Rule("refused", "jax<0.12.0", "jax#39288"),
                Rule("agrees", "", "jax 0.12.0 has the change to loops.py that jax#39745 proposes"),
            ),
            touches=(
                f"jax.vmap(fun, in_axes, out_axes) if in_axes != 0 and not given(out_axes) and {_REFS} "
                "and uses('jax.lax.scan', 'jax.lax.fori_loop')",
            ),
        ),
    ),
)
