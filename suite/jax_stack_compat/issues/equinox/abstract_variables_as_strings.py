"""With annotations that are strings, eqx.AbstractVar is a field like any other

    from __future__ import annotations

    class Base(eqx.Module):
        rate: eqx.AbstractVar[float]

    Base(1.0)    # an instance of the abstract class

You'd expect it to be refused, as it is without the import: "Can't instantiate abstract class". Equinox reads the
annotations of a class as they are, and one that is a string says nothing to it. It looks whether the string begins with
`AbstractVar[` or `AbstractClassVar[`, and raises NotImplementedError if so: equinox#591 has that, and it is intended.
Python 3.14 makes the import superfluous.

Seen in these runs:

- With `eqx.AbstractVar[…]` as a string the base class can be instantiated, from Equinox 0.11.0 on.
- A subclass that implements the variable as a property must still pass it to `__init__`. Without it there is a
  TypeError.
"""

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def full_name() -> tuple[str, str]:
    """Is a class refused that has a string with `eqx.AbstractVar[…]` for an annotation?"""
    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        rate: "eqx.AbstractVar[float]"

    return "made", f"the rate of an abstract class is {Base(1.0).rate}"


def control_annotations() -> None:
    """With annotations that are not strings an abstract class is refused, and a subclass with a property is made."""
    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        rate: eqx.AbstractVar[float]

    class Model(Base):
        half: float

        @property
        def rate(self) -> float:
            return 2.0 * self.half

    assert Model(1.0).rate == 2.0
    try:
        Base()
    except TypeError:
        return
    raise AssertionError("an instance of the abstract class was made")


def abstract_property() -> None:
    """An abstract property is seen whatever the annotations are."""
    import abc

    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        @property
        @abc.abstractmethod
        def rate(self) -> "float": ...

    class Model(Base):
        half: "float"

        @property
        def rate(self) -> "float":
            return 2.0 * self.half

    assert Model(1.0).rate == 2.0
    try:
        Base()
    except TypeError:
        return
    raise AssertionError("an instance of the abstract class was made")


def short_name() -> tuple[str, str]:
    """Is one that has `AbstractVar[…]`?"""
    import equinox as eqx
    from equinox import AbstractVar

    class Base(eqx.Module):  # type: ignore[misc]
        rate: "AbstractVar[float]"

    return "made", f"the rate of an abstract class is {Base(1.0).rate}"


def subclass() -> tuple[str, str]:
    """Has a subclass that has a property for it no field of that name?"""
    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        rate: "eqx.AbstractVar[float]"

    class Model(Base):
        half: float

        @property
        def rate(self) -> float:
            return 2.0 * self.half

    return "made", f"the rate is {Model(1.0).rate}"


_TOUCHED = ("equinox.AbstractVar if string_annotations", "equinox.AbstractClassVar if string_annotations")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="equinox#591"),
    touches=("equinox.AbstractVar", "equinox.AbstractClassVar", "string annotations"),
    control=control_annotations,
    behaviours={"made": "affected", "refused": "clear"},
    workaround=Workaround("Leave the import out of such a file; or declare an abstract property.", abstract_property),
    signatures={
        "refused": Signature("TypeError", "Can't instantiate abstract class"),
        "not-implemented": Signature("NotImplementedError", "Stringified abstract annotations are not supported"),
    },
    needs=("jax", "equinox"),
    cases=(
        Case(full_name, rules=(Rule("made"),), touches=_TOUCHED),
        Case(short_name, rules=(Rule("not-implemented", "", "equinox#591"),), touches=_TOUCHED),
        Case(
            subclass,
            behaviours={"made": "clear", "another-argument": "affected"},
            rules=(Rule("another-argument"),),
            signatures={
                "another-argument": Signature(
                    "TypeError", "missing 1 required positional argument: 'half'", everyday=True
                ),
                "not-implemented": Signature("NotImplementedError", "Stringified abstract annotations"),
            },
            touches=_TOUCHED,
        ),
    ),
)
