"""What the runs of a library show, by release: works, does not import, or is without some of its modules. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from jax_stack_compat.environments.library_call import Failure, LibrarySeen
from jax_stack_compat.libraries.known import EXCLUDED, RUN, WORKS, Beside

# An attribute that a module lacks, a name that cannot be imported from it, a missing module, and a removed name.
_NEEDS = (
    re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
    re.compile(r"No module named '(?P<module>[\w.]+)'"),
    re.compile(r": (?P<module>[a-z]\w*(?:\.\w+)*)\.(?P<name>\w+)\s+(?:was|is|has been) (?:deprecated|removed)"),
)
_MOST_MODULES = 5
# An installer may build what has no wheel, and the runs do not; and another interpreter may do.
_NOT_HERE = ("no usable wheels", "requested Python version")


@dataclass(frozen=True)
class Ran:
    """What a release of a library did beside a release of a package: what was seen, in a stack with these pins.

    `conflict` is why an installer gives no such stack. With `held`, other packages stayed as in a stack that works.
    """

    package: str
    version: str
    seen: LibrarySeen
    pins: Mapping[str, str]
    conflict: str = ""
    held: bool = False


def shown(runs: Sequence[Ran], module: str) -> Mapping[tuple[str, str, bool], Beside]:
    """Return what the runs of one release of a library show, by package, version and whether others were held.

    A module that imports nowhere, or a task that works nowhere, tells nothing about the stack, and does not count.
    One of the runs is of the release's own day.
    """
    whole = [run for run in runs if _imports(run, module)]
    never = frozenset.intersection(*(_broken(run) for run in whole)) if whole else frozenset()
    has_task = any(run.seen.task is None and not run.seen.during.startswith("task ") for run in whole)
    return {(run.package, run.version, run.held): _shown(run, module, never, has_task=has_task) for run in runs}


def _shown(run: Ran, module: str, never: frozenset[str], *, has_task: bool) -> Beside:
    seen = run.seen
    if any(words in run.conflict for words in _NOT_HERE):
        return Beside("unavailable", RUN, error=_cause(run.conflict))
    if run.conflict:
        return Beside(EXCLUDED, RUN, error=_cause(run.conflict))
    is_part = seen.during.startswith("import ") and seen.during != f"import {module}"
    if seen.ended and not is_part:
        return Beside("crashes", RUN, error=f"{seen.ended}, in {seen.during}")
    root = next((failure for failure in seen.failures[:1] if failure.name == module), None)
    if root and root.lacks:
        # It may be installed in a user's stack, and jax has no part in it.
        return Beside("unavailable", RUN, error=root.error)
    if root:
        return _failed("does-not-import", run, module, root)
    if seen.task and has_task:
        return _failed("task-fails", run, module, seen.task)
    broken = [failure for failure in seen.failures if failure.name in _broken(run) - never]
    if broken:
        return _failed("without-modules", run, module, broken[0], [failure.name for failure in broken])
    return Beside(WORKS if has_task else "imports", RUN)


def _cause(conflict: str) -> str:
    """Return the first cause that the installer names, as `dynamax==0.1.9 depends on numpy<2.0`, or else its words."""
    words = " ".join(conflict.split())
    found = re.search(r"Because (.*?),? we can conclude", words)
    return found[1] if found else words


def _imports(run: Ran, module: str) -> bool:
    failures = run.seen.failures
    is_broken = bool(failures) and failures[0].name == module
    return not run.conflict and not is_broken and run.seen.during != f"import {module}"


def _broken(run: Ran) -> frozenset[str]:
    """Return the modules that do not import, unless for a package that is not installed."""
    return frozenset(failure.name for failure in run.seen.failures if not failure.lacks)


def _failed(behaviour: str, run: Ran, module: str, failure: Failure, modules: Iterable[str] = ()) -> Beside:
    return Beside(
        behaviour,
        RUN,
        error=failure.error,
        needs=needed(failure.error),
        place=failure.place,
        by=_by(run, module, failure.place),
        modules=tuple(modules)[:_MOST_MODULES],
    )


def needed(error: str) -> str:
    """Return the name that an error says is missing, as `jax.core.Effects`; empty if it says none."""
    for pattern in _NEEDS:
        if match := pattern.search(error):
            found = match.groupdict()
            return ".".join(filter(None, (found["module"], found.get("name"))))
    return ""


def _by(run: Ran, module: str, place: str) -> str:
    """Return the other package with the line that raised, as `distrax 0.1.5`; empty for the library's own code."""
    folder = place.partition("/")[0]
    package = canonicalize_name(folder)
    if folder == module.partition(".")[0] or package not in run.pins:
        return ""
    return f"{package} {run.pins[package]}"
