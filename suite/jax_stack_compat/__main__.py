"""`python -m jax_stack_compat`, which is the command `jax-stack-compat`."""

import os
import sys

# Python puts the current folder first, which is often a project whose modules must not be imported: pathlib included.
if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != os.path.realpath(f"{__file__}/../.."):
    del sys.path[0]

from jax_stack_compat.command_line import main

if __name__ == "__main__":
    main()
