"""What does jit do with `self`? Eight ways to write it, and what each does after `self.scale` has changed.

    class Scaler:
        def __init__(self, scale):
            self.scale = scale

        def times(self, x):
            return self.scale * x

Jit `times`, call it with 3, set `scale = 5` and call it again, three times. The answer 15 is *fresh*; the answer of the
old scale is *stale*. The gotcha "Using jax.jit with class methods" (in the FAQ until 2025) covers four of the ways:

    bound-method          f = jax.jit(obj.times), kept             stale for as long as f lives
    decorated-method      @jax.jit on the method                   TypeError: self can't be interpreted as an array
    static-self           static_argnums=0, hashed by identity     stale
    static-self-hashable  static_argnums=0, hash and eq by fields  fresh, and one trace for all objects that are equal
    static-self-mutated   the same object, but mutated             jaxlib < 0.4.28: fresh once, then stale;
                                                                   jax 0.9.0 to 0.10.2: stale; all others: fresh
    pytree-self           self is a pytree                         fresh, and a new leaf does not retrace
    equinox-module        eqx.filter_jit on a Module's method      mutation is refused; fresh after tree_at or replace
    fresh-bound-method    jax.jit(obj.times)(x), for each call     each call is traced; and if one of these functions
                                                                   is still alive, none is, and the answer is stale

All this is by design: a function and its static arguments are the keys of a cache, and keys must not change.

Where a run says more than the threads:

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

Nothing here needs a device. What a cache still holds is a matter of reference counts: the reproducers keep every object
that must live in a variable, and drop the others at once, so that no answer depends on when a collector runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from suite.cell.issue import Case, Expectation, Issue, JudgedAs, Seen, Upstream, main


class _Watch:
    """Calls a method, and notes each answer and whether the call was traced: the method's body calls `trace`."""

    def __init__(self) -> None:
        self.traces = 0
        self.notes: list[str] = []

    def trace(self) -> None:
        """Count one more trace."""
        self.traces += 1

    def calls(
        self, label: str, method: Callable[[Any], Any], fresh: float, stale: float | None = None, times: int = 3
    ) -> str:
        """Call `method(3.0)` some times over, and return the pattern: "fresh", "stale", "fresh-then-stale", ..."""
        words: list[str] = []
        answers: list[str] = []
        for _ in range(times):
            before = self.traces
            answer = float(method(3.0))
            if answer not in (fresh, stale):
                raise AssertionError(f"{label}: the answer is {answer:g}, should be {fresh:g}")
            word = "fresh" if answer == fresh else "stale"
            if not words or words[-1] != word:
                words.append(word)
            answers.append(f"{answer:g} (traced)" if self.traces > before else f"{answer:g}")
        self.notes.append(f"{label}: {', '.join(answers)}")
        return "-then-".join(words)

    def expect(self, traces: int) -> None:
        """Raise unless there were this many traces in all."""
        if self.traces != traces:
            raise AssertionError(f"{self.traces} traces, should be {traces}: {self.detail}")

    @property
    def detail(self) -> str:
        """All that was noted, in one line."""
        return "; ".join(self.notes)


_STALE_OR_FRESH: Mapping[str, JudgedAs] = {
    "fresh": "clear",
    "stale": "affected",
    "fresh-then-stale": "affected",
    "stale-then-fresh": "affected",
    "fresh-then-stale-then-fresh": "affected",
    "stale-then-fresh-then-stale": "affected",
}


def _plain_scaler(watch: _Watch) -> Any:
    """Make the class that has no jit in it."""

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

    return Scaler


def _static_scaler(watch: _Watch) -> Any:
    """Make the class whose method is jitted with `self` static, and hashed by its identity."""
    from functools import partial

    import jax

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @partial(jax.jit, static_argnums=0)
        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

    return Scaler


def _hashable_scaler(watch: _Watch) -> Any:
    """Make the class of JAX's second strategy: `self` static, with hash and eq over the fields."""
    from functools import partial

    import jax

    class Scaler:
        def __init__(self, scale: float, name: str = "") -> None:
            self.scale, self.name = scale, name

        @partial(jax.jit, static_argnums=0)
        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

        def __hash__(self) -> int:
            return hash((self.scale, self.name))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Scaler) and (self.scale, self.name) == (other.scale, other.name)

    return Scaler


def _pytree_scaler(watch: _Watch) -> Any:
    """Make the class of JAX's third strategy: a pytree, with `scale` its leaf and `offset` static."""
    import jax

    class Scaler:
        def __init__(self, scale: Any, offset: float = 0.0) -> None:
            self.scale, self.offset = scale, offset

        def plain_times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x + self.offset

        times = jax.jit(plain_times)

    jax.tree_util.register_pytree_node(
        Scaler,
        lambda scaler: ((scaler.scale,), scaler.offset),
        lambda offset, leaves: Scaler(leaves[0], offset),
    )
    return Scaler


def bound_method() -> Seen:
    """`jax.jit(obj.times)`, kept: what the object held at the trace is built in."""
    import jax

    watch = _Watch()
    scaler = _plain_scaler(watch)(2.0)
    times = jax.jit(scaler.times)
    watch.calls("scale=2", times, 6.0, times=2)
    scaler.scale = 5.0
    return Seen(watch.calls("scale=5", times, 15.0, stale=6.0), watch.detail)


def control_bound_method() -> None:
    """A kept `jax.jit(obj.times)` whose object does not change: right, and traced once."""
    import jax

    watch = _Watch()
    scaler = _plain_scaler(watch)(2.0)
    watch.calls("scale=2", jax.jit(scaler.times), 6.0)
    watch.expect(1)


def helper_function() -> None:
    """The first strategy: the method hands what it needs to a jitted function outside of the class."""
    import jax

    watch = _Watch()

    def scaled(scale: Any, x: Any) -> Any:
        watch.trace()
        return scale * x

    helper = jax.jit(scaled)

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        def times(self, x: Any) -> Any:
            return helper(self.scale, x)

    scaler = Scaler(2.0)
    watch.calls("scale=2", scaler.times, 6.0)
    scaler.scale = 5.0
    watch.calls("scale=5", scaler.times, 15.0)
    watch.expect(1)


def decorated_method() -> Seen:
    """`@jax.jit` on a method of a plain class: `self` is an argument like any other, and no array."""
    import jax

    watch = _Watch()

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @jax.jit  # type: ignore[untyped-decorator]
        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

    scaler = Scaler(2.0)
    try:
        watch.calls("scale=2", scaler.times, 6.0, times=2)
    except TypeError as exception:
        opening = str(exception).partition(" ")[0]
        if "Scaler" not in str(exception) or "as an abstract array" not in str(exception):
            raise
        return Seen("raises-type-error", f"TypeError: {opening} ... Scaler ... as an abstract array")
    scaler.scale = 5.0
    return Seen(watch.calls("scale=5", scaler.times, 15.0, stale=6.0), watch.detail)


def control_decorated_method() -> None:
    """`@jax.jit` on a static method, which has no `self`."""
    import jax

    watch = _Watch()

    class Scaler:
        @staticmethod
        @jax.jit  # type: ignore[untyped-decorator]
        def times(x: Any) -> Any:
            watch.trace()
            return 2.0 * x

    watch.calls("scale=2", Scaler().times, 6.0)
    watch.expect(1)


def static_self() -> Seen:
    """`static_argnums=0`, and the hash that every object has: its identity, which no mutation changes."""
    watch = _Watch()
    scaler = _static_scaler(watch)(2.0)
    watch.calls("scale=2", scaler.times, 6.0, times=2)
    scaler.scale = 5.0
    return Seen(watch.calls("scale=5", scaler.times, 15.0, stale=6.0), watch.detail)


def control_static_self() -> None:
    """Two static objects that do not change: each has its own answer, and its own trace."""
    watch = _Watch()
    scaler = _static_scaler(watch)
    two, five = scaler(2.0), scaler(5.0)
    watch.calls("scale=2", two.times, 6.0)
    watch.calls("scale=5", five.times, 15.0)
    watch.calls("scale=2 again", two.times, 6.0)
    watch.expect(2)


def mutated_pytree() -> None:
    """The third strategy, which is the one for objects that change: `self` is a pytree."""
    watch = _Watch()
    scaler = _pytree_scaler(watch)(2.0)
    watch.calls("scale=2", scaler.times, 6.0)
    scaler.scale = 5.0
    watch.calls("scale=5", scaler.times, 15.0)
    watch.expect(1)


def static_self_hashable() -> Seen:
    """`static_argnums=0`, hash and eq over the fields, never mutated: one trace for each value."""
    watch = _Watch()
    scaler = _hashable_scaler(watch)
    two, five, equal = scaler(2.0), scaler(5.0), scaler(2.0)
    patterns = (
        watch.calls("scale=2", two.times, 6.0, stale=15.0),
        watch.calls("scale=5", five.times, 15.0, stale=6.0),
        watch.calls("another scale=2", equal.times, 6.0, stale=15.0),
        watch.calls("the first again", two.times, 6.0, stale=15.0),
    )
    wrong = [pattern for pattern in patterns if pattern != "fresh"]
    if not wrong and watch.traces != 2:
        return Seen("fresh-but-retraces", watch.detail)
    return Seen(wrong[0] if wrong else "fresh", watch.detail)


def control_static_self_hashable() -> None:
    """The number itself as the static argument."""
    import jax

    watch = _Watch()

    def times(scale: float, x: Any) -> Any:
        watch.trace()
        return scale * x

    jitted = jax.jit(times, static_argnums=0)
    watch.calls("scale=2", lambda x: jitted(2.0, x), 6.0)
    watch.calls("scale=5", lambda x: jitted(5.0, x), 15.0)
    watch.calls("scale=2 again", lambda x: jitted(2.0, x), 6.0)
    watch.expect(2)


def static_self_mutated() -> Seen:
    """`static_argnums=0`, hash and eq over the fields, and mutated all the same: every call after that."""
    alive: list[Any] = []

    def once(name: str) -> Seen:
        watch = _Watch()
        scaler = _hashable_scaler(watch)
        mutated, equal = scaler(2.0, name), scaler(5.0, name)
        alive.append((mutated, equal))
        watch.calls("scale=2", mutated.times, 6.0, times=2)
        mutated.scale = 5.0
        pattern = watch.calls("scale=5", mutated.times, 15.0, stale=6.0)
        of_equal = watch.calls("another scale=5", equal.times, 15.0, stale=6.0)
        mutated.scale = 2.0
        back = watch.calls("scale=2 again", mutated.times, 6.0, stale=15.0)
        if pattern == "fresh" and of_equal != "fresh":
            pattern = "fresh-but-equal-object-stale"
        if pattern == "fresh" and back != "fresh":
            pattern = "fresh-but-stale-when-mutated-back"
        return Seen(pattern, watch.detail)

    # Below jaxlib 0.4.28 a stale answer comes from an entry of a hash table that is met by mistake. By chance, once in
    # 128 times, seven bits of a hash seeded by an address agree, and even the first call is stale. So the name goes
    # into the hash, and what most of five names show is reported.
    return Counter(once(name) for name in "abcde").most_common(1)[0][0]


def pytree_self() -> Seen:
    """`self` is a pytree: a leaf is an argument, and what is static is a part of the key at every call."""
    watch = _Watch()
    scaler = _pytree_scaler(watch)(2.0)
    watch.calls("scale=2", scaler.times, 6.0, times=2)
    scaler.scale = 5.0
    of_leaf = watch.calls("scale=5", scaler.times, 15.0, stale=6.0)
    retraced = watch.traces > 1
    scaler.offset = 1.0
    of_static = watch.calls("offset=1", scaler.times, 16.0, stale=15.0)
    if of_leaf != "fresh":
        return Seen(of_leaf, watch.detail)
    if of_static != "fresh":
        return Seen("static-part-stale", watch.detail)
    return Seen("fresh-but-retraces" if retraced else "fresh", watch.detail)


def control_pytree_self() -> None:
    """A jitted function of a tuple, which is a pytree too."""
    import jax

    watch = _Watch()

    @jax.jit  # type: ignore[untyped-decorator]
    def times(scaler: Any, x: Any) -> Any:
        watch.trace()
        return scaler[0] * x + scaler[1]

    watch.calls("scale=2", lambda x: times((2.0, 0.0), x), 6.0)
    watch.calls("scale=5, offset=1", lambda x: times((5.0, 1.0), x), 16.0)
    watch.expect(1)


def equinox_module() -> Seen:
    """`eqx.filter_jit` on a method of a Module: it does not let itself be mutated, and its update is not stale."""
    from dataclasses import FrozenInstanceError, replace

    import equinox as eqx
    import jax.numpy as jnp

    watch = _Watch()

    class Scaler(eqx.Module):  # type: ignore[misc]
        scale: Any

        @eqx.filter_jit  # type: ignore[untyped-decorator]
        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

    scaler = Scaler(jnp.array(2.0))
    watch.calls("scale=2", scaler.times, 6.0, times=2)
    try:
        scaler.scale = jnp.array(5.0)
    except FrozenInstanceError:
        watch.notes.append("mutation: FrozenInstanceError")
    else:
        return Seen("mutable-" + watch.calls("scale=5", scaler.times, 15.0, stale=6.0), watch.detail)
    updated = eqx.tree_at(lambda module: module.scale, scaler, jnp.array(5.0))
    by_tree_at = watch.calls("tree_at scale=5", updated.times, 15.0, stale=6.0)
    by_replace = watch.calls("replace scale=7", replace(updated, scale=jnp.array(7.0)).times, 21.0, stale=15.0)
    if by_tree_at != "fresh" or by_replace != "fresh":
        return Seen("frozen-but-stale", watch.detail)
    return Seen("frozen-and-fresh" if watch.traces == 1 else "frozen-but-retraces", watch.detail)


def control_equinox_module() -> None:
    """A jitted function of the module's leaf."""
    import equinox as eqx
    import jax.numpy as jnp

    watch = _Watch()

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def times(scale: Any, x: Any) -> Any:
        watch.trace()
        return scale * x

    watch.calls("scale=2", lambda x: times(jnp.array(2.0), x), 6.0)
    watch.calls("scale=5", lambda x: times(jnp.array(5.0), x), 15.0)
    watch.expect(1)


def fresh_bound_method() -> Seen:
    """`jax.jit(obj.times)` made anew for each call: first dropped after its call, then kept alive."""
    import jax

    watch = _Watch()
    scaler = _plain_scaler(watch)(2.0)
    watch.calls("dropped, scale=2", lambda x: jax.jit(scaler.times)(x), 6.0, times=2)
    scaler.scale = 5.0
    if_dropped = watch.calls("scale=5", lambda x: jax.jit(scaler.times)(x), 15.0, stale=6.0)
    retraces = watch.traces == 5

    alive: list[Any] = []

    def kept(x: Any) -> Any:
        alive.append(jax.jit(another.times))
        return alive[-1](x)

    another = _plain_scaler(watch)(2.0)
    watch.calls("kept alive, scale=2", kept, 6.0, times=2)
    another.scale = 5.0
    if_kept = watch.calls("scale=5", kept, 15.0, stale=6.0)

    if if_dropped != "fresh":
        return Seen(if_dropped, watch.detail)
    if if_kept == "fresh":
        return Seen("retraces-per-call" if retraces else "fresh", watch.detail)
    return Seen("retraces-per-call-or-stale" if retraces else "stale-if-kept", watch.detail)


def control_fresh_bound_method() -> None:
    """`jax.jit(times)` made anew for each call of a plain function: traced once."""
    import jax

    watch = _Watch()

    def times(scale: Any, x: Any) -> Any:
        watch.trace()
        return scale * x

    watch.calls("scale=2", lambda x: jax.jit(times)(2.0, x), 6.0)
    watch.calls("scale=5", lambda x: jax.jit(times)(5.0, x), 15.0)
    watch.expect(1)


def unbound_method() -> None:
    """`jax.jit(Scaler.times)` of a pytree class: the function stays the same object, and `self` is its argument."""
    import jax

    watch = _Watch()
    scaler = _pytree_scaler(watch)
    two = scaler(2.0)
    watch.calls("scale=2", lambda x: jax.jit(scaler.plain_times)(two, x), 6.0)
    two.scale = 5.0
    watch.calls("scale=5", lambda x: jax.jit(scaler.plain_times)(two, x), 15.0)
    watch.expect(1)


_ALL_RELEASES = "run on 44 releases from jax 0.4.18 to 0.12.0.1, which all do the same"

ISSUE = Issue(
    id="method-jit-caching",
    title="What jit does with self: stale answers, retraces and errors of jitted methods",
    kind="by-design",
    story=(
        "jit caches by function and static argument, and takes both for unchanging. A method that reads self.scale is "
        "not re-read when self.scale changes: depending on how jit meets self, the answer is stale for ever, or right, "
        "or the call raises, or it is traced anew each time. Upstream documents four of the ways and advises never to "
        "mutate a static object; the reports about caching of bound methods are still open."
    ),
    upstream=(
        Upstream("jax-ml/jax#13992", "report", "closed"),
        Upstream("jax-ml/jax#19570", "report", "open"),
        Upstream("jax-ml/jax#15338", "report", "open"),
        Upstream("jax-ml/jax#9672", "report", "closed"),
        Upstream("jax-ml/jax#28418", "report", "closed"),
        Upstream("https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#jax-jit-class-methods", "docs"),
    ),
    workaround=(
        "Hand what the method needs to a jitted function outside of the class, or make the class a pytree (an "
        "eqx.Module is one): then what changes is an argument. A static object needs hash and eq over its fields, and "
        "must not change."
    ),
    cases=(
        Case(
            id="bound-method",
            question="f = jax.jit(obj.method) is kept and obj is mutated: does f see it?",
            reproducer=bound_method,
            control=control_bound_method,
            workaround=helper_function,
            behaviours=_STALE_OR_FRESH,
            expectations=(Expectation("stale", (), f"{_ALL_RELEASES}; jax#13992 has why"),),
        ),
        Case(
            id="decorated-method",
            question="@jax.jit on a method of a plain class: can it be called?",
            reproducer=decorated_method,
            control=control_decorated_method,
            workaround=helper_function,
            behaviours={**_STALE_OR_FRESH, "raises-type-error": "affected"},
            expectations=(Expectation("raises-type-error", (), f"{_ALL_RELEASES}; JAX's gotchas begin with this"),),
        ),
        Case(
            id="static-self",
            question="self is static, hashed by identity, and mutated: is the answer stale?",
            reproducer=static_self,
            control=control_static_self,
            workaround=mutated_pytree,
            behaviours=_STALE_OR_FRESH,
            expectations=(Expectation("stale", (), f"{_ALL_RELEASES}; JAX's gotchas warn of it"),),
        ),
        Case(
            id="static-self-hashable",
            question="self is static, with hash and eq over its fields, and not mutated: is it right, and traced once?",
            reproducer=static_self_hashable,
            control=control_static_self_hashable,
            behaviours={**_STALE_OR_FRESH, "fresh-but-retraces": "affected"},
            expectations=(Expectation("fresh", (), f"{_ALL_RELEASES}; the second strategy of JAX's gotchas"),),
        ),
        Case(
            id="static-self-mutated",
            question="self is static, with hash and eq over its fields, and mutated: which calls are stale?",
            reproducer=static_self_mutated,
            control=control_static_self_hashable,
            workaround=mutated_pytree,
            behaviours={
                **_STALE_OR_FRESH,
                "fresh-but-equal-object-stale": "affected",
                "fresh-but-stale-when-mutated-back": "affected",
            },
            expectations=(
                Expectation(
                    "fresh-then-stale",
                    ("jax<0.9.0", "jaxlib<0.4.28"),
                    "run on jaxlib 0.4.18 to 0.4.27, also with jax 0.4.28 on jaxlib 0.4.27; as in jax#13992",
                ),
                Expectation(
                    "fresh",
                    ("jaxlib>=0.4.28", "jax<0.9.0"),
                    "run on jaxlib 0.4.28 to 0.8.3, on some with forty mutations in a row too; no thread was found",
                ),
                Expectation(
                    "stale",
                    ("jax>=0.9.0,<0.11.0",),
                    "run on all releases from jax 0.9.0 to 0.10.2, each with its own jaxlib; no thread was found",
                ),
                Expectation(
                    "fresh",
                    ("jax>=0.11.0",),
                    "run on jax 0.11.0 to 0.12.0.1; stored hashes are compared since c95fe37e53",
                ),
            ),
        ),
        Case(
            id="pytree-self",
            question="self is a pytree and mutated, leaf and static part: is the answer fresh, and what retraces?",
            reproducer=pytree_self,
            control=control_pytree_self,
            behaviours={**_STALE_OR_FRESH, "static-part-stale": "affected", "fresh-but-retraces": "affected"},
            expectations=(Expectation("fresh", (), f"{_ALL_RELEASES}; the third strategy of JAX's gotchas"),),
        ),
        Case(
            id="equinox-module",
            question="filter_jit on an eqx.Module's method: is mutation refused, an update fresh, nothing retraced?",
            reproducer=equinox_module,
            control=control_equinox_module,
            behaviours={
                "frozen-and-fresh": "clear",
                "frozen-but-retraces": "affected",
                "frozen-but-stale": "affected",
                **{f"mutable-{pattern}": verdict for pattern, verdict in _STALE_OR_FRESH.items()},
            },
            expectations=(
                Expectation(
                    "frozen-and-fresh", (), f"{_ALL_RELEASES}; equinox 0.11.0 to 0.13.8, each with its day's jax"
                ),
            ),
            needs=("jax", "equinox"),
        ),
        Case(
            id="fresh-bound-method",
            question="jax.jit(obj.method) is made anew for each call: is each call traced, and the answer fresh?",
            reproducer=fresh_bound_method,
            control=control_fresh_bound_method,
            workaround=unbound_method,
            behaviours={
                **_STALE_OR_FRESH,
                "retraces-per-call": "affected",
                "retraces-per-call-or-stale": "affected",
                "stale-if-kept": "affected",
            },
            expectations=(
                Expectation(
                    "retraces-per-call-or-stale",
                    (),
                    f"{_ALL_RELEASES}; jax#19570 and jax#15338 report the retraces, nobody the stale answer",
                ),
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(ISSUE)
