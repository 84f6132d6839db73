"""The parts of a case (reproducer, workaround, control): what each runs, under which variables, and its result.

Cell side. Both the probe's child and `python -m jax_stack_compat.issues` run a part through here.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from time import monotonic  # by its own name: a case may put another into the module
from typing import Any

from jax_stack_compat.cell import signatures
from jax_stack_compat.cell.issue import Case, Seen

Json = dict[str, Any]


def of(case: Case) -> dict[str, Callable[[], Seen | None]]:
    """The functions to run, by part. A workaround by environment runs the reproducer again; one by pin runs nothing."""
    found: dict[str, Callable[[], Seen | None]] = {"reproducer": case.reproducer}
    if case.workaround is not None and (case.workaround.code or case.workaround.environment):
        found["workaround"] = case.workaround.code or case.reproducer
    return {**found, "control": case.control}


def variables(case: Case, name: str) -> dict[str, str]:
    """The environment variables to set for a part. Its XLA_FLAGS are added to those of this process."""
    layers = [case.environment]
    if case.host_devices > 1:
        layers.append({"XLA_FLAGS": f"--xla_force_host_platform_device_count={case.host_devices}"})
    if name == "workaround" and case.workaround is not None:
        layers.append(case.workaround.environment)
    found = {key: value for layer in layers for key, value in layer.items()}
    if "XLA_FLAGS" in found:
        flags = " ".join(layer.get("XLA_FLAGS", "") for layer in (os.environ, *layers))
        found["XLA_FLAGS"] = " ".join(dict.fromkeys(flags.split()))
    return found


def needs_interpreter(case: Case) -> bool:
    """Return True if the reproducer cannot run in a fork of a process that has imported the stack."""
    return case.isolation == "interpreter" or bool(case.environment) or case.host_devices > 1


def run(case: Case, name: str) -> Json:
    """Run a part in this process. Returns its outcome, and the behaviour where one was seen."""
    part = of(case)[name]
    started = monotonic()
    ended = False
    try:
        with _x64(case), _warnings(case) as caught:
            seen = part()
        ended = True
        said: Json = {"outcome": "returned"}
        if part is case.reproducer:
            if not (isinstance(seen, tuple) and len(seen) == 2 and all(isinstance(each, str) for each in seen)):
                raise TypeError(f"a reproducer returns its behaviour and the evidence, two strings, not {seen!r}")
            behaviour, detail = _first(case, caught) or seen
            said |= {"behaviour": behaviour, "detail": detail[:4096]}
    except BaseException as exception:
        trace = "".join(traceback.format_exception(exception))
        kind = f"{type(exception).__module__}.{type(exception).__qualname__}".removeprefix("builtins.")
        said = {"outcome": "raised", "exception": kind, "detail": signatures.text(exception)[:4096]}
        if part is case.reproducer and not ended and (known := signatures.match(exception, case.signatures)):
            said["behaviour"] = known
        said["traceback"] = trace[-8192:]
    said["seconds"] = round(monotonic() - started, 3)
    # A lone surrogate, from a file name that is no text, is JSON to Python and to nobody else.
    return {
        key: each.encode("utf-8", "backslashreplace").decode() if isinstance(each, str) else each
        for key, each in said.items()
    }


Caught = list[tuple[Warning, set[str]]]


@contextlib.contextmanager
def _warnings(case: Case) -> Iterator[Caught]:
    """Record all warnings, with the modules on the call stack, if a signature of the case is about a warning."""
    caught: Caught = []
    if not signatures.about_warnings(case.signatures):
        yield caught
        return
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        show = warnings.showwarning

        def record(message: Warning | str, *words: Any, **more: Any) -> None:
            if isinstance(message, Warning):
                caught.append((message, _callers()))
            show(message, *words, **more)

        warnings.showwarning = record
        yield caught


def _callers() -> set[str]:
    found, frame = set(), sys._getframe(2)
    while frame is not None:
        found.add(str(frame.f_globals.get("__name__")))
        frame = frame.f_back  # type: ignore[assignment]
    return found


def _first(case: Case, caught: Caught) -> Seen | None:
    """The recorded warning whose signature comes first in the case's table, if any matches."""
    matched = {signatures.match(warning, case.signatures, through): warning for warning, through in reversed(caught)}
    for name in case.signatures:
        if name in matched:
            return name, f"{type(matched[name]).__name__}: {signatures.text(matched[name])}"
    return None


@contextlib.contextmanager
def _x64(case: Case) -> Iterator[None]:
    if not case.x64:
        yield
        return
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)
