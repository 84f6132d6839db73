"""tree_at takes two empty tuples for one node, up to Equinox 0.11.4

    eqx.tree_at(lambda pair: pair[0], [(), ()], "new")
    # ValueError: `where` does not uniquely identify a single element of `pytree`

You'd expect the first to be replaced. Python has one object for all empty tuples, and `tree_at` tells nodes apart by
identity: equinox#715. From 0.11.5 on it puts another object in the place of each. That was no tuple, so that
`replace_fn=len` of one failed (equinox#818), until 0.11.6 made it one. Empty lists and empty named tuples are right on
every release: what equinox#722 mends was in none.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def two() -> tuple[str, str]:
    """Is the first of two empty tuples replaced?"""
    import equinox as eqx

    out = eqx.tree_at(lambda pair: pair[0], [(), ()], "new")
    return ("replaced" if out == ["new", ()] else "otherwise"), f"{out}"


def control_lists() -> None:
    """Of two empty lists, or of two empty named tuples, the first is replaced."""
    from collections import namedtuple

    import equinox as eqx

    empty = namedtuple("empty", [])
    for make in (list, empty):
        out = eqx.tree_at(lambda pair: pair[0], [make(), make()], "new")
        assert out == ["new", make()]
        assert type(out[1]) is make


def as_lists() -> None:
    """With lists in their place it is right."""
    import equinox as eqx

    assert eqx.tree_at(lambda pair: pair[0], [[], 1], replace_fn=len) == [0, 1]
    assert eqx.tree_at(lambda pair: pair[0], [[], []], "new") == ["new", []]


def replaced_by_function() -> tuple[str, str]:
    """Does replace_fn get an empty tuple as a tuple?"""
    import equinox as eqx

    out = eqx.tree_at(lambda pair: pair[0], [(), 1], replace_fn=len)
    return ("replaced" if out == [0, 1] else "otherwise"), f"{out}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="equinox#715 equinox#818", fix="equinox#717 equinox#819"),
    touches=("equinox.tree_at",),
    control=control_lists,
    workaround=Workaround("Put a list where a tuple may be empty.", as_lists),
    needs=("jax", "equinox"),
    behaviours={"replaced": "clear", "otherwise": "affected"},
    cases=(
        Case(
            two,
            rules=(Rule("refused", "equinox<0.11.5"), Rule("replaced", "", "equinox#717 (69fae4f)")),
            signatures={"refused": Signature("ValueError", "`where` does not uniquely identify a single element")},
        ),
        Case(
            replaced_by_function,
            rules=(Rule("no-length", "equinox==0.11.5", "equinox#818"), Rule("replaced", "", "equinox#819 (3de1f13)")),
            signatures={"no-length": Signature("TypeError", "object of type '_DistinctTuple' has no len()")},
        ),
    ),
)
