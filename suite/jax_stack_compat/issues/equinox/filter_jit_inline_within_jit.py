"""filter_jit(inline=True) within another jit raises AttributeError, in Equinox 0.12.0

    step = eqx.filter_jit(lambda x: x + 1.0, inline=True)
    jax.jit(step)(x)    # AttributeError: 'int' object has no attribute 'block_until_ready'

You'd expect `inline` to change how it is traced and nothing else. In 0.12.0 `filter_jit` has a number computed beside
what the function returns, and waits for it. Inlined into another trace that is a plain Python number, with nothing to
wait for. A scan, `jax.eval_shape` and `jax.make_jaxpr` fail too; called by itself, and under `jax.grad` or `jax.vmap`,
it is right. equinox#988 reports it on the day of 0.12.0, and 0.12.1 has the fix.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def within_jit() -> tuple[str, str]:
    """Does jax.jit take a function of filter_jit that is inlined?"""
    import equinox as eqx
    import jax

    step = eqx.filter_jit(lambda x: x + 1.0, inline=True)
    return "taken", f"1 + 1 is {float(jax.jit(step)(1.0))}"


def control_by_itself() -> None:
    """It is right by itself, and under jax.grad."""
    import equinox as eqx
    import jax

    square = eqx.filter_jit(lambda x: x * x, inline=True)
    assert float(square(3.0)) == 9.0
    assert float(jax.grad(square)(3.0)) == 6.0


def not_inlined() -> None:
    """Without `inline` it is right within jit and scan."""
    import equinox as eqx
    import jax

    step = eqx.filter_jit(lambda x: x + 1.0)
    assert float(jax.jit(step)(1.0)) == 2.0
    end, _ = jax.lax.scan(lambda x, _: (step(x), None), 0.0, None, length=3)
    assert float(end) == 3.0


def within_scan() -> tuple[str, str]:
    """Does jax.lax.scan?"""
    import equinox as eqx
    import jax

    step = eqx.filter_jit(lambda x: x + 1.0, inline=True)
    end, _ = jax.lax.scan(lambda x, _: (step(x), None), 0.0, None, length=3)
    return "taken", f"three steps from 0 end at {float(end)}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="equinox#988", fix="equinox@fcfaa0b"),
    touches=("equinox.filter_jit(inline=)",),
    control=control_by_itself,
    rules=(Rule("attribute-error", "equinox==0.12.0", "equinox#988"), Rule("taken", "", "fcfaa0b")),
    workaround=Workaround("Leave inline out.", not_inlined),
    signatures={"attribute-error": Signature("AttributeError", "has no attribute 'block_until_ready'", everyday=True)},
    needs=("jax", "equinox"),
    cases=(Case(within_jit), Case(within_scan)),
)
