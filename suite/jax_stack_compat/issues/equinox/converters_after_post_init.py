"""__post_init__ of an eqx.Module sees what was passed, not what the converter makes of it, since Equinox 0.12.0

    class Model(eqx.Module):
        x: jax.Array = eqx.field(converter=jnp.asarray)

        def __post_init__(self):
            type(self.x)    # after Model(1.0): an array up to 0.11.12, a float from 0.12.0

You'd expect whichever order the documentation has; it had the converter first, and equinox#975, in 0.12.0, has it last,
after `__init__` and `__post_init__`. Code that was right for arrays (`self.x.shape`, `self.x.at[0]`) raises; what works
on Python numbers too gives another answer without an error: `self.x * 2` of a list repeats it. Classes that
inherit their `__post_init__` had lost the old order before, with 0.11.6, which is what equinox#969 reports.

Seen in these runs: a field that is passed, and that `__post_init__` sets again, is not converted up to 0.11.12. From
0.12.0 on it is.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def seen_in_post_init() -> tuple[str, str]:
    """Does `__post_init__` see a list that is passed as the array that the converter makes of it?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        x: jax.Array = eqx.field(converter=jnp.asarray)
        twice: jax.Array = eqx.field(converter=jnp.asarray, init=False)

        def __post_init__(self) -> None:
            self.twice = self.x * 2

    twice = Model([1.0, 2.0]).twice.tolist()
    return {2: "converted", 4: "as-passed"}[len(twice)], f"x * 2 is {twice}"


def control_without() -> None:
    """Without a `__post_init__` a field is converted, and one without a converter is as passed."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        x: jax.Array = eqx.field(converter=jnp.asarray)
        y: list[float]

    model = Model([1.0, 2.0], [1.0])
    assert isinstance(model.x, jax.Array)
    assert model.y == [1.0]


def convert_by_hand() -> None:
    """Converted in `__post_init__` itself, it is an array from there on."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        x: jax.Array
        twice: jax.Array = eqx.field(init=False)

        def __post_init__(self) -> None:
            self.x = jnp.asarray(self.x)
            self.twice = self.x * 2

    class Inherits(Model):
        pass

    assert Model([1.0, 2.0]).twice.tolist() == Inherits([1.0, 2.0]).twice.tolist() == [2.0, 4.0]


def inherited() -> tuple[str, str]:
    """Does a `__post_init__` that is inherited?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Base(eqx.Module):  # type: ignore[misc]
        x: jax.Array = eqx.field(converter=jnp.asarray)
        twice: jax.Array = eqx.field(converter=jnp.asarray, init=False)

        def __post_init__(self) -> None:
            self.twice = self.x * 2

    class Model(Base):
        pass

    twice = Model([1.0, 2.0]).twice.tolist()
    return {2: "converted", 4: "as-passed"}[len(twice)], f"x * 2 is {twice}"


def set_again() -> tuple[str, str]:
    """Is a field that is passed, and that `__post_init__` sets again, converted?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        x: jax.Array = eqx.field(converter=jnp.asarray)

        def __post_init__(self) -> None:
            self.x = [3.0]

    given = type(Model([1.0, 2.0]).x).__name__
    return ("as-set" if given == "list" else "converted"), given


_LAST = Rule("as-passed", "", "equinox#975 (ff59b82)")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="equinox#969 equinox#1027", fix="equinox#975"),
    touches=("equinox.field(converter=)",),
    control=control_without,
    behaviours={"converted": "clear", "as-passed": "affected"},
    workaround=Workaround("Convert by hand, as the first thing in __post_init__.", convert_by_hand),
    needs=("jax", "equinox"),
    cases=(
        Case(seen_in_post_init, rules=(Rule("converted", "equinox<0.12.0"), _LAST)),
        Case(inherited, rules=(Rule("converted", "equinox<0.11.6"), Rule("as-passed", "", "equinox#969"))),
        Case(
            set_again,
            behaviours={"as-set": "affected", "converted": "clear"},
            rules=(Rule("as-set", "equinox<0.12.0"), Rule("converted", "", "equinox#975 (ff59b82)")),
        ),
    ),
)
