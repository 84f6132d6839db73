"""`python -m laboratory`, which the nox sessions call."""

from jax_stack_compat.base import guardian
from laboratory.cli.command_line import end_with

if __name__ == "__main__":
    guardian.end_with_nox()
    end_with()
