"""What the functions of jax return on each release: measured, compared with a reference and with the release before."""
