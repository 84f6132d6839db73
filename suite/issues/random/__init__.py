"""Issues of `jax.random`."""
