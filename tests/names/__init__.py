"""Tests of jax_stack_compat.names."""
