"""A PartitionSpec is no longer a tuple: no dict key of one since jax 0.6.1, not equal to one since 0.10.0

    P = jax.sharding.PartitionSpec
    {P("x"): 1}.get(("x",))     # 1 up to jax 0.6.0, None from 0.6.1
    P("x") == ("x",)            # True up to jax 0.9.2, False from 0.10.0

Nothing raises: a comparison takes the other branch, a table of shardings does not find its entry. The changelogs say
that it "no longer inherits from a tuple" (0.6.1) and that it is "no longer" equal to tuples (0.10.0). Keras found out
by its tests (keras-team/keras#22694).

jax#15782 found that specs for one sharding are not equal to each other.

Seen in these runs:

- From 0.6.1 to 0.9.2 a spec is equal to a tuple and has another hash, which Python forbids. It is found in a list and
  not in a dict.
- `isinstance(spec, tuple)` is False from 0.6.1 on.
- `P(("x",)) == P("x")` is False up to 0.5.2 and True from 0.5.3 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def equality() -> tuple[str, str]:
    """Is P("x") == ("x",), from both sides?"""
    from jax.sharding import PartitionSpec

    got = [PartitionSpec("x") == ("x",), ("x",) == PartitionSpec("x"), PartitionSpec("x") in [("x",)]]
    behaviour = {(True,) * 3: "equal", (False,) * 3: "unequal"}.get(tuple(got), "mixed")
    return behaviour, f'P("x") == ("x",) is {got[0]}'


def specs_with_specs() -> None:
    """Specs are equal to specs, and a spec's entries are those of the tuple, on every release."""
    from jax.sharding import PartitionSpec

    assert PartitionSpec("x", None) == PartitionSpec("x", None) != PartitionSpec("x", "y")
    assert ("x", None) == tuple(PartitionSpec("x", None))


def convert() -> None:
    """Convert: a tuple to a spec, or the spec to a tuple, and the table finds it."""
    from jax.sharding import PartitionSpec

    names = ("x", None)
    assert PartitionSpec(*names) == PartitionSpec("x", None)
    assert tuple(PartitionSpec("x", None)) == names
    assert {tuple(PartitionSpec("x", None)): 1}[names] == 1
    assert {PartitionSpec("x", None): 1}[PartitionSpec(*names)] == 1


def dict_key() -> tuple[str, str]:
    """Does a dict with the key P("x") give its value for ("x",), as equal keys do?"""
    from jax.sharding import PartitionSpec

    spec, table = PartitionSpec("x"), {PartitionSpec("x"): "found"}
    behaviour = table.get(("x",), "equal-not-found" if spec == ("x",) else "unequal")
    return behaviour, f"equal: {spec == ('x',)}, equal hashes: {hash(spec) == hash(('x',))}"


def subclass() -> tuple[str, str]:
    """Is a PartitionSpec a tuple?"""
    from jax.sharding import PartitionSpec

    return "tuple" if isinstance(
        PartitionSpec("x"), tuple
    ) else "no-tuple", f"bases {PartitionSpec.__mro__[1].__name__}"


def nested_name() -> tuple[str, str]:
    """Is P(("x",)) == P("x"), two ways to say the same sharding?"""
    from jax.sharding import PartitionSpec

    got = PartitionSpec(("x",)) == PartitionSpec("x")
    return "equal" if got else "unequal", f'P(("x",)) == P("x") is {got}'


_CONVERT = Workaround("Compare like with like: PartitionSpec(*names) == spec, or tuple(spec) == names.", convert)
_NO_TUPLE = "17b02ecb1b (first in 0.6.1), and its changelog"
_SPECS = "uses('jax.sharding.PartitionSpec', 'jax.P')"
_NESTED = " or ".join(f"(type({axis}) == 'tuple' and len({axis}) == 1)" for axis in ("one", "two", "three"))

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#15782", change="jax@17b02ecb1b jax@b52e741ed0", discussion="keras-team/keras#22694"
    ),
    control=specs_with_specs,
    cases=(
        Case(
            equality,
            behaviours={"unequal": "documented", "mixed": "different"},
            rules=(Rule("equal", "jax<0.10.0"), Rule("unequal", "", "b52e741ed0, and the changelog")),
            workaround=_CONVERT,
        ),
        Case(
            dict_key,
            behaviours={"found": "clear", "equal-not-found": "affected", "unequal": "documented"},
            rules=(
                Rule("found", "jax<0.6.1"),
                Rule("equal-not-found", "jax<0.10.0", _NO_TUPLE),
                Rule("unequal", "", "not equal any more, so not to be found"),
            ),
            workaround=_CONVERT,
        ),
        Case(
            subclass,
            behaviours={"tuple": "clear", "no-tuple": "documented"},
            rules=(Rule("tuple", "jax<0.6.1"), Rule("no-tuple", "", _NO_TUPLE)),
            workaround=_CONVERT,
        ),
        Case(
            nested_name,
            rules=(Rule("unequal", "jax<0.5.3"), Rule("equal", "", "177e1f6ed9 brings both to one form")),
            touches=members("jax", "sharding.PartitionSpec P", f"(one, two, three) if ({_NESTED}) and {_SPECS}"),
        ),
    ),
)
