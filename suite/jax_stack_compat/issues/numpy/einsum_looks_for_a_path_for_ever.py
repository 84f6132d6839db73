"""jnp.einsum of eight arrays tries tens of thousands of orders while it is traced, up to jax 0.4.38

    jnp.einsum("ab,bc,cd,de,ef,fg,gh,hi->ai", *arrays)    # eight times the work for one array more; ten: no end

You'd expect tracing to take a moment. Up to jax 0.4.38 the default was `optimize="optimal"`, which looks at all orders
in which arrays can be contracted: its work is a factorial of their number, and jax#24929 has ten of size 2 that never
come back. jax 0.5.0 has `"auto"` (jax#25214), which gives up the best order for a good one where there are many. What
is counted here are the Python calls that the search makes; the answers are the same.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _calls(number: int, **options: Any) -> int:
    """How many Python calls opt_einsum makes for a product of so many matrices."""
    import sys

    import jax
    import jax.numpy as jnp

    seen: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and "opt_einsum" in frame.f_code.co_filename:
            seen.append(event)

    formula = ",".join("abcdefghij"[i : i + 2] for i in range(number)) + f"->a{'abcdefghij'[number]}"
    sys.setprofile(note)
    try:
        jax.eval_shape(lambda *arrays: jnp.einsum(formula, *arrays, **options), *[jnp.ones((2, 2))] * number)
    finally:
        sys.setprofile(None)
    return len(seen)


def default() -> tuple[str, str]:
    """Does an eighth array multiply the work to find an order of seven?"""
    seven, eight = _calls(7), _calls(8)
    return (
        "factorial" if eight > 4 * seven else "modest"
    ), f"{seven // 100}00 calls, and with one more {eight // 100}00"


def three() -> None:
    """Of three arrays it is little work on every release, and the product is right."""
    import jax.numpy as jnp

    assert _calls(3) < 1000
    assert jnp.einsum("ab,bc,cd->ad", *[jnp.eye(2)] * 3).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def auto() -> None:
    """optimize="auto", or "greedy", written out."""
    assert _calls(8, optimize="auto") < 10000 > _calls(8, optimize="greedy")


ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#24929", fix="jax#25214"),
    cases=(
        Case(
            default,
            three,
            {"factorial": "affected", "modest": "clear"},
            (Rule("factorial", "jax<0.5.0", "jax#24929"), Rule("modest", "", "jax#25214")),
            Workaround('Write optimize="auto" or "greedy".', auto),
            touches=(
                "jax.numpy.einsum(subscripts, a, b, c, d, e, f, g, h, i, j, optimize)"
                " if given(g) and (not given(optimize) or optimize in ('optimal', True))",
            ),
        ),
    ),
)
