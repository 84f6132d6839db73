"""The parts of a case, its reproducer, workaround and control: what each needs around it, and what comes of it.

Cell side. The probe's child and `python -m suite.issues.X` run a part alike.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from suite.cell import signatures
from suite.cell.issue import Case, Seen

Json = dict[str, Any]


def of(case: Case) -> dict[str, Callable[[], Seen | None]]:
    """What there is to run of a case: a workaround that is an environment is the reproducer's once more, a pin none."""
    found: dict[str, Callable[[], Seen | None]] = {"reproducer": case.reproducer}
    if case.workaround is not None and (case.workaround.code or case.workaround.environment):
        found["workaround"] = case.workaround.code or case.reproducer
    return {**found, "control": case.control}


def variables(case: Case, name: str) -> dict[str, str]:
    """The environment variables that a part needs beside those that are set. XLA_FLAGS add up."""
    layers = [case.environment]
    if case.host_devices > 1:
        layers.append({"XLA_FLAGS": f"--xla_force_host_platform_device_count={case.host_devices}"})
    if name == "workaround" and case.workaround is not None:
        layers.append(case.workaround.environment)
    found = {key: value for layer in layers for key, value in layer.items()}
    if "XLA_FLAGS" in found:
        every = [layer.get("XLA_FLAGS", "") for layer in (os.environ, *layers)]
        found["XLA_FLAGS"] = " ".join(filter(None, every))
    return found


def run(case: Case, name: str) -> Json:
    """Run a part here, and what came of it: its outcome, with the behaviour where one was seen."""
    part = of(case)[name]
    started = time.monotonic()
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
    said["seconds"] = round(time.monotonic() - started, 3)
    # A lone surrogate, from a file name that is no text, is JSON to Python and to nobody else.
    return {
        key: each.encode("utf-8", "backslashreplace").decode() if isinstance(each, str) else each
        for key, each in said.items()
    }


Caught = list[tuple[Warning, set[str]]]


@contextlib.contextmanager
def _warnings(case: Case) -> Iterator[Caught]:
    """Record every warning, with the modules that it came through, where a signature of the case asks for one."""
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
    """Of the warnings, the one whose signature stands first in the case's table."""
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
