"""The runner of orders on another machine: the standard library, and an interpreter that has jax."""
