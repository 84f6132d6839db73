"""The import time of each package of the stack in a fresh interpreter, with what it pulls in.

The files are in the disk's cache and compiled to bytecode from the first sample on: take the least.
"""

from benchmarks import _phases


class Import:
    """`import jax`, `import equinox` (which imports jax) and `import diffrax` (which imports both), in seconds."""

    version = "1"
    timeout = 180.0
    rounds = 1
    number = 1
    repeat = (2, 3, 3.0)
    warmup_time = 0.0
    params = ("jax", "equinox", "diffrax")
    param_names = ("package",)

    def timeraw_import(self, package):
        """Time the import in a process of its own."""
        _phases.assert_versions()
        return f"import {package}"
