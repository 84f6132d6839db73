"""Imports every public module of a library, and runs its task. Cell side.

    python -m jax_stack_compat.cell.library MODULE TASK

Each step is announced on standard output, a line of JSON each, so that a crash loses only its own step.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import pkgutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import partial
from typing import TextIO

# Modules for a library's own tests, examples and documentation are not imported.
_OTHERS = frozenset({"test", "tests", "testing", "conftest", "example", "examples", "benchmark", "benchmarks", "docs"})
_LONGEST = 300
_PACKAGES = sysconfig.get_paths()["purelib"]


def main(module: str, task: str) -> None:
    """Import `module`, run the task, and import the public modules inside `module`."""
    with _channel() as channel:
        if _step(channel, "import", module, partial(importlib.import_module, module)):
            _step(channel, "task", module, lambda: exec(compile(task, "<task>", "exec"), {"__name__": "__task__"}))
            _walk(channel, module)
        _tell(channel, step="end")


def _channel() -> TextIO:
    """Return standard output for our lines alone: what the library prints goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def _walk(channel: TextIO, package: str) -> None:
    for name in _inside(package):
        if _step(channel, "import", name, partial(importlib.import_module, name)):
            _walk(channel, name)


def _inside(package: str) -> Iterator[str]:
    """Yield the public modules of a package, in the order of their names."""
    # Some modules put an object in their place that raises for each attribute.
    places = vars(sys.modules[package]).get("__path__", ())
    for _, name, _ in sorted(pkgutil.iter_modules(places), key=lambda module: module[1]):
        is_private = name.startswith("_") or name.startswith("test_") or name.endswith("_test") or name in _OTHERS
        if not is_private:
            yield f"{package}.{name}"


def _step(channel: TextIO, step: str, name: str, do: Callable[[], object]) -> bool:
    _tell(channel, step=step, name=name)
    try:
        do()
    except BaseException as error:
        _tell(channel, failed=name, step=step, **_told(error))
        if isinstance(error, KeyboardInterrupt):
            raise
        return False
    return True


def _told(error: BaseException) -> dict[str, str]:
    """Return an error: its class and message, the package that it lacks, if any, and the place that raised it."""
    message = str(error).replace(f"{_PACKAGES}/", "").strip().partition("\n")[0][:_LONGEST]
    return {
        "error": f"{type(error).__name__}: {message}".rstrip(": "),
        "lacks": _lacking(error),
        "place": _place(error),
    }


def _lacking(error: BaseException | None) -> str:
    """Return the package that is not installed and whose lack caused an error; empty if none did."""
    while error is not None:
        name = getattr(error, "name", None) or ""
        if isinstance(error, ModuleNotFoundError) and name and not _is_installed(name):
            return name.partition(".")[0]
        error = error.__cause__ or error.__context__
    return ""


def _is_installed(name: str) -> bool:
    """Return True if the package of a module is installed. Several packages may share a namespace, such as google."""
    top = name.partition(".")[0]
    try:
        found = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return True
    return found is not None and (found.origin is not None or top == name)


def _place(error: BaseException) -> str:
    """Return the innermost frame of an installed package other than jax, as `flax/core/meta.py:12`."""
    place, frame = "", error.__traceback__
    while frame is not None:
        path = frame.tb_frame.f_code.co_filename.removeprefix(f"{_PACKAGES}/")
        if not path.startswith(("/", "<", "jax/", "jaxlib/")):
            place = f"{path}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place


def _tell(channel: TextIO, **words: str) -> None:
    channel.write(json.dumps(words) + "\n")
    channel.flush()


if __name__ == "__main__":
    main(*sys.argv[1:3])
