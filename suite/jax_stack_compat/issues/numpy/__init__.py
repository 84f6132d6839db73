"""Issues of `jax.numpy`, and of arrays."""
