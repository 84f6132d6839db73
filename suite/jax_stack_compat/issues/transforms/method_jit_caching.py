"""jit of a method: stale answers after a mutation, retraces and errors

`jax.jit` caches by function and static arguments, so neither may change (`static_self`, `bound_method`). jax#13992,
where a static argument was mutated, was closed as an error of the user (`static_self_mutated`). Each access to a method
makes a new object, so `jax.jit(obj.method)(x)` retraces (jax#19570); if an equal method was jitted and is alive, the
answer is stale (`fresh_bound_method`). A pytree `self` is an ordinary argument, and may change between calls
(`pytree_self`).
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import groupby
from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround


class _Watch:
    """Calls of a jitted function: each answer, and whether it was traced. The function calls `traced`."""

    def __init__(self) -> None:
        self.traces, self.notes = 0, list[str]()

    def traced(self, answer: Any) -> Any:
        self.traces += 1
        return answer

    def calls(self, label: str, times: Any, fresh: float, stale: float | None = None, n: int = 3) -> str:
        """Call `times(3.0)` `n` times over, and return the pattern: "fresh", "stale", "fresh-then-stale", ..."""
        words, answers = [], []
        for _ in range(n):
            before, answer = self.traces, float(times(3.0))
            assert answer in (fresh, stale), f"{label}: the answer is {answer:g}, should be {fresh:g}"
            words.append("fresh" if answer == fresh else "stale")
            answers.append(f"{answer:g} (traced)" if self.traces > before else f"{answer:g}")
        self.notes.append(f"{label}: {', '.join(answers)}")
        return "-then-".join(word for word, _ in groupby(words))

    def mutation(self, scaler: Any, times: Any) -> str:
        """Return the pattern of the answers after `scale` changes from 2 to 5."""
        self.calls("scale=2", times, 6.0, n=2)
        scaler.scale = 5.0
        return self.calls("scale=5", times, 15.0, stale=6.0)

    def __str__(self) -> str:
        return "; ".join(self.notes)


def _scaler(watch: _Watch, jit: Any = lambda method: method, *, pytree: bool = False) -> Any:
    """Make a class with `jit` around its method; with `pytree` (JAX's third strategy), `scale` is its leaf."""
    import jax

    class Scaler:
        def __init__(self, scale: Any, offset: float = 0.0) -> None:
            self.scale, self.offset = scale, offset

        @jit  # type: ignore[untyped-decorator]
        def times(self, x: Any) -> Any:
            return watch.traced(self.scale * x + self.offset)

    if pytree:
        jax.tree_util.register_pytree_node(
            Scaler, lambda scaler: ((scaler.scale,), scaler.offset), lambda offset, leaves: Scaler(leaves[0], offset)
        )
    return Scaler


def _hashable_scaler(watch: _Watch) -> Any:
    """Make a class by JAX's second strategy: `self` is static, and hash and eq read the fields."""
    import jax

    class Scaler(_scaler(watch, partial(jax.jit, static_argnums=0))):  # type: ignore[misc]
        name = ""

        def __hash__(self) -> int:
            return hash((self.scale, self.name))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Scaler) and (self.scale, self.name) == (other.scale, other.name)

    return Scaler


def bound_method() -> tuple[str, str]:
    """Does f = jax.jit(obj.method) give a stale answer after obj is mutated?"""
    import jax

    scaler = _scaler(watch := _Watch())(2.0)
    return watch.mutation(scaler, jax.jit(scaler.times)), str(watch)


def unchanged() -> None:
    """Without a mutation, each way to jit a method gives fresh answers, and traces once per static object or number."""
    import jax

    watch, static = _Watch(), partial(jax.jit, static_argnums=0)
    bound = {scale: jax.jit(_scaler(watch)(scale).times) for scale in (2.0, 5.0)}
    static_scaler = _scaler(watch, static)
    objects = {scale: static_scaler(scale) for scale in (2.0, 5.0)}
    number = static(lambda scale, x: watch.traced(scale * x))
    pytree = jax.jit(lambda scaler, x: watch.traced(scaler[0] * x + scaler[1]))
    static_method = type("Scaler", (), {"times": staticmethod(jax.jit(lambda x: watch.traced(2.0 * x)))})()

    def plain(scale: Any, x: Any) -> Any:
        return watch.traced(scale * x)

    for scale in (2.0, 5.0, 2.0):
        watch.calls("bound", bound[scale], 3.0 * scale)
        watch.calls("static object", objects[scale].times, 3.0 * scale)
        watch.calls("static number", partial(number, scale), 3.0 * scale)
        watch.calls("pytree", partial(pytree, (scale, 1.0)), 3.0 * scale + 1.0)
        watch.calls("jitted anew", lambda x, scale=scale: jax.jit(plain)(scale, x), 3.0 * scale)
    watch.calls("static method", static_method.times, 6.0)
    assert watch.traces == 2 + 2 + 2 + 1 + 1 + 1, watch


def helper_function() -> None:
    """A jitted helper function, JAX's first strategy, sees the mutation and traces once."""
    import jax

    scaler = _scaler(watch := _Watch())(2.0)
    helper = jax.jit(lambda scale, x: watch.traced(scale * x))
    assert (watch.mutation(scaler, lambda x: helper(scaler.scale, x)), watch.traces) == ("fresh", 1), watch


def _doubled(scaler: Any, times: Any) -> Any:
    """Call `times()` before and after the scale is doubled."""
    import jax.numpy as jnp

    answers = [times()]
    scaler.scale = scaler.scale + scaler.scale
    return jnp.stack([*answers, times()])


def doubled_helper(scale: Any, x: Any) -> Any:
    """Mutate an object between two calls of a method that passes its scale to a jitted function."""
    import jax

    helper = jax.jit(lambda scale, x: scale * x)
    scaler = _scaler(_Watch())(scale)
    return _doubled(scaler, lambda: helper(scaler.scale, x))


def doubled_product(scale: Any, x: Any) -> Any:
    """Multiply x by the scale and by twice the scale with NumPy."""
    import numpy as np

    return np.stack([scale * x, (scale + scale) * x])


def decorated_method() -> tuple[str, str]:
    """Does calling a method that @jax.jit decorates raise if the class is not a pytree?"""
    import jax

    scaler = _scaler(watch := _Watch(), jax.jit)(2.0)
    return watch.mutation(scaler, scaler.times), str(watch)


def static_self() -> tuple[str, str]:
    """Does jax.jit give a stale answer after a mutation if self is static and hashed by identity?"""
    import jax

    scaler = _scaler(watch := _Watch(), partial(jax.jit, static_argnums=0))(2.0)
    return watch.mutation(scaler, scaler.times), str(watch)


def mutated_pytree() -> None:
    """A jitted method of a pytree class, JAX's third strategy, sees the mutation and traces once."""
    import jax

    scaler = _scaler(watch := _Watch(), jax.jit, pytree=True)(2.0)
    assert (watch.mutation(scaler, scaler.times), watch.traces) == ("fresh", 1), watch


def doubled_pytree(scale: Any, x: Any) -> Any:
    """Mutate a pytree between two calls of its jitted method."""
    import jax

    scaler = _scaler(_Watch(), jax.jit, pytree=True)(scale)
    return _doubled(scaler, lambda: scaler.times(x))


def static_self_hashable() -> tuple[str, str]:
    """If a static self is hashed and compared by its fields, does jax.jit see a new value of a field?"""
    scaler = _hashable_scaler(watch := _Watch())
    two, five, equal = scaler(2.0), scaler(5.0), scaler(2.0)
    patterns = [
        watch.calls("scale=2", two.times, 6.0, stale=15.0),
        watch.calls("scale=5", five.times, 15.0, stale=6.0),
        watch.calls("another scale=2", equal.times, 6.0, stale=15.0),
        watch.calls("the first again", two.times, 6.0, stale=15.0),
    ]
    right = "fresh" if watch.traces == 2 else "fresh-but-retraces"
    return next((pattern for pattern in patterns if pattern != "fresh"), right), str(watch)


def static_self_mutated() -> tuple[str, str]:
    """Which calls of jax.jit are stale after a mutation, if a static self hashes and compares its fields?"""
    alive = []

    def once(name: str) -> tuple[str, str]:
        scaler = _hashable_scaler(watch := _Watch())
        mutated, equal = scaler(2.0), scaler(5.0)
        mutated.name = equal.name = name
        alive.append((mutated, equal))
        pattern = watch.mutation(mutated, mutated.times)
        of_equal = watch.calls("another scale=5", equal.times, 15.0, stale=6.0)
        mutated.scale = 2.0
        back = watch.calls("scale=2 again", mutated.times, 6.0, stale=15.0)
        if pattern == of_equal == "fresh" != back:
            pattern = "fresh-but-stale-when-mutated-back"
        elif pattern == "fresh" != of_equal:
            pattern = "fresh-but-equal-object-stale"
        return pattern, str(watch)

    # Below jaxlib 0.4.28 a stale answer comes from an entry of a hash table that is met by mistake. By chance, once in
    # 128 times, seven bits of a hash seeded by an address agree, and even the first call is stale. So the name goes
    # into the hash, and what most of five names show is reported.
    return Counter(once(name) for name in "abcde").most_common(1)[0][0]


def pytree_self() -> tuple[str, str]:
    """Does jax.jit give fresh answers after a pytree self is mutated, without a retrace if a leaf changes?"""
    import jax

    scaler = _scaler(watch := _Watch(), jax.jit, pytree=True)(2.0)
    of_leaf = watch.mutation(scaler, scaler.times)
    right = "fresh-but-retraces" if watch.traces > 1 else "fresh"
    scaler.offset = 1.0  # a part of the key, at every call
    of_static = watch.calls("offset=1", scaler.times, 16.0, stale=15.0)
    if of_leaf != "fresh":
        return of_leaf, str(watch)
    return right if of_static == "fresh" else "static-part-stale", str(watch)


def equinox_module() -> tuple[str, str]:
    """Does an eqx.Module with a filter_jit method refuse mutation, and see updates without a retrace?"""
    from dataclasses import FrozenInstanceError, replace

    import equinox as eqx
    import jax.numpy as jnp

    watch = _Watch()

    class Scaler(eqx.Module):  # type: ignore[misc]
        scale: Any

        @eqx.filter_jit  # type: ignore[untyped-decorator]
        def times(self, x: Any) -> Any:
            return watch.traced(self.scale * x)

    scaler = Scaler(jnp.array(2.0))
    try:
        pattern = watch.mutation(scaler, scaler.times)
    except FrozenInstanceError:
        watch.notes.append("mutation: FrozenInstanceError")
    else:
        return f"mutable-{pattern}", str(watch)
    updated = eqx.tree_at(lambda module: module.scale, scaler, jnp.array(5.0))
    by_tree_at = watch.calls("tree_at scale=5", updated.times, 15.0, stale=6.0)
    by_replace = watch.calls("replace scale=7", replace(updated, scale=jnp.array(7.0)).times, 21.0, stale=15.0)
    if by_tree_at != "fresh" or by_replace != "fresh":
        return "frozen-but-stale", str(watch)
    return "frozen-and-fresh" if watch.traces == 1 else "frozen-but-retraces", str(watch)


def equinox_control() -> None:
    """eqx.filter_jit of a function of a leaf gives fresh answers and traces once."""
    import equinox as eqx
    import jax.numpy as jnp

    watch = _Watch()
    times = eqx.filter_jit(lambda scale, x: watch.traced(scale * x))
    for scale in (2.0, 5.0):
        watch.calls(f"scale={scale:g}", partial(times, jnp.array(scale)), 3.0 * scale)
    assert watch.traces == 1, watch


def fresh_bound_method() -> tuple[str, str]:
    """Does jax.jit(obj.method)(x), jitted anew for each call, trace each time and give fresh answers?"""
    import jax

    watch = _Watch()
    scaler, another, alive = _scaler(watch)(2.0), _scaler(watch)(2.0), []

    def kept(x: Any) -> Any:
        alive.append(jax.jit(another.times))
        return alive[-1](x)

    if_dropped = watch.mutation(scaler, lambda x: jax.jit(scaler.times)(x))
    retraces = watch.traces == 5
    watch.notes.append("kept alive")
    if_kept = watch.mutation(another, kept)
    if if_dropped != "fresh":
        return if_dropped, str(watch)
    if if_kept == "fresh":
        return "retraces-per-call" if retraces else "fresh", str(watch)
    return "retraces-per-call-or-stale" if retraces else "stale-if-kept", str(watch)


def unbound_method() -> None:
    """jax.jit(Scaler.times)(obj, x) with a pytree obj gives fresh answers and traces once."""
    import jax

    cls = _scaler(watch := _Watch(), pytree=True)
    scaler = cls(2.0)
    assert (watch.mutation(scaler, lambda x: jax.jit(cls.times)(scaler, x)), watch.traces) == ("fresh", 1), watch


def doubled_unbound(scale: Any, x: Any) -> Any:
    """Mutate a pytree between two calls of jax.jit(cls.times), jitted anew for each call."""
    import jax

    cls = _scaler(_Watch(), pytree=True)
    scaler = cls(scale)
    return _doubled(scaler, lambda: jax.jit(cls.times)(scaler, x))


def _patterns(stale: str) -> dict[str, Any]:
    """Return the meaning of each pattern of answers; `stale` is the meaning of a stale answer."""
    mixed = ("fresh-then-stale", "stale-then-fresh", "fresh-then-stale-then-fresh", "stale-then-fresh-then-stale")
    return {"fresh": "clear", "stale": stale, **dict.fromkeys(mixed, stale)}


def _always(behaviour: str, evidence: str) -> tuple[Rule, ...]:
    return (Rule(behaviour, "", evidence),)


_ARRAYS = (
    "float32 vector, float32 scalar",
    "int32 matrix, int32 one",
    "float16 empty, float16 one",
    "uint8 one, uint8 one",
)
_HELPER = Workaround(
    "Pass the fields to a jitted function outside the class; mark strings and flags static.",
    helper_function,
    elsewhere=Elsewhere(doubled_helper, doubled_product, _ARRAYS),
)
_PYTREE = Workaround(
    "Make the class a pytree and self not static: arrays are leaves, other fields hashable.",
    mutated_pytree,
    elsewhere=Elsewhere(doubled_pytree, doubled_product, _ARRAYS),
)
_UNBOUND = Workaround(
    "Make the class a pytree, and jit its function: jax.jit(Scaler.times)(obj, x).",
    unbound_method,
    elsewhere=Elsewhere(doubled_unbound, doubled_product, _ARRAYS),
)
_STATIC = "jax.jit(fun, static_argnums) if static_argnums in (0, (0,), [0])"

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#13992 jax#28418 jax#19570 jax#15338 jax#9672",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#jax-jit-class-methods",
    ),
    touches=("methods", "jit cache"),
    known_by=r"at path self\b",
    control=unchanged,
    behaviours=_patterns("documented"),
    cases=(
        Case(bound_method, rules=_always("stale", "the function is a key of the cache"), workaround=_HELPER),
        Case(
            decorated_method,
            behaviours={**_patterns("affected")},
            rules=_always("raises-type-error", "JAX's gotchas begin with this error"),
            signatures={"raises-type-error": Signature("TypeError", "as an abstract array", everyday=True)},
            workaround=_HELPER,
        ),
        Case(
            static_self,
            rules=_always("stale", "JAX's gotchas warn of the stale answer"),
            workaround=_PYTREE,
            touches=(_STATIC,),
        ),
        Case(
            static_self_hashable,
            behaviours={**_patterns("affected"), "fresh-but-retraces": "affected"},
            rules=_always("fresh", "the second strategy of JAX's gotchas"),
        ),
        Case(
            static_self_mutated,
            behaviours={
                **_patterns("documented"),
                "fresh-but-equal-object-stale": "documented",
                "fresh-but-stale-when-mutated-back": "documented",
            },
            rules=(
                Rule("fresh-then-stale", "jaxlib<0.4.28", "as in jax#13992; jax 0.4.28 on jaxlib 0.4.27, too"),
                Rule("fresh", "jax<0.9.0"),
                Rule("stale", "jax<0.11.0"),
                Rule("fresh", "", "c95fe37e53 (jaxlib) compares stored hashes"),
            ),
            workaround=_PYTREE,
        ),
        Case(
            pytree_self,
            behaviours={**_patterns("affected"), "static-part-stale": "affected", "fresh-but-retraces": "affected"},
            rules=_always("fresh", "the third strategy of JAX's gotchas"),
        ),
        Case(
            equinox_module,
            control=equinox_control,
            behaviours={
                **{"frozen-and-fresh": "clear", "frozen-but-retraces": "affected", "frozen-but-stale": "affected"},
                **{f"mutable-{pattern}": meaning for pattern, meaning in _patterns("affected").items()},
            },
            rules=_always("frozen-and-fresh", "each Equinox release with the jax release of its day"),
            needs=("jax", "equinox"),
        ),
        Case(
            fresh_bound_method,
            behaviours={
                **_patterns("affected"),  # of functions that are dropped
                **{"retraces-per-call": "documented", "retraces-per-call-or-stale": "documented"},
                "stale-if-kept": "documented",
            },
            rules=_always("retraces-per-call-or-stale", "jax#19570 and jax#15338 report the retraces"),
            workaround=_UNBOUND,
        ),
    ),
)
