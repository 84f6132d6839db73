"""NumPyro does not import beside the jax that came after it: pjit_p, then xla_pmap_p is gone

    import numpyro    # 0.18.0 beside jax 0.7.0: ImportError: cannot import name 'pjit_p' from 'jax.experimental.pjit'
                      # 0.20.1 beside jax 0.10.0: ImportError: cannot import name 'xla_pmap_p' from 'jax.extend.core…'

You'd expect a package to work with what its metadata allows. NumPyro follows values through JAX's primitives, imports
those by name as it is imported itself, and sets no upper bound on jax. So a jax that renames one of them or takes one
away ends every program that imports NumPyro until NumPyro's next release: two weeks in the summer of 2025, and two in
the spring of 2026. Many projects capped jax for it. From 0.21.0 NumPyro does without what it does not find.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def draws() -> tuple[str, str]:
    """Does NumPyro import, and draw from a posterior?"""
    import jax
    import numpyro
    from numpyro import distributions, infer

    def model() -> None:
        numpyro.sample("x", distributions.Normal(0.0, 1.0))

    sampler = infer.MCMC(infer.NUTS(model), num_warmup=5, num_samples=5, progress_bar=False)
    sampler.run(jax.random.PRNGKey(0))
    found = sampler.get_samples()["x"]
    return "draws" if bool(jax.numpy.isfinite(found).all()) else "no-numbers", f"{found.shape[0]} draws"


def control_draws() -> None:
    """What a sampler needs of JAX by itself: draws, and the gradient of a density under jit."""
    import jax

    draw = jax.random.normal(jax.random.PRNGKey(0))
    assert float(jax.jit(jax.grad(lambda x: -0.5 * x * x))(draw)) == -float(draw)


ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(report="pyro-ppl/numpyro#2051 pyro-ppl/numpyro#2174", fix="pyro-ppl/numpyro#2173"),
    touches=("NumPyro",),
    control=control_draws,
    behaviours={"draws": "clear", "no-numbers": "affected"},
    rules=(
        Rule("no-pjit-p", "numpyro<0.19.0 jax>=0.7.0", "numpyro#2051, and JAX's changelog"),
        Rule("no-xla-pmap-p", "numpyro>=0.19.0,<0.21.0 jax>=0.10.0", "numpyro#2173"),
        Rule("draws", "numpyro<0.20.0"),
        Rule("draws", "jax>=0.7.0", "NumPyro asks for it from 0.20.0 on"),
    ),
    workaround=Workaround("Upgrade NumPyro with jax, or cap jax until it has followed.", pin="numpyro>=0.21.0"),
    signatures={
        "no-pjit-p": Signature("ImportError", "cannot import name 'pjit_p'", "numpyro"),
        "no-xla-pmap-p": Signature("ImportError", "cannot import name 'xla_pmap_p'", "numpyro"),
    },
    needs=("jax", "numpyro"),
    cases=(Case(draws, touches=("import numpyro if shows('no-pjit-p', 'no-xla-pmap-p')",)),),
)
