"""Issues of `jax.scipy`."""
