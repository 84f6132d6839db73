"""Issues of `jax.lax` and Pallas."""
