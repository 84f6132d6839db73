"""Tests of jax_stack_compat.judge and laboratory.boundaries."""
