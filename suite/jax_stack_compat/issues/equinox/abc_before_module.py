"""A class that has abc.ABC before eqx.Module cannot be made instances of, in Equinox 0.11.8 to 0.12.2

    class Model(abc.ABC, eqx.Module):
        x: int

    Model(1)    # TypeError: __class__ assignment: 'Model' object layout differs from 'Model'

You'd expect the order of the two not to matter, for there is no layout in a mixin. In these releases an instance is
made of a copy of the class, in which fields can be set, and turned into one of the class itself at the end of
`__init__`; Python refuses that where a class with slots, such as `abc.ABC` or `typing.Generic`, comes first. It began
with 0.11.8 and ended with the new modules of 0.13.0. coordinax#210 met it on the day of 0.11.8, 2024-10-18, and names
the assignment; coreax#817 three days later. equinox#1246 explains the message to those who still use such a release.
`eqx.Module` has `abc.ABCMeta` for its metaclass, so that `abc.ABC` adds nothing to it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def abc_first() -> tuple[str, str]:
    """Is there an instance of a class of abc.ABC and eqx.Module, in this order?"""
    import abc

    import equinox as eqx

    class Model(abc.ABC, eqx.Module):  # type: ignore[misc]
        x: int

    return "made", f"x is {Model(1).x}"


def control_module_alone() -> None:
    """There is one of eqx.Module alone, and abstract methods are checked without abc.ABC."""
    import abc

    import equinox as eqx

    class Base(eqx.Module):  # type: ignore[misc]
        x: int

        @abc.abstractmethod
        def twice(self) -> int: ...

    class Model(Base):
        def twice(self) -> int:
            return 2 * self.x

    assert Model(1).twice() == 2
    try:
        Base(1)
    except TypeError:
        return
    raise AssertionError("an instance of the abstract class was made")


def module_first() -> None:
    """With eqx.Module before the other it is right on every release."""
    import abc
    from typing import Generic, TypeVar

    import equinox as eqx

    Kind = TypeVar("Kind")

    class Model(eqx.Module, abc.ABC):  # type: ignore[misc]
        x: int

    class Other(eqx.Module, Generic[Kind]):  # type: ignore[misc]
        x: Kind

    assert Model(1).x == Other(1).x == 1


def generic_first() -> tuple[str, str]:
    """Is there one of typing.Generic and eqx.Module?"""
    from typing import Generic, TypeVar

    import equinox as eqx

    Kind = TypeVar("Kind")

    class Model(Generic[Kind], eqx.Module):  # type: ignore[misc]
        x: Kind

    return "made", f"x is {Model(1).x}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="equinox#1246 gchq/coreax#817", fix="equinox@2c3fbae", change="GalacticDynamics/coordinax#210"
    ),
    touches=("equinox.Module if within('abc.ABC', 'typing.Generic')",),
    control=control_module_alone,
    behaviours={"made": "clear"},
    rules=(
        Rule("made", "equinox<0.11.8"),
        Rule("type-error", "equinox<0.13.0", "804d82e"),
        Rule("made", "", "2c3fbae"),
    ),
    workaround=Workaround("Put eqx.Module first, or leave abc.ABC out.", module_first),
    signatures={
        "type-error": Signature("TypeError", "__class__ assignment: …object layout differs from", everyday=True)
    },
    needs=("jax", "equinox"),
    cases=(Case(abc_first), Case(generic_first)),
)
