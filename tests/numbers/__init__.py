"""Tests of the numbers: jax_stack_compat.numbers and laboratory.collect.numbers."""
