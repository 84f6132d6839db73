"""A field whose default __init__ leaves alone breaks vmap within scan, and jit, in Equinox 0.13.3 and 0.13.4

    class Model(eqx.Module):
        offset: float = 2.0

        def __init__(self): ...

    jax.jit(lambda model, x: x + model.offset)(Model(), 1.0)    # TypeError: … '_Missing' …

Such a value is the class's, and no instance has it. Where 0.13.3 flattens an instance, it puts a placeholder there:
among what is static if the field is, and into the leaves if it is not. No transformation can do anything with that. A
static field is in the way of `vmap` within `scan` alone, by a TypeError that names no field (equinox#1172), and 0.13.4
mended it. From the leaves the placeholder went in 0.13.5, which also ended the error for a class attribute over an
abstract property (equinox#1191). equinox#1187, of a field that is not static, is still open, though all that it has is
right from 0.13.5 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def static_field() -> tuple[str, str]:
    """Can a module with a static default that __init__ does not set be mapped over within a scan?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        weight: jax.Array
        offset: int = eqx.field(default=2, static=True)

        def __init__(self) -> None:
            self.weight = jnp.array(3.0)

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.weight * x + self.offset

    xs = jnp.array([[0.0, 1.0], [2.0, 3.0]])
    _, ys = jax.lax.scan(lambda model, x: (model, jax.vmap(model)(x)), Model(), xs)
    return compare(ys.ravel(), [2.0, 5.0, 8.0, 11.0])


def set_in_init() -> None:
    """Where __init__ sets the field as well, it is right on every release."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        weight: jax.Array
        plain: int = 1
        static: int = eqx.field(default=1, static=True)

        def __init__(self) -> None:
            self.weight = jnp.array(3.0)
            self.plain = 1
            self.static = 1

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.weight * x + self.plain + self.static

    xs = jnp.array([[0.0, 1.0], [2.0, 3.0]])
    _, ys = jax.lax.scan(lambda model, x: (model, jax.vmap(model)(x)), Model(), xs)
    assert ys.tolist() == [[2.0, 5.0], [8.0, 11.0]], ys
    assert jax.jit(lambda model: model(1.0))(Model()) == 5.0


def plain_field() -> tuple[str, str]:
    """Can one whose default is not static?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        weight: jax.Array
        offset: int = 2

        def __init__(self) -> None:
            self.weight = jnp.array(3.0)

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.weight * x + self.offset

    xs = jnp.array([[0.0, 1.0], [2.0, 3.0]])
    _, ys = jax.lax.scan(lambda model, x: (model, jax.vmap(model)(x)), Model(), xs)
    return compare(ys.ravel(), [2.0, 5.0, 8.0, 11.0])


def under_jit() -> tuple[str, str]:
    """Can that be an argument of a jitted function?"""
    import equinox as eqx
    import jax

    class Model(eqx.Module):  # type: ignore[misc]
        offset: float = 2.0

        def __init__(self) -> None:
            pass

    return compare(jax.jit(lambda model, x: x + model.offset)(Model(), 1.0), 3.0)


def over_a_property() -> tuple[str, str]:
    """Can a module whose static field is a class attribute, over an abstract property?"""
    import abc

    import equinox as eqx
    import jax

    class Base(eqx.Module):  # type: ignore[misc]
        names: tuple[str, ...] = eqx.field(static=True)

        @property  # type: ignore[no-redef]
        @abc.abstractmethod
        def names(self) -> tuple[str, ...]: ...  # noqa: F811

    class Model(Base):
        names = "a", "b"

        def __init__(self) -> None:
            pass

    return compare(jax.jit(lambda model: len(model.names))(Model()), 2)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="equinox#1172 equinox#1187", fix="equinox@218c944 equinox@5500f3d"),
    touches=("equinox.field(default=)", "default values of fields"),
    known_by=r"\b_(Sentinel|Missing)\b",
    control=set_in_init,
    rules=(
        Rule("agrees", "equinox<0.13.3"),
        Rule("type-error", "equinox<0.13.5", "0277a30"),
        Rule("agrees", "", "5500f3d"),
    ),
    workaround=Workaround("Set it in __init__, as well.", set_in_init),
    signatures={
        "type-error": (
            Signature("TypeError", "is not a valid JAX type", everyday=True),
            Signature("TypeError", "Error interpreting argument to … as an abstract array", everyday=True),
        )
    },
    needs=("jax", "equinox"),
    cases=(
        Case(
            static_field,
            signatures={"type-error": Signature("TypeError", "can only concatenate str (not …) to str", everyday=True)},
            rules=(
                Rule("agrees", "equinox<0.13.3"),
                Rule("type-error", "equinox<0.13.4", "0277a30"),
                Rule("agrees", "", "218c944"),
            ),
        ),
        Case(plain_field),
        Case(under_jit),
        Case(over_a_property),
    ),
)
