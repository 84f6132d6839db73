"""The results of jax's functions on each release, compared with a reference and with the release before."""
