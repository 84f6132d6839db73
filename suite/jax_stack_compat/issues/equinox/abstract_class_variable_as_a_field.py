"""A field of an instance does not stand in for an abstract class variable, up to Equinox 0.13.5

    class Base(eqx.Module):
        name: eqx.AbstractClassVar[str]

    class Model(Base):
        name: str

    Model("a")    # TypeError: Can't instantiate abstract class Model with abstract class attributes {'name'}

You'd expect a field to do, as it does for `eqx.AbstractVar`, and as a property does for either. With a default it
does from 0.11.1 on, for then there is something on the class. equinox#1198 takes an annotation too, in 0.13.6. 0.11.0
refused already the class: "Base class and derived class have mismatched type annotations for name".
"""

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def field() -> tuple[str, str]:
    """Is a class that has a field for an abstract class variable one that can be made instances of?"""
    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        name: eqx.AbstractClassVar[str]

    class Model(Base):
        name: str

    return "made", f"its name is {Model('a').name!r}"


def control_of_the_class() -> None:
    """A class variable stands in for it, and so does a property; a class that has neither is refused."""
    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        name: eqx.AbstractClassVar[str]

    class Named(Base):
        name = "a"

    class Told(Base):
        told: str

        @property
        def name(self) -> str:
            return self.told

    assert Named().name == Told("a").name == "a"
    try:
        Base()
    except TypeError:
        return
    raise AssertionError("an instance of the abstract class was made")


def abstract_variable() -> None:
    """With an AbstractVar in its place a field does, on every release."""
    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        name: eqx.AbstractVar[str]

    class Model(Base):
        name: str

    assert Model("a").name == "a"


def with_a_default() -> tuple[str, str]:
    """Is one whose field has a default?"""
    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        name: eqx.AbstractClassVar[str]

    class Model(Base):
        name: str = "none"

    return "made", f"its name is {Model('a').name!r}"


_SIGNATURES = {
    "refused": Signature("TypeError", "Can't instantiate abstract class Model with abstract class attributes {'name'}"),
    "class-refused": Signature("TypeError", "Base class and derived class have mismatched type annotations for name"),
}
_CLASS = Rule("class-refused", "equinox<0.11.1")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(fix="equinox#1198"),
    touches=("equinox.AbstractClassVar",),
    control=control_of_the_class,
    behaviours={"made": "clear"},
    workaround=Workaround("Declare it as an eqx.AbstractVar where instances may differ.", abstract_variable),
    signatures=_SIGNATURES,
    needs=("jax", "equinox"),
    cases=(
        Case(field, rules=(_CLASS, Rule("refused", "equinox<0.13.6"), Rule("made", "", "equinox#1198 (45041e9)"))),
        Case(with_a_default, rules=(_CLASS, Rule("made"))),
    ),
)
