"""Issues of `jax.nn`."""
