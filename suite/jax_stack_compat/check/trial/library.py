"""An unreleased library beside the newest jax of each minor series: `try numpyro=./branch`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.base.files import STATE
from jax_stack_compat.check.output import text
from jax_stack_compat.check.trial.own_folder import own_folder
from jax_stack_compat.environments import interpreter, library_call
from jax_stack_compat.environments.library_call import LibrarySeen
from jax_stack_compat.libraries import known
from jax_stack_compat.libraries.judge import Ran, shown
from jax_stack_compat.libraries.known import EXCLUDED, WORKS, Beside
from jax_stack_compat.packages import BESIDE
from jax_stack_compat.stack import uv_call

_PLACE = STATE / "candidates"
_PYTHON = "3.12"
_BUILD_S = 900.0
_TOLD = 300


def attempt(name: str, source: str, *, console: Terminal) -> Exit:
    """Run a library's imports and task beside the newest jax of each minor series, and print what each shows.

    Something breaks if the newest published release works where this one does not. Raises Failed, BadFile, OSError.
    """
    library = known.load()[name]
    versions = known.versions("jax")
    text.say(console, f"{name}, from {source}, beside jax {', '.join(versions)}", "bold")
    runs = [_ran(name, source, version) for version in reversed(versions)]
    newest, published = list(library.releases.items())[-1]
    broken = 0
    for (_, version, _), now in shown(runs, library.module).items():
        before = published.beside["jax"].get(version)
        breaks = before is not None and before.behaviour == WORKS and now.behaviour != WORKS
        broken += breaks
        was = f" ({name} {newest}: {before.behaviour})" if before and before.behaviour != now.behaviour else ""
        style = "red" if breaks else "green" if now.behaviour == WORKS else "dim"
        text.say(console, f"  jax {version}: {'; '.join(_told(now, version))}{was}", style)
    tried = sum(not run.conflict for run in runs)
    text.say(console, f"{broken} broken, of {tried} releases of jax with which it installs.", "bold")
    if not tried:
        return Exit.INCOMPLETE
    return Exit.UNEXPECTED if broken else Exit.AS_EXPECTED


def _told(now: Beside, version: str) -> Iterator[str]:
    yield now.behaviour.replace("-", " ")
    if now.behaviour == WORKS:
        return
    last = known.last_with(now.needs, version) if now.needs else ""
    yield f"{now.by or 'it'} needs {now.needs}{f', which {last} had last' * bool(last)}" if now.needs else now.error
    if now.place and now.behaviour != EXCLUDED:
        yield now.place


def _ran(name: str, source: str, version: str) -> Ran:
    """Install a library beside a release of jax, and run it. Raises Failed, OSError."""
    library = known.load()[name]
    with own_folder(_PLACE) as folder:
        environment = folder / "env"
        _venv(environment)
        asked: Sequence[str] = (source, f"jax=={version}", *sorted(BESIDE))
        executable = str(environment / "bin" / "python")
        run = uv_call.run("pip", "install", "--quiet", "--python", executable, *asked, within=_BUILD_S)
        if run.returncode:
            return Ran("jax", version, LibrarySeen(), {}, run.stderr.strip()[-_TOLD:])
        return Ran("jax", version, library_call.observe(environment, library.module, library.task), _pins(executable))


def _venv(folder: Path) -> None:
    try:
        python, _ = interpreter.find(_PYTHON)
    except interpreter.NoInterpreter as error:
        raise Failed(str(error)) from error
    run = uv_call.run("venv", "--quiet", "--no-project", "--python", str(python), str(folder))
    if run.returncode:
        raise Failed(f"uv venv: {run.stderr.strip()[-_TOLD:]}")


def _pins(executable: str) -> dict[str, str]:
    listed = uv_call.run("pip", "freeze", "--python", executable).stdout.splitlines()
    pins = {}
    for line in listed:
        with suppress(ValueError):
            name, version = line.split("==")
            pins[name] = version
    return pins
