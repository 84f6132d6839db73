"""The file libraries.json: the names that libraries on the stack use, read from their code."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import dump_lines
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.names import libraries
from jax_stack_compat.names.model import FOLDER
from jax_stack_compat.stack import uv_call


def publish(*, console: Terminal) -> None:
    """Count the libraries that use each name in their newest release, and write the file. Raises Failed, OSError."""
    versions, used = {}, Counter[str]()
    for library in libraries.LIBRARIES:
        # Installed without its dependencies.
        with tempfile.TemporaryDirectory() as folder:
            words = ("pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--python-version", "3.12")
            done = uv_call.run(*words, "--target", folder, library)
            if done.returncode:
                raise Failed(f"{library} cannot be read: {done.stderr.strip()}")
            (info,) = Path(folder).glob("*.dist-info")
            versions[library] = info.name.removesuffix(".dist-info").partition("-")[2]
            used.update(usage(Path(folder)).names)
    data = {"schema_version": 1, "libraries": versions, "used": sorted(used.items())}
    write(FOLDER / libraries.NAME, dump_lines(data, {"used": ""}))
    console.print(f"{libraries.NAME}: the names that {len(libraries.LIBRARIES)} libraries use", soft_wrap=True)
