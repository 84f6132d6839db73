"""PartitionSpec is not a tuple any more: equality and hash differ

17b02ecb1b removed the base class `tuple` from `PartitionSpec`. 48140bcbe7 then also hashed a spec's unreduced axes, so
a spec and an equal tuple had different hashes (`dict_key`). b52e741ed0 ended this equality as "a misbehavior", and the
changelog says to convert tuples before a comparison. 177e1f6ed9 gave the specs `P(("x",))` and `P("x")`, which
jax#15782 compares, the same form.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def equality() -> tuple[str, str]:
    """Does PartitionSpec("x") equal the tuple ("x",), on either side of ==?"""
    from jax.sharding import PartitionSpec

    got = [PartitionSpec("x") == ("x",), ("x",) == PartitionSpec("x"), PartitionSpec("x") in [("x",)]]
    behaviour = {(True,) * 3: "equal", (False,) * 3: "unequal"}.get(tuple(got), "mixed")
    return behaviour, f'P("x") == ("x",) is {got[0]}'


def specs_with_specs() -> None:
    """Specs with the same entries are equal, and tuple(spec) has the entries."""
    from jax.sharding import PartitionSpec

    assert PartitionSpec("x", None) == PartitionSpec("x", None) != PartitionSpec("x", "y")
    assert ("x", None) == tuple(PartitionSpec("x", None))


def convert() -> None:
    """Two specs, or two tuples, with the same names are equal, and a dict finds its entry."""
    from jax.sharding import PartitionSpec

    names = ("x", None)
    assert PartitionSpec(*names) == PartitionSpec("x", None)
    assert tuple(PartitionSpec("x", None)) == names
    assert {tuple(PartitionSpec("x", None)): 1}[names] == 1
    assert {PartitionSpec("x", None): 1}[PartitionSpec(*names)] == 1


def specs_of_names() -> None:
    """Names of one and of several axes, and none, are equal as specs, and found in a list and a dict."""
    from jax.sharding import PartitionSpec

    for names in (("x",), ("x", ("y", "z"), None), (None,), ()):
        spec = PartitionSpec(*names)
        assert PartitionSpec(*names) == spec
        assert PartitionSpec(*names) in [spec]
        assert {spec: 1}[PartitionSpec(*names)] == 1
        assert PartitionSpec("other", *names) != spec


def dict_key() -> tuple[str, str]:
    """Does a dict with the key PartitionSpec("x") return its value for ("x",)?"""
    from jax.sharding import PartitionSpec

    spec, table = PartitionSpec("x"), {PartitionSpec("x"): "found"}
    behaviour = table.get(("x",), "equal-not-found" if spec == ("x",) else "unequal")
    return behaviour, f"equal: {spec == ('x',)}, equal hashes: {hash(spec) == hash(('x',))}"


def subclass() -> tuple[str, str]:
    """Is isinstance(PartitionSpec("x"), tuple) true?"""
    from jax.sharding import PartitionSpec

    return "tuple" if isinstance(
        PartitionSpec("x"), tuple
    ) else "no-tuple", f"bases {PartitionSpec.__mro__[1].__name__}"


def is_a_spec() -> None:
    """isinstance(x, PartitionSpec) is true for a spec, and false for a tuple."""
    from jax.sharding import PartitionSpec

    assert isinstance(PartitionSpec("x"), PartitionSpec)
    assert not isinstance(("x",), PartitionSpec)


def specs_and_others() -> None:
    """isinstance(x, PartitionSpec) is true for empty, nested and mixed specs, and false for lists, None and names."""
    from jax.sharding import PartitionSpec

    specs = (PartitionSpec(), PartitionSpec(None, "x"), PartitionSpec(("x", "y"), None))
    assert all(isinstance(each, PartitionSpec) for each in specs)
    assert not any(isinstance(each, PartitionSpec) for each in (["x"], None, "x", ()))


def nested_name() -> tuple[str, str]:
    """Does PartitionSpec(("x",)) equal PartitionSpec("x"), which means the same sharding?"""
    from jax.sharding import PartitionSpec

    got = PartitionSpec(("x",)) == PartitionSpec("x")
    return "equal" if got else "unequal", f'P(("x",)) == P("x") is {got}'


def unwrapped() -> None:
    """Two specs of the same name, written without a tuple, are equal."""
    from jax.sharding import PartitionSpec

    assert PartitionSpec("x") == PartitionSpec("x")
    assert PartitionSpec("x") != PartitionSpec("y")


def unwrapped_specs() -> None:
    """After one-name tuples are unwrapped, specs of one, two and no names equal specs of bare names."""
    from jax.sharding import PartitionSpec

    for axes, wanted in (((("x",), None), ("x", None)), ((("x", "y"), ("z",)), (("x", "y"), "z")), ((), ())):
        bare = [axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis for axis in axes]
        assert PartitionSpec(*bare) == PartitionSpec(*wanted)


_CONVERT = Workaround(
    "Convert the tuple before you compare: PartitionSpec(*names) == spec.", convert, elsewhere=specs_of_names
)
_LOOK_UP = Workaround(
    "Convert tuples, as keys and to look up: table.get(PartitionSpec(*names)).", convert, elsewhere=specs_of_names
)
_CLASS = Workaround(
    "Ask for the class: isinstance(x, jax.sharding.PartitionSpec).", is_a_spec, elsewhere=specs_and_others
)
_UNWRAP = Workaround('Give a single name without a tuple: PartitionSpec("x").', unwrapped, elsewhere=unwrapped_specs)
_NO_TUPLE = "17b02ecb1b, and the changelog"
_SPECS = "uses('jax.sharding.PartitionSpec', 'jax.P')"
_NESTED = " or ".join(f"(type({axis}) == 'tuple' and len({axis}) == 1)" for axis in ("one", "two", "three"))

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        cause="jax@48140bcbe7",
        fix="jax@177e1f6ed9",
        change="jax@17b02ecb1b jax@b52e741ed0",
        docs="jax:changelog.html#jax-0-10-0-april-16-2026 jax:changelog.html#jax-0-6-1-may-21-2025",
        discussion="jax#15782 keras-team/keras#22694",
    ),
    control=specs_with_specs,
    cases=(
        Case(
            equality,
            behaviours={"unequal": "documented", "mixed": "different"},
            rules=(
                Rule("equal", "jaxlib<0.10.0", "jaxlib implements the comparison"),
                Rule("unequal", "", "b52e741ed0, and the changelog"),
            ),
            workaround=_CONVERT,
        ),
        Case(
            dict_key,
            behaviours={"found": "clear", "equal-not-found": "affected", "unequal": "documented"},
            rules=(
                Rule("found", "jax<0.6.1"),
                Rule("equal-not-found", "jaxlib<0.10.0", "48140bcbe7 hashes the unreduced axes, too"),
                Rule("unequal", "", "b52e741ed0"),
            ),
            workaround=_LOOK_UP,
            touches=members("jax", "sharding.PartitionSpec P", " if within('.get') and unseen"),
        ),
        Case(
            subclass,
            behaviours={"tuple": "clear", "no-tuple": "documented"},
            rules=(Rule("tuple", "jax<0.6.1"), Rule("no-tuple", "", _NO_TUPLE)),
            workaround=_CLASS,
        ),
        Case(
            nested_name,
            rules=(Rule("unequal", "jax<0.5.3"), Rule("equal", "", "177e1f6ed9 gives both specs the same form")),
            workaround=_UNWRAP,
            touches=members("jax", "sharding.PartitionSpec P", f"(one, two, three) if ({_NESTED}) and {_SPECS}"),
        ),
    ),
)
