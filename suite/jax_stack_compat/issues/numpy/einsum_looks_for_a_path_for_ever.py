"""jnp.einsum of eight or more arrays takes factorial time to trace

The default was `optimize="optimal"`, whose search for an order of contraction grows factorially with the number of
arrays (dgasmith/opt_einsum#243): ten arrays seemed to hang (jax#24929). jax#25214 makes "auto" the default, and accepts
that some products may run slower. `optimize=True` still means "optimal" (`optimize_true`), which older documentation
denies.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround

_TEN = "a,c,d,db,ab,cb,ac,cd,ad,b->dbc"


def _searched(formula: str, **options: Any) -> tuple[str, str]:
    """Trace an einsum of arrays of size 2, and stop after 100,000 Python calls of opt_einsum."""
    import sys

    import jax
    import jax.numpy as jnp

    arrays = [jnp.ones((2,) * len(axes)) for axes in formula.partition("->")[0].split(",")]
    seen = 0

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal seen
        seen += event == "call" and "opt_einsum" in frame.f_code.co_filename
        if seen > 100_000:
            raise TimeoutError

    sys.setprofile(count)
    try:
        jax.eval_shape(lambda *each: jnp.einsum(formula, *each, **options), *arrays)
    except TimeoutError:
        return "factorial", "stopped after 100000 calls"
    finally:
        sys.setprofile(None)
    return "modest", f"fewer than {seen // 1000 + 1}000 calls"


def ten_arrays() -> tuple[str, str]:
    """Does jnp.einsum of ten arrays find an order of contraction within 100,000 calls?"""
    return _searched(_TEN)


def _calls(number: int, **options: Any) -> int:
    """Return how many Python calls opt_einsum makes for a product of `number` matrices."""
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


def three() -> None:
    """jnp.einsum of three matrices takes few calls, and returns the product."""
    import jax.numpy as jnp

    assert _calls(3) < 1000
    assert jnp.einsum("ab,bc,cd->ad", *[jnp.eye(2)] * 3).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def auto() -> None:
    """For eight matrices, "auto" and "greedy" take fewer than 10,000 calls."""
    assert _calls(8, optimize="auto") < 10000 > _calls(8, optimize="greedy")


def auto_of_ten() -> None:
    """With "auto", three products of ten arrays take few calls, and agree with NumPy in two dtypes."""
    import jax.numpy as jnp
    import numpy as np

    for formula in (_TEN, "ab,bc,cd,de,ef,fg,gh,hi,ij,jk->ak", "abi,bci,cdi,dei,efi,fgi,ghi,hai,i,i->i"):
        assert _searched(formula, optimize="auto")[0] == "modest"
        for dtype in (np.float32, np.complex64):
            shapes = [(3,) * len(axes) for axes in formula.partition("->")[0].split(",")]
            arrays = [np.linspace(0.1, 1.0, 3 ** len(shape)).astype(dtype).reshape(shape) for shape in shapes]
            wanted = np.einsum(formula, *arrays, optimize="greedy")
            np.testing.assert_allclose(jnp.einsum(formula, *arrays, optimize="auto"), wanted, rtol=1e-4)


def default() -> tuple[str, str]:
    """Does jnp.einsum of eight matrices make more than four times as many opt_einsum calls as of seven?"""
    seven, eight = _calls(7), _calls(8)
    return (
        "factorial" if eight > 4 * seven else "modest"
    ), f"{seven // 100}00 calls, and with one more {eight // 100}00"


def optimize_true() -> tuple[str, str]:
    """Does jnp.einsum(optimize=True) of ten arrays find an order of contraction within 100,000 calls?"""
    return _searched(_TEN, optimize=True)


def _of_eight(condition: str) -> tuple[str, ...]:
    """Return jnp.einsum of eight arrays or more, with a condition on optimize."""
    arrays = ", ".join("abcdefghijklmnop")
    # Eight arrays need fifteen characters.
    many = "given(h) and not seen(len(subscripts) < 15)"
    return (f"jax.numpy.einsum(subscripts, {arrays}, optimize) if {many} and ({condition})",)


ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(
        report="jax#24929",
        cause="jax#7512",
        fix="jax#25214",
        docs="jax:changelog.html",
        discussion="dgasmith/opt_einsum#243",
    ),
    control=three,
    behaviours={"factorial": "affected", "modest": "clear"},
    rules=(Rule("factorial", "jax<0.5.0", "jax#24929"), Rule("modest", "", "jax#25214 (2f7204fff6)")),
    workaround=Workaround(
        'Pass optimize="auto", the later default; the product itself may run slower.', auto, elsewhere=auto_of_ten
    ),
    cases=(
        Case(ten_arrays, touches=_of_eight("not given(optimize)")),
        Case(default, touches=_of_eight("not given(optimize)")),
        Case(
            optimize_true,
            behaviours={"factorial": "documented", "modest": "clear"},
            rules=(Rule("factorial", "", "later docstrings of jnp.einsum say that True is the same as optimal"),),
            touches=_of_eight("optimize in ('optimal', True)"),
        ),
    ),
)
