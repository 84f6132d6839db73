"""`python -m jax_stack_compat`, which is the command `jax-stack-compat`."""

import sys
from pathlib import Path

# Python puts the current folder first, which is often a project whose modules must not be imported.
if Path(sys.path[0]).resolve() != Path(__file__).resolve().parents[1]:
    del sys.path[0]

from jax_stack_compat.command_line import main

if __name__ == "__main__":
    main()
