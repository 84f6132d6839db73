"""A tracer's class is no subclass of jax.Array since jax 0.8.2: singledispatch and unions take it for something else

    f.register(jax.Array)(...)                      # functools.singledispatch
    jax.jit(f)(1.0)                                 # the jax.Array's up to jax 0.8.1, the base function from 0.8.2
    isinstance(x, jax.typing.ArrayLike)             # True up to 0.8.1, False from 0.8.2 to 0.11.0 where x is traced

`isinstance(x, jax.Array)` is right all the time: a metaclass answers for the instance. Whatever asks for the class gets
False, and runs another branch inside `jit` than outside: dispatch tables, `issubclass(type(x), jax.Array)`, unions.
The changelog of 0.8.2 says that a tracer no longer inherits from `jax.Array`; several libraries found what
hung on it by their tests (array-api-compat#369, gt4py#2867, flowjax#230).

`ArrayLike` is a union of types, and `typing.Union` asks the class on some Pythons: the threads have 3.11.6 and 3.13.0
with False, 3.13.5 with True, for the same jax. Run here: 3.11.7, 3.12.1 and 3.13.0 ask the class.

Seen in these runs:

- `isinstance(x, ArrayLike)` is True again from 0.11.1 on.
- `isinstance(x, typing.Optional[jax.Array])` is False from 0.8.2 on. With a tuple of types,
  `(jax.Array, type(None))`, it is right.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def singledispatch() -> tuple[str, str]:
    """Does functools.singledispatch take what is registered for jax.Array, inside jit?"""
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


def instances() -> None:
    """A traced array is an instance of jax.Array, and of a tuple of types, on every release."""
    import jax

    seen = []

    def f(x: object) -> object:
        seen.extend([isinstance(x, jax.Array), isinstance(x, (jax.Array, type(None)))])
        return x

    jax.jit(f)(1.0)
    assert seen == [True, True]
    assert issubclass(type(jax.numpy.ones(1)), jax.Array)


def register_the_tracer() -> None:
    """jax.core.Tracer registered too, and the members of the union instead of the union."""
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
_UNION = " if within('builtins.isinstance') and within('typing.Optional', 'typing.Union')"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#38268 jaxtyping#382 danielward27/flowjax#230 CDCgov/cfa-stf-routine-forecasting#864",
        change="jax@9d40174f72",
        discussion="data-apis/array-api-compat#369 GridTools/gt4py#2867",
    ),
    touches=("jax.core.Tracer", "jax.Array", "jax.numpy.ndarray", "jax.typing.ArrayLike"),
    control=instances,
    behaviours={"instance": "clear", "no-instance": "affected"},
    workaround=Workaround(
        "Register jax.core.Tracer beside jax.Array; ask isinstance(x, typing.get_args(ArrayLike)).", register_the_tracer
    ),
    cases=(
        Case(
            singledispatch,
            behaviours={"array": "clear", "base": "affected"},
            rules=(Rule("array", "jax<0.8.2"), Rule("base", "", "9d40174f72, and the changelog")),
            touches=members(
                "jax", "Array numpy.ndarray typing.ArrayLike", " if within('.register', 'functools.singledispatch')"
            ),
        ),
        Case(
            array_like,
            rules=(_INSTANCE, Rule("no-instance", "jax<0.11.1", "on Python 3.11.7 and 3.13.0 too"), Rule("instance")),
            touches=("jax.typing.ArrayLike if within('builtins.isinstance') and not within('typing.get_args')",),
        ),
        Case(
            optional,
            rules=(_INSTANCE, Rule("no-instance", "", "on Python 3.13.0 too")),
            touches=members("jax", "Array numpy.ndarray", _UNION),
        ),
    ),
)
