"""Static arguments named out of order are swapped: static_argnums=(1, 0) compiles another function

    jax.jit(lambda a, b, c: a - 2 * b + 3 * c, static_argnums=(1, 0))(1.0, 2.0, 3.0)   # 9 up to 0.6.0, should be 6

What is static may be named in any order, and numbers in the other order make other arguments static nowhere in the
documentation. Up to jax 0.6.0 the values of the static arguments are put in sorted places in the order in which they
were named, so `a` gets 2 and `b` gets 1: no error, another number. jax#28065 has `jax.make_jaxpr`, and says that jit
does it too; jax#28069 sorts them, in 0.6.1.

Seen in these runs:

- jit is wrong from 0.4.18 to 0.6.0, and what it compiles is kept for the function: named in order afterwards, by
  numbers, it gives the same wrong value.
- `make_jaxpr` is right up to 0.4.26 and in 0.4.28. It is wrong in 0.4.27 and from 0.4.29 to 0.6.0.
- The rule of a `jax.custom_jvp` with `nondiff_argnums=(1, 0)` gets its first arguments as named up to 0.6.1, and sorted
  from 0.6.2 on (0a1ada83ec). A rule written for the one gives wrong derivatives with the other, without an error.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def jit() -> tuple[str, str]:
    """Does jit with static_argnums=(1, 0) compute the function?"""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    return compare(jax.jit(f, static_argnums=(1, 0))(1.0, 2.0, 3.0), 6.0)


def in_order() -> None:
    """Named in order all are right."""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    assert jax.jit(f, static_argnums=(0, 1))(1.0, 2.0, 3.0) == 6.0
    assert jax.jit(f, static_argnames=("a", "b"))(1.0, 2.0, 3.0) == 6.0
    closed = jax.make_jaxpr(f, static_argnums=(0, 1))(1.0, 2.0, 3.0)
    assert jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 3.0)[0] == 6.0
    given = []

    def rule(a: float, b: float, primals: tuple[float, ...], tangents: tuple[float, ...]) -> tuple[float, float]:
        given.append((a, b))
        return primals[0], tangents[0]

    custom = jax.custom_jvp(f, nondiff_argnums=(0, 1))
    custom.defjvp(rule)
    jax.jvp(lambda c: custom(1.0, 2.0, c), (3.0,), (1.0,))
    assert given == [(1.0, 2.0)]


def called_before() -> tuple[str, str]:
    """Does jit with static_argnums=(0, 1), after a call of the same function with (1, 0)?"""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    jax.jit(f, static_argnums=(1, 0))(1.0, 2.0, 3.0)
    return compare(jax.jit(f, static_argnums=(0, 1))(1.0, 2.0, 3.0), 6.0)


def make_jaxpr() -> tuple[str, str]:
    """Does the jaxpr that make_jaxpr gives with static_argnums=(1, 0)?"""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    closed = jax.make_jaxpr(f, static_argnums=(1, 0))(1.0, 2.0, 3.0)
    return compare(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 3.0)[0], 6.0)


def custom_jvp_rule() -> tuple[str, str]:
    """In which order does a custom_jvp with nondiff_argnums=(1, 0) give its rule the two arguments?"""
    import jax

    given = []

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    def rule(
        first: float, second: float, primals: tuple[float, ...], tangents: tuple[float, ...]
    ) -> tuple[float, float]:
        given.append((first, second))
        return primals[0], tangents[0]

    custom = jax.custom_jvp(f, nondiff_argnums=(1, 0))
    custom.defjvp(rule)
    jax.jvp(lambda c: custom(1.0, 2.0, c), (3.0,), (1.0,))
    return {(2.0, 1.0): "as-named", (1.0, 2.0): "sorted"}.get(
        given[0], "other"
    ), f"f(1, 2, c): the rule gets {given[0]}"


_NEW = Rule("agrees", "", "jax#28069 (9afc047bf0)")
# A negative number counts from the end, so its place in the order depends on the function.
_OUT_OF_ORDER = ("seen(given({0})) and type({0}) in ('tuple', 'list') and min({0}) >= 0 and sorted({0}) != {0}").format
# With static_argnames, static_argnums are not expected to follow later.
_OF_JIT = (
    "jax.jit(fun, static_argnums, static_argnames) "
    f"if not given(static_argnames) and {_OUT_OF_ORDER('static_argnums')}",
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#28065", fix="jax#28069"),
    touches=("jax.jit(static_argnums=)", "jax.make_jaxpr(static_argnums=)", "jax.custom_jvp(nondiff_argnums=)"),
    control=in_order,
    rules=(Rule("differs", "jax<0.6.1"), _NEW),
    workaround=Workaround("Name them in the order of the signature: static_argnums=sorted(...).", in_order),
    cases=(
        Case(jit, touches=_OF_JIT),
        Case(called_before, touches=_OF_JIT),
        Case(
            make_jaxpr,
            rules=(Rule("agrees", "jax<0.4.27"), Rule("agrees", "jax==0.4.28"), Rule("differs", "jax<0.6.1"), _NEW),
            touches=(f"jax.make_jaxpr(fun, static_argnums) if {_OUT_OF_ORDER('static_argnums')}",),
        ),
        Case(
            custom_jvp_rule,
            behaviours={"as-named": "clear", "sorted": "affected", "other": "different"},
            rules=(Rule("as-named", "jax<0.6.2"), Rule("sorted", "", "0a1ada83ec")),
            touches=(f"jax.custom_jvp(fun, nondiff_argnums) if {_OUT_OF_ORDER('nondiff_argnums')}",),
        ),
    ),
)
