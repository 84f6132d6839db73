"""What jit does with self: stale answers, retraces and errors of jitted methods

Jit a method `times(self, x)` that returns `self.scale * x`, call it with 3, set `scale = 5` and call it again, three
times. The answer 15 is *fresh*; the answer of the old scale is *stale*. The gotcha "Using jax.jit with class methods"
(in the FAQ until 2025) covers four of the ways:

    bound-method          f = jax.jit(obj.times), kept             stale for as long as f lives
    decorated-method      @jax.jit on the method                   TypeError: self can't be interpreted as an array
    static-self           static_argnums=0, hashed by identity     stale
    static-self-hashable  static_argnums=0, hash and eq by fields  fresh, and one trace for all objects that are equal
    static-self-mutated   the same object, but mutated             fresh, stale, or one and then the other: below
    pytree-self           self is a pytree                         fresh, and a new leaf does not retrace
    equinox-module        eqx.filter_jit on a Module's method      mutation is refused; fresh after tree_at or replace
    fresh-bound-method    jax.jit(obj.times)(x), for each call     traced each time; or stale, if one is still alive

All this is by design: a function and its static arguments are the keys of a cache, and keys must not change.

Seen in these runs:

- jax#13992, closed as an error of its user, is one of four chapters. Below jaxlib 0.4.28 the C++ cache hashes its keys
  again whenever it grows; the key of the old trace is the mutated object itself, so from then on it hashes and compares
  like the new one (jaxlib it is: jax 0.4.28 on jaxlib 0.4.27 still does this). From there to jax 0.8.3 each call is
  fresh. From 0.9.0 to 0.10.2 even the first is stale, as if there were no hash. From 0.11.0 on each is fresh; there
  jaxlib compares stored hashes (c95fe37e53, June 2026). Where it is stale, so is a second object that never changed but
  equals the mutated one; and mutating back makes all well. Nothing promises that a mutated key works.
- jax#19570 and jax#15338, both open, see a missed cache, for obj.times is a new object every time. But bound methods of
  one object are equal, so the cache is hit as long as one of them is alive: no retrace, and a stale answer.
- jax#28418 (hash without eq, "random", in April 2025) could not be seen on the releases of that time. Its first answer
  is what jax 0.9.0 to 0.10.2 always give, its second what all others do.
No answer depends on when a collector runs: what must live is kept in a variable, all else is dropped at once.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import groupby
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


class _Watch:
    """Calls what is jitted, and notes each answer and whether it was traced; what is traced calls `traced`."""

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
        """The pattern after `scale` went from 2 to 5."""
        self.calls("scale=2", times, 6.0, n=2)
        scaler.scale = 5.0
        return self.calls("scale=5", times, 15.0, stale=6.0)

    def __str__(self) -> str:
        return "; ".join(self.notes)


def _scaler(watch: _Watch, jit: Any = lambda method: method, *, pytree: bool = False) -> Any:
    """A new class, with `jit` round its method; as a pytree (JAX's third strategy) it has `scale` for a leaf."""
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
    """JAX's second strategy: `self` static, with hash and eq over the fields."""
    import jax

    class Scaler(_scaler(watch, partial(jax.jit, static_argnums=0))):  # type: ignore[misc]
        name = ""

        def __hash__(self) -> int:
            return hash((self.scale, self.name))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Scaler) and (self.scale, self.name) == (other.scale, other.name)

    return Scaler


def bound_method() -> tuple[str, str]:
    """f = jax.jit(obj.method) is kept and obj is mutated: does f see it?"""
    import jax

    scaler = _scaler(watch := _Watch())(2.0)
    return watch.mutation(scaler, jax.jit(scaler.times)), str(watch)


def unchanged() -> None:
    """Where nothing is mutated each way is right, and traced once for each object or number that it holds as static."""
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
    """JAX's first strategy."""
    import jax

    scaler = _scaler(watch := _Watch())(2.0)
    helper = jax.jit(lambda scale, x: watch.traced(scale * x))
    assert (watch.mutation(scaler, lambda x: helper(scaler.scale, x)), watch.traces) == ("fresh", 1), watch


def decorated_method() -> tuple[str, str]:
    """@jax.jit on a method of a plain class: can it be called?"""
    import jax

    scaler = _scaler(watch := _Watch(), jax.jit)(2.0)
    return watch.mutation(scaler, scaler.times), str(watch)


def static_self() -> tuple[str, str]:
    """self is static, hashed by identity, and mutated: is the answer stale?"""
    import jax

    scaler = _scaler(watch := _Watch(), partial(jax.jit, static_argnums=0))(2.0)
    return watch.mutation(scaler, scaler.times), str(watch)


def mutated_pytree() -> None:
    """JAX's third strategy, which is the one for objects that change."""
    import jax

    scaler = _scaler(watch := _Watch(), jax.jit, pytree=True)(2.0)
    assert (watch.mutation(scaler, scaler.times), watch.traces) == ("fresh", 1), watch


def static_self_hashable() -> tuple[str, str]:
    """self is static, with hash and eq over its fields, and not mutated: is it right, and traced once?"""
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
    """self is static, with hash and eq over its fields, and mutated: which calls are stale?"""
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
    """self is a pytree and mutated, leaf and static part: is the answer fresh, and what retraces?"""
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
    """filter_jit on an eqx.Module's method: is mutation refused, an update fresh, nothing retraced?"""
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
    """A jitted function of the module's leaf."""
    import equinox as eqx
    import jax.numpy as jnp

    watch = _Watch()
    times = eqx.filter_jit(lambda scale, x: watch.traced(scale * x))
    for scale in (2.0, 5.0):
        watch.calls(f"scale={scale:g}", partial(times, jnp.array(scale)), 3.0 * scale)
    assert watch.traces == 1, watch


def fresh_bound_method() -> tuple[str, str]:
    """jax.jit(obj.method) is made anew for each call: is each call traced, and the answer fresh?"""
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
    """The function stays the same object, and `self` is its argument."""
    import jax

    cls = _scaler(watch := _Watch(), pytree=True)
    scaler = cls(2.0)
    assert (watch.mutation(scaler, lambda x: jax.jit(cls.times)(scaler, x)), watch.traces) == ("fresh", 1), watch


def _patterns(stale: str) -> dict[str, Any]:
    """What the answers mean. Upstream promises a fresh one for a key that is left alone, and none for a mutated one."""
    mixed = ("fresh-then-stale", "stale-then-fresh", "fresh-then-stale-then-fresh", "stale-then-fresh-then-stale")
    return {"fresh": "clear", "stale": stale, **dict.fromkeys(mixed, stale)}


def _always(behaviour: str, evidence: str) -> tuple[Rule, ...]:
    return (Rule(behaviour, "", evidence),)


_HELPER = Workaround("Hand what the method needs to a jitted function outside of the class.", helper_function)
_PYTREE = Workaround("Make the class a pytree (an eqx.Module is one): what changes is an argument.", mutated_pytree)
_UNBOUND = Workaround("Make the class a pytree, and jit its function: jax.jit(Scaler.times)(obj, x).", unbound_method)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#13992 jax#19570 jax#15338 jax#9672 jax#28418",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#jax-jit-class-methods",
    ),
    touches=("jax.jit", "methods", "jit cache"),
    known_by=r"at path self\b",
    control=unchanged,
    behaviours=_patterns("documented"),
    cases=(
        Case(bound_method, rules=_always("stale", "jax#13992 has why"), workaround=_HELPER),
        Case(
            decorated_method,
            behaviours={**_patterns("affected")},
            rules=_always("raises-type-error", "JAX's gotchas begin with this"),
            signatures={"raises-type-error": Signature("TypeError", "as an abstract array", everyday=True)},
            workaround=_HELPER,
        ),
        Case(static_self, rules=_always("stale", "JAX's gotchas warn of it"), workaround=_PYTREE),
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
                Rule("fresh-then-stale", "jaxlib<0.4.28", "jax 0.4.28 on jaxlib 0.4.27 too; as in jax#13992"),
                Rule("fresh", "jax<0.9.0", "on some releases with forty mutations in a row too"),
                Rule("stale", "jax<0.11.0"),
                Rule("fresh", "", "stored hashes are compared since c95fe37e53"),
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
            rules=_always("frozen-and-fresh", "each Equinox with its day's jax"),
            needs=("jax", "equinox"),
        ),
        Case(
            fresh_bound_method,
            behaviours={
                **_patterns("affected"),  # of functions that are dropped: a stale one would be said nowhere
                **{"retraces-per-call": "documented", "retraces-per-call-or-stale": "documented"},
                "stale-if-kept": "documented",
            },
            rules=_always("retraces-per-call-or-stale", "jax#19570, jax#15338: the retraces, not the stale answer"),
            workaround=_UNBOUND,
        ),
    ),
)
