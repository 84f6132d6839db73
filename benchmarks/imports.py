"""The import time of each package of the stack in a fresh interpreter, including the packages that it imports.

After the first sample, the files are cached and compiled to bytecode, so take the least time.
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
