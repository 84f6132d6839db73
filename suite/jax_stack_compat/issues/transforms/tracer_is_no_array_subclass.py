"""On some Pythons, a tracer is not an instance of ArrayLike or Optional

9d40174f72 ends the inheritance of tracers from `jax.Array`, because some tracers are not arrays (changelog). A
metaclass still makes `isinstance(x, jax.Array)` true for a traced array (`instances`). Checks of the class no longer
find `jax.Array`: `issubclass` (`subclass`), `functools.singledispatch` (`singledispatch`) and, on some Pythons
(jax#38268), `isinstance` with a `typing.Union` (`array_like`, `optional`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def array_like() -> tuple[str, str]:
    """Is a traced array an instance of jax.typing.ArrayLike?"""
    import jax
    from jax.typing import ArrayLike

    seen = []

    def f(x: object) -> object:
        seen.append(isinstance(x, ArrayLike))
        return x

    jax.jit(f)(1.0)
    return ("instance" if seen == [True] else "no-instance"), f"isinstance(x, ArrayLike) is {seen[0]} inside jit"


def instances() -> None:
    """For a traced array x, isinstance(x, jax.Array) and isinstance(x, (jax.Array, type(None))) are true."""
    import jax

    seen = []

    def f(x: object) -> object:
        seen.extend([isinstance(x, jax.Array), isinstance(x, (jax.Array, type(None)))])
        return x

    jax.jit(f)(1.0)
    assert seen == [True, True]
    assert issubclass(type(jax.numpy.ones(1)), jax.Array)


def register_the_tracer() -> None:
    """singledispatch with jax.core.Tracer registered, and isinstance with get_args(ArrayLike), recognise a tracer."""
    import functools
    from typing import get_args

    import jax
    from jax.typing import ArrayLike

    @functools.singledispatch
    def kind(x: object) -> str:
        return "base"

    for each in (jax.Array, jax.core.Tracer):
        kind.register(each, lambda x: "array")
    seen = []

    def f(x: object) -> object:
        seen.extend([kind(x), isinstance(x, get_args(ArrayLike))])
        return x

    jax.jit(f)(1.0)
    assert seen == ["array", True], seen


def members_of_unions() -> None:
    """Arrays are instances of three unions' members, also under jit, vmap, grad and scan; strings are not."""
    from typing import Any, Optional, Union, get_args

    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.typing import ArrayLike

    unions = (ArrayLike, Optional[jax.Array], Union[ArrayLike, None])  # noqa: UP007, UP045

    def f(x: Any) -> Any:
        assert all(isinstance(x, get_args(union)) for union in unions)
        return x

    for dtype in ("float16", "float32", "int32", "bool"):
        for shape in ((), (0,), (2, 3)):
            f(jnp.ones(shape, dtype))
            jax.jit(f)(np.ones(shape, dtype))
    jax.vmap(f)(jnp.ones((2, 3)))
    jax.grad(f)(1.0)
    jax.lax.scan(lambda carry, x: (f(carry), f(x)), 0, jnp.arange(3))
    others: tuple[object, ...] = ("text", [1.0], {})
    for other in others:
        assert not any(isinstance(other, get_args(union)) for union in unions)
    assert isinstance(2.0, get_args(ArrayLike))
    assert isinstance(np.ones(2), get_args(ArrayLike))


def singledispatch() -> tuple[str, str]:
    """Does functools.singledispatch, inside jit, call the function that is registered for jax.Array?"""
    import functools

    import jax

    @functools.singledispatch
    def kind(x: object) -> str:
        return "base"

    kind.register(jax.Array, lambda x: "array")
    seen = []

    def f(x: object) -> object:
        seen.append(kind(x))
        return x

    jax.jit(f)(1.0)
    return seen[0], f"inside jit it takes the function for {'jax.Array' if seen == ['array'] else 'object'}"


def dispatched_everywhere() -> None:
    """With jax.core.Tracer registered, arrays and traced arrays share a function; NumPy and lists have others."""
    import functools
    from typing import Any

    import jax
    import jax.numpy as jnp
    import numpy as np

    @functools.singledispatch
    def double(x: Any) -> Any:
        raise TypeError(type(x))

    double.register(list, lambda x: x + x)
    double.register(np.ndarray, lambda x: np.add(x, x))
    for each in (jax.Array, jax.core.Tracer):
        double.register(each, lambda x: 2 * x)
    for dtype in ("float16", "int32"):
        for shape in ((), (0,), (2, 3)):
            x = np.ones(shape, dtype)
            assert (jax.jit(double)(x) == double(jnp.asarray(x))).all()
            assert (double(x) == 2).all()
    assert jax.vmap(double)(jnp.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert jax.grad(double)(1.0) == 2.0
    assert jax.lax.scan(lambda carry, x: (double(carry), x), 1, None, length=3)[0] == 8
    assert double([1]) == [1, 1]


def subclass() -> tuple[str, str]:
    """Is issubclass(type(x), jax.Array) true for a traced array x?"""
    import jax

    seen = []

    def f(x: object) -> object:
        seen.append(issubclass(type(x), jax.Array))
        return x

    jax.jit(f)(1.0)
    return ("instance" if seen == [True] else "no-instance"), f"issubclass(type(x), jax.Array) is {seen[0]} inside jit"


def instances_elsewhere() -> None:
    """Arrays are instances of jax.Array under jit, vmap, grad and scan; NumPy arrays, numbers and lists are not."""
    from typing import Any

    import jax
    import jax.numpy as jnp
    import numpy as np

    def f(x: Any) -> Any:
        assert isinstance(x, jax.Array)
        return x

    for dtype in ("float16", "int32", "bool"):
        for shape in ((), (0,), (2, 3)):
            f(jnp.ones(shape, dtype))
            jax.jit(f)(np.ones(shape, dtype))
    jax.vmap(f)(jnp.ones((2, 3)))
    jax.grad(f)(1.0)
    jax.lax.scan(lambda carry, x: (f(carry), f(x)), 0, jnp.arange(3))
    assert not any(isinstance(other, jax.Array) for other in (np.ones(2), 2.0, [1.0]))


def optional() -> tuple[str, str]:
    """Is a traced array an instance of typing.Optional[jax.Array]?"""
    from typing import Optional

    import jax

    seen = []

    def f(x: object) -> object:
        seen.append(isinstance(x, Optional[jax.Array]))  # type: ignore[arg-type]  # noqa: UP045
        return x

    jax.jit(f)(1.0)
    return ("instance" if seen == [True] else "no-instance"), f"isinstance(x, Optional[jax.Array]) is {seen[0]}"


_INSTANCE = Rule("instance", "jax<0.8.2")
_CHANGED = "9d40174f72 ends the inheritance, as the changelog says"
_ASKED = " if within('builtins.isinstance') and not within('typing.get_args')"
_UNION = f"{_ASKED} and within('typing.Optional', 'typing.Union')"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#38268 jaxtyping#382 danielward27/flowjax#230 CDCgov/cfa-stf-routine-forecasting#864",
        change="jax@9d40174f72",
        docs="jax:changelog.html#jax-0-8-2-december-18-2025",
        discussion="data-apis/array-api-compat#369 GridTools/gt4py#2867",
    ),
    touches=("jax.core.Tracer", "jax.Array", "jax.numpy.ndarray", "jax.typing.ArrayLike"),
    control=instances,
    behaviours={"instance": "clear", "no-instance": "affected"},
    workaround=Workaround(
        "Check against the union's members: isinstance(x, typing.get_args(ArrayLike)).",
        register_the_tracer,
        elsewhere=members_of_unions,
    ),
    cases=(
        Case(
            array_like,
            rules=(
                _INSTANCE,
                Rule("no-instance", "jax<0.11.1", "9d40174f72; ArrayLike is a typing.Union"),
                Rule("instance", "", "ArrayLike is a union made with `|`; isinstance asks each of its classes"),
            ),
            touches=(f"jax.typing.ArrayLike{_ASKED}",),
        ),
        Case(
            singledispatch,
            behaviours={"array": "clear", "base": "documented"},
            rules=(Rule("array", "jax<0.8.2"), Rule("base", "", _CHANGED)),
            workaround=Workaround(
                "Register jax.core.Tracer too, which also matches tracers that are not arrays.",
                register_the_tracer,
                elsewhere=dispatched_everywhere,
            ),
            touches=members(
                "jax", "Array numpy.ndarray typing.ArrayLike", " if within('.register', 'functools.singledispatch')"
            ),
        ),
        Case(
            subclass,
            behaviours={"instance": "clear", "no-instance": "documented"},
            rules=(_INSTANCE, Rule("no-instance", "", _CHANGED)),
            workaround=Workaround(
                "Check the instance, not the class: isinstance(x, jax.Array).", instances, elsewhere=instances_elsewhere
            ),
            touches=members("jax", "Array numpy.ndarray", " if within('builtins.issubclass')"),
        ),
        Case(
            optional,
            rules=(_INSTANCE, Rule("no-instance", "", "9d40174f72")),
            touches=members("jax", "Array numpy.ndarray", _UNION),
        ),
    ),
)
