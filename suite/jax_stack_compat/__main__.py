"""`python -m jax_stack_compat`, which is the command `jax-stack-compat`."""

import os
import sys


def _safe(paths: list[str]) -> list[str]:
    """Return a module path on which nothing in the current folder comes before the standard library.

    That folder is often a project whose modules must not be imported, pathlib included. Python puts it first, and so
    may PYTHONPATH. Folders below it, which PYTHONPATH may name for its packages, come last.
    """
    own = os.path.realpath(f"{__file__}/../..")
    try:
        here = os.path.realpath(os.curdir)
    except FileNotFoundError:
        return paths
    library = os.path.dirname(os.__file__)  # noqa: PTH120  pathlib is not imported yet
    early = paths[: paths.index(library)] if library in paths else paths[:1]
    places = {path: os.path.realpath(path) for path in early}
    inside = [path for path, place in places.items() if f"{place}/".startswith(f"{here}/".replace("//", "/"))]
    last = [path for path in inside if places[path] != here or here == own]
    return [path for path in paths if path not in inside] + last


sys.path[:] = _safe(sys.path)

from jax_stack_compat.command_line import main  # noqa: E402  only a safe path is imported from

if __name__ == "__main__":
    main()
