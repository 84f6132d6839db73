"""Names and conditions that the touches of several issues share. Cell side."""

from __future__ import annotations

# Transformations that differentiate backwards, that differentiate at all, and that map.
GRADIENTS = (
    "uses('jax.grad', 'jax.value_and_grad', 'jax.vjp', 'jax.jacrev', 'jax.hessian', 'equinox.filter_grad', "
    "'equinox.filter_value_and_grad', 'equinox.filter_vjp')"
)
DERIVATIVES = (
    "uses('jax.grad', 'jax.value_and_grad', 'jax.vjp', 'jax.jvp', 'jax.jacrev', 'jax.jacfwd', 'jax.hessian', "
    "'jax.linearize', 'equinox.filter_grad', 'equinox.filter_value_and_grad', 'equinox.filter_vjp', "
    "'equinox.filter_jvp')"
)
MAPS = "uses('jax.vmap', 'equinox.filter_vmap')"


def members(module: str, names: str, rest: str = "") -> tuple[str, ...]:
    """Return names of a module, with `rest` after each: `members("jax.numpy", "cumsum cumprod", "(dtype=)")`."""
    return tuple(f"{module}.{name}{rest}" for name in names.split())
