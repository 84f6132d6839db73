"""jnp.empty and jnp.empty_like no longer promise zeros

`jnp.empty` and `jnp.empty_like` were documented as arrays of zeros. jax@11cefe9729 makes both call `lax.empty`, which
allocates a buffer without values on GPUs and TPUs, but fills it with zeros on the CPU (`lowered`). So a test on a CPU
does not find code that relies on zeros (`values_on_cpu`). JAX's own `Rotation.as_euler` relied on zeros (jax#38674).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def lowered() -> tuple[str, str]:
    """Are jnp.empty and jnp.empty_like filled with zeros when lowered for the CPU, CUDA and TPU?"""
    from inspect import signature

    import jax
    import jax.numpy as jnp

    jitted = jax.jit(lambda x: (jnp.empty(3), jnp.empty_like(x)))
    traced = jitted.trace(jnp.ones(3)) if hasattr(jitted, "trace") else None
    if traced is None or "lowering_platforms" not in signature(traced.lower).parameters:
        return "absent", "no lowering for another platform"
    platforms = ("cpu", "cuda", "tpu")
    texts = [traced.lower(lowering_platforms=(platform,)).as_text() for platform in platforms]
    buffers = tuple(text.count("AllocateBuffer") for text in texts)
    named = {(0, 0, 0): "zeros", (0, 2, 2): "uninitialised"}
    return named.get(buffers, "other"), f"buffers without values, of two: {dict(zip(platforms, buffers, strict=True))}"


def zeros() -> None:
    """jnp.zeros(3) returns zeros, and jnp.empty(3) has the shape (3,)."""
    import jax.numpy as jnp

    assert jnp.zeros(3).tolist() == [0.0, 0.0, 0.0]
    assert jnp.empty(3).shape == (3,)


def ask_for_zeros() -> None:
    """In the jaxpr, jnp.zeros_like fills an array with zeros; an update of jnp.zeros(3) adds to 0."""
    import jax
    import jax.numpy as jnp

    equations = jax.make_jaxpr(lambda x: jnp.zeros_like(x))(jnp.ones(3)).eqns
    assert [str(equation.primitive) for equation in equations] == ["broadcast_in_dim"]
    assert jnp.zeros(3).at[0].add(1.0).tolist() == [1.0, 0.0, 0.0]


def accumulated(x: Any) -> Any:
    """Add x to jnp.zeros_like(x), and then add jnp.zeros of the shape of x."""
    import jax.numpy as jnp

    return jnp.zeros_like(x).at[...].add(x) + jnp.zeros(x.shape, x.dtype)


def itself(x: Any) -> Any:
    """Return x."""
    return x


def jaxpr() -> tuple[str, str]:
    """Do jnp.empty and jnp.empty_like fill an array with zeros in the jaxpr, as jnp.zeros does?"""
    import jax
    import jax.numpy as jnp

    names = [
        [str(equation.primitive) for equation in jax.make_jaxpr(f)(jnp.ones(3, "int32")).eqns]
        for f in (lambda x: jnp.empty(3), lambda x: jnp.empty_like(x))
    ]
    zeros = names == [["broadcast_in_dim"]] * 2
    return ("zeros" if zeros else "uninitialised" if names == [["empty"]] * 2 else "other"), f"{names}"


def values_on_cpu() -> tuple[str, str]:
    """On the CPU, are jnp.empty, also under jit, and jnp.empty_like zeros after an array of equal size was freed?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    found = 0
    for size in (3, 4096, 2**18):
        for _ in range(10):
            filled = jnp.full(size, 7.0).block_until_ready()
            del filled
            found += int(np.count_nonzero(np.asarray(jnp.empty(size))))
            found += int(np.count_nonzero(np.asarray(jnp.empty_like(jnp.ones(size)))))
        found += int(np.count_nonzero(np.asarray(jax.jit(lambda x, size=size: jnp.empty(size) + x)(0.0))))
    return ("other-values" if found else "zeros"), f"{'some' if found else 'no'} values that are not 0"


_NEW = Rule("uninitialised", "", "jax@11cefe9729, in the changelog")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        change="jax@11cefe9729 jax#38674", docs="jax:changelog.html", discussion="jax#36681 jax#36741"
    ),
    # An array without elements has no values.
    touches=(
        "jax.numpy.empty(shape) if unseen and shape != 0 and not seen(0 in shape)",
        "jax.numpy.empty_like if unseen",
    ),
    control=zeros,
    behaviours={"zeros": "clear", "uninitialised": "documented", "other": "different"},
    workaround=Workaround(
        "Where you need zeros, use jnp.zeros(shape) and jnp.zeros_like(x).",
        ask_for_zeros,
        elsewhere=Elsewhere(
            accumulated,
            itself,
            ("float32 matrix", "int32 vector", "complex64 batch", "float16 scalar", "uint8 vector", "float32 empty"),
        ),
    ),
    cases=(
        Case(
            lowered,
            behaviours={"zeros": "clear", "uninitialised": "documented", "other": "different", "absent": "absent"},
            rules=(Rule("absent", "jax<0.4.30"), Rule("zeros", "jax<0.11.0"), _NEW),
        ),
        Case(jaxpr, rules=(Rule("zeros", "jax<0.11.0"), _NEW)),
        Case(
            values_on_cpu,
            behaviours={"zeros": "clear", "other-values": "documented"},
            rules=(Rule("zeros", "", "lax.empty fills zeros on the CPU"),),
        ),
    ),
)
