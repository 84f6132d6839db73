"""vmap over a jax.Ref reads and writes other elements: along axis 1 a square is transposed, from jax 0.8.0 to 0.11.0

    def write(r, x):
        r[...] = x
    jax.vmap(write, in_axes=(1, 0))(ref, x)    # ref = jax.new_ref(jnp.zeros((2, 2))) holds x, and should hold x.T

jax 0.7.2, which brought `jax.new_ref`, does all that is run here, but for the loop. 0.8.0 rewrote how reads and writes
of a ref are batched. jax#33309 has that `x[0]` of a mapped ref raises: twice mended, and right in 0.8.2. An index that
is mapped itself was mended in 0.10.1 (jax#37113), and what is written along another axis than the first in 0.11.1
(jax#39293). jax#39288, which is open, has that error, and that a loop over such a ref raises: so it does up to 0.11.2,
and in 0.12.0 it does not (jax#39745).

Seen in these runs:

- Where shapes happen to fit there is no error, but other numbers. `r[...] = x` with `in_axes=(1, 0)` transposes what it
  writes into a square ref, from 0.8.0 to 0.11.0.
- `r[i] += 1` with an index for each row, in 0.8.0 and 0.8.1, adds to the elements that any row names. From 0.8.2 to
  0.10.0 it is a ValueError.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def written_along_axis_one() -> tuple[str, str]:
    """Does a square ref hold what vmap with in_axes=(1, 0) wrote into it?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def write(r: jax.Array, x: jax.Array) -> None:
        r[...] = x

    ref = jax.new_ref(jnp.zeros((2, 2)))
    jax.vmap(write, in_axes=(1, 0))(ref, jnp.array([[0.0, 2.0], [1.0, 3.0]]))
    return compare(ref[...], [[0.0, 1.0], [2.0, 3.0]])


def whole_rows() -> None:
    """Whole rows of a ref that is mapped along axis 0; without refs, of an array."""
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
    """The array is mapped over, and what comes of it written whole."""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return
    ref = jax.new_ref(jnp.zeros((2, 2)))
    ref[...] = jax.vmap(lambda r, i: r.at[i].add(1.0))(ref[...], jnp.array([0, 1]))
    assert ref[...].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    ref[...] = jax.vmap(lambda r, x: x, in_axes=(1, 0), out_axes=1)(ref[...], jnp.array([[0.0, 2.0], [1.0, 3.0]]))
    assert ref[...].tolist() == [[0.0, 1.0], [2.0, 3.0]]


def mapped_index() -> tuple[str, str]:
    """Does each row of a mapped ref get 1 added at the index that is mapped along with it?"""
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
    """Is x[0] of a mapped ref read?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"
    return compare(jax.vmap(lambda r: r[0])(jax.new_ref(jnp.array([[0.0, 1.0], [2.0, 3.0]]))), [0.0, 2.0])


def in_a_loop() -> tuple[str, str]:
    """Can a scan add to a ref that is mapped along axis 1?"""
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

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#33309 jax#39288", fix="jax#37113 jax#39293", attempt="jax#39745"),
    touches=("jax.new_ref", "jax.vmap"),
    known_by=r"\bnew_ref\b|\bRef\b|jax/_src/state/",
    control=whole_rows,
    workaround=Workaround("Map over the array, and write it back: ref[...] = jax.vmap(f)(ref[...]).", map_the_array),
    cases=(
        Case(
            written_along_axis_one,
            rules=(_ABSENT, _FIRST, Rule("differs", "jax<0.11.1"), Rule("agrees", "", "jax#39293")),
            touches=(f"jax.vmap(fun, in_axes) if in_axes != 0 and {_REFS}",),
        ),
        Case(
            mapped_index,
            behaviours={"refused": "affected"},
            signatures={"refused": Signature("ValueError", "Indexer must have rank")},
            rules=(
                _ABSENT,
                _FIRST,
                Rule("differs", "jax<0.8.2"),
                Rule("refused", "jax<0.10.1"),
                Rule("agrees", "", "jax#37113"),
            ),
            touches=(f"jax.vmap if {_REFS}",),
        ),
        Case(
            first_element,
            behaviours={"refused": "affected", "differs": "different"},
            signatures={"refused": Signature("ValueError", "is out of bounds for array of dimension", everyday=True)},
            rules=(_ABSENT, _FIRST, Rule("refused", "jax<0.8.2", "jax#33309"), Rule("agrees", "", "ce6f33d55b")),
            touches=(f"jax.vmap if {_REFS}",),
        ),
        Case(
            in_a_loop,
            behaviours={"refused": "affected", "differs": "different"},
            signatures={"refused": Signature("AttributeError", "'Ref' object has no attribute", everyday=True)},
            rules=(_ABSENT, Rule("refused", "jax<0.12.0", "jax#39288"), Rule("agrees", "", "jax#39745")),
            touches=(
                f"jax.vmap(fun, in_axes) if in_axes != 0 and {_REFS} "
                "and uses('jax.lax.scan', 'jax.lax.fori_loop', 'jax.lax.while_loop')",
            ),
        ),
    ),
)
