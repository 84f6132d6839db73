"""What does jit do with `self`? Eight ways to write it, and what each does after `self.scale` changes.

    class Scaler:
        def __init__(self, scale):
            self.scale = scale

        def times(self, x):
            return self.scale * x

Jit `times`, call it, set `scale = 5`, call it again: you would like 15 for 3. With 2 still in force a call is *stale*, else
*fresh*. JAX's advice ("Using jax.jit with class methods", once in the FAQ, now among the gotchas) covers four of the ways:

    bound-method          `f = jax.jit(obj.times)`, kept                 stale for as long as f lives
    decorated-method      `@jax.jit` on the method                       TypeError: self is not a valid JAX type
    static-self           static_argnums=0, default identity hash        stale
    static-self-hashable  static_argnums=0, hash and eq over the fields  fresh: equal objects share one trace, others do not
    static-self-mutated   the same, but mutated                          jaxlib < 0.4.28: fresh, and stale from the second
                                                                         call on; since then fresh at every call
    pytree-self           self is a pytree                               fresh; a leaf does not even retrace
    equinox-module        `eqx.filter_jit` on a method of a Module       mutation refused; fresh after `tree_at`
    fresh-bound-method    `jax.jit(obj.times)` anew for each call        traced at every call; but stale, and not traced, if
                                                                         an earlier one is still alive

All is by design: a static argument, and the function itself, are keys of a cache, and keys must not change (jax#13992).

Where the run says more than the threads:
- jax#13992 (jax 0.4.1, closed as a user error) is gone since jaxlib 0.4.28: each key now keeps the hash that it came with.
  Before, the C++ cache hashed its keys again when it grew: the key of the old trace, being the very object that had been
  mutated, then hashed and compared like the new one. So a mutated object poisoned even a second object, never mutated,
  that equals it; and mutating back made all well again. The advice never to mutate stands: nothing promises that it holds.
- jax#19570 and jax#15338 call the retraces of `jax.jit(obj.times)` a missed cache, for the bound method is a new object each
  time. But bound methods compare equal, and while one lives the cache is hit: then the answer is stale instead. Both are
  open, and all releases do the same.
- jax#28418 (hash without eq, "random") could not be seen here: not on the releases of that time, nor on any other.

What this does not show: nothing here depends on a device. Which entries of a cache are alive is a matter of reference counts: the
reproducers keep every object that must live, and drop at once what must not, so that no answer depends on a collector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from suite.issue import Case, Expectation, Issue, Seen, Upstream, main


class _Watch:
    """Calls a method and notes each answer, and whether the call was traced: for that, `trace` is called in the method."""

    def __init__(self) -> None:
        self.traces = 0
        self.notes: list[str] = []

    def trace(self) -> None:
        """Count one more trace."""
        self.traces += 1

    def calls(self, label: str, method: Callable[[Any], Any], right: float, stale: float, times: int = 3) -> str:
        """Call `method(3.0)` some times over, and return the pattern: "fresh", "stale", "fresh-then-stale", ..."""
        words: list[str] = []
        answers: list[str] = []
        for _ in range(times):
            before = self.traces
            answer = float(method(3.0))
            if answer not in (right, stale):
                raise AssertionError(f"{label}: {answer:g} is neither the new answer {right:g} nor the old {stale:g}")
            word = "fresh" if answer == right else "stale"
            if not words or words[-1] != word:
                words.append(word)
            answers.append(f"{answer:g}" + " (traced)" * (self.traces - before))
        self.notes.append(f"{label}: {', '.join(answers)}")
        return "-then-".join(words)

    @property
    def detail(self) -> str:
        """All that was noted, in one line."""
        return "; ".join(self.notes)


_PATTERNS = ("fresh", "stale", "fresh-then-stale", "stale-then-fresh", "fresh-then-stale-then-fresh", "stale-then-fresh-then-stale")
_STALE_OR_FRESH = {pattern: "clear" if pattern == "fresh" else "affected" for pattern in _PATTERNS}


def bound_method() -> Seen:
    """`jax.jit(obj.times)`, kept: the object's state at the trace is built in."""
    import jax

    watch = _Watch()

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

    scaler = Scaler(2.0)
    times = jax.jit(scaler.times)
    watch.calls("scale=2", times, right=6.0, stale=6.0, times=2)
    scaler.scale = 5.0
    return Seen(watch.calls("scale=5", times, right=15.0, stale=6.0), watch.detail)


def decorated_method() -> Seen:
    """`@jax.jit` on a method of a plain class: `self` is an argument as any other, and no array."""
    import jax

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @jax.jit
        def times(self, x: Any) -> Any:
            return self.scale * x

    scaler = Scaler(2.0)
    try:
        answer = float(scaler.times(3.0))
    except TypeError as exception:
        if "not a valid JAX type" not in str(exception):
            raise
        return Seen("raises-type-error", "TypeError: self is not a valid JAX type")
    if answer != 6.0:
        raise AssertionError(f"scale=2: {answer:g}, should be 6")
    scaler.scale = 5.0
    answers = [float(scaler.times(3.0)) for _ in range(3)]
    return Seen("fresh" if answers == [15.0] * 3 else "stale", f"scale=2: 6; scale=5: {answers}")


def static_self() -> Seen:
    """`static_argnums=0`, and the hash that every object has: its identity, which no mutation changes."""
    from functools import partial

    import jax

    watch = _Watch()

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @partial(jax.jit, static_argnums=0)
        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

    scaler = Scaler(2.0)
    watch.calls("scale=2", scaler.times, right=6.0, stale=6.0, times=2)
    scaler.scale = 5.0
    return Seen(watch.calls("scale=5", scaler.times, right=15.0, stale=6.0), watch.detail)


def _hashable_scaler(watch: _Watch) -> Any:
    """Make a class as the second strategy of JAX's advice has it: static, with hash and eq over its fields."""
    from functools import partial

    import jax

    class Scaler:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @partial(jax.jit, static_argnums=0)
        def times(self, x: Any) -> Any:
            watch.trace()
            return self.scale * x

        def __hash__(self) -> int:
            return hash((self.scale,))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Scaler) and self.scale == other.scale

    return Scaler


def static_self_hashable() -> Seen:
    """`static_argnums=0`, hash and eq over the fields, never mutated: one trace for each value."""
    watch = _Watch()
    scaler = _hashable_scaler(watch)
    two, five, another_two = scaler(2.0), scaler(5.0), scaler(2.0)
    patterns = [
        watch.calls("scale=2", two.times, right=6.0, stale=6.0),
        watch.calls("scale=5", five.times, right=15.0, stale=6.0),
        watch.calls("another scale=2", another_two.times, right=6.0, stale=15.0),
        watch.calls("scale=2 again", two.times, right=6.0, stale=15.0),
    ]
    wrong = [pattern for pattern in patterns if pattern != "fresh"]
    if wrong:
        return Seen(wrong[0], watch.detail)
    return Seen("fresh" if watch.traces == 2 else "fresh-retraces", watch.detail)


def static_self_mutated() -> Seen:
    """`static_argnums=0`, hash and eq over the fields, and mutated all the same: every call after that."""

    def once(old: float, new: float) -> Seen:
        watch = _Watch()
        scaler = _hashable_scaler(watch)
        mutated = scaler(old)
        watch.calls("scale=old", mutated.times, right=3 * old, stale=3 * old, times=2)
        mutated.scale = new
        pattern = watch.calls("scale=new", mutated.times, right=3 * new, stale=3 * old)
        second = scaler(new)
        of_second = watch.calls("a second object with scale=new", second.times, right=3 * new, stale=3 * old)
        mutated.scale = old
        back = watch.calls("scale=old again", mutated.times, right=3 * old, stale=3 * new)
        if pattern == "fresh" and of_second != "fresh":
            pattern = "second-object-stale"
        elif pattern == "fresh" and back != "fresh":
            pattern = "back-is-stale"
        kept.append((mutated, second))
        return Seen(pattern, watch.detail)

    # Where a stale entry of the hash table is met depends on seven bits of a hash seeded by an address: one time in 128 even the first
    # call after the mutation is stale. So five objects with values of their own, and what most of them show.
    kept: list[Any] = []
    seen = Counter(once(float(old), float(old + 7)).behaviour for old in range(2, 7))
    behaviour = seen.most_common(1)[0][0]
    return Seen(behaviour, next(detail for detail in [once(2.0, 5.0).detail]))
