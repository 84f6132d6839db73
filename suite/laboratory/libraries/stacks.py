"""The stacks of a library: a release of it beside a release of another package, resolved as of the later day."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.spelling import specifiers
from jax_stack_compat.packages import BESIDE
from jax_stack_compat.stack import releases, uv_call
from laboratory.libraries import offered

# The line's interpreter comes first; a library may require a newer one.
_PYTHONS = ("3.12", "3.13", "3.11")
# An installer had all wheels of a release a day after the first.
_WHEELS = timedelta(days=1)
# What uv says of requirements that exclude each other; any other failure is the machine's, or the index's.
_NO_SOLUTION = "No solution found"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class LibraryPair:
    """A release of a library beside a release of a package of the stack."""

    library: str
    release: str
    package: str
    version: str


class NoStack(Exception):
    """An installer gives no such stack; the message is the installer's reason."""


def newest_minors(package: str, since: datetime) -> list[str]:
    """Return the newest release of each minor series of a package with a release after `since`. Raises BadFile."""
    snapshot = releases.load()
    uploads = {version: snapshot.packages[package][version].uploaded for version in snapshot.versions(package)}
    return offered.newest_of_series(uploads, since)


def as_of(pair: LibraryPair) -> datetime:
    """Return the moment as of which a pair is resolved: the later of the two days. Raises BadFile."""
    library = offered.load().libraries[pair.library][pair.release].uploaded
    package = releases.load().packages[pair.package][pair.version].uploaded
    return max(library, package) + _WHEELS


def python(library: str, release: str) -> str:
    """Return the interpreter on which a release of a library runs. Raises BadFile."""
    allowed = specifiers(offered.load().libraries[library][release].requires_python)
    return next((minor for minor in _PYTHONS if f"{minor}.9" in allowed), _PYTHONS[0])


def excluded(pair: LibraryPair) -> str:
    """Return the requirement in the library's own metadata that excludes the pair; empty if there is none."""
    release = offered.load().libraries[pair.library][pair.release]
    for wanted in map(Requirement, release.requires_dist):
        applies = releases.applies(wanted, python(pair.library, pair.release), "")
        if applies and canonicalize_name(wanted.name) == pair.package and not _admits(wanted, pair.version):
            return f"{pair.library} {pair.release} requires {wanted.name}{wanted.specifier}"
    return ""


def _admits(wanted: Requirement, version: str) -> bool:
    return wanted.specifier.contains(Version(version), prereleases=True)


def resolve(pair: LibraryPair, kept: Mapping[str, str]) -> Mapping[str, str]:
    """Return the pins that an installer gives for a pair; the versions in `kept` stay, as far as requirements admit.

    Raises NoStack, Failed, BadFile.
    """
    asked = [f"{pair.library}=={pair.release}", f"{pair.package}=={pair.version}", *sorted(BESIDE)]
    with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
        # uv prefers the versions in the file that it is to write.
        file.write("".join(f"{name}=={version}\n" for name, version in kept.items()))
        file.flush()
        run = _compile(pair, asked, file.name)
        if run.returncode and _NO_SOLUTION in run.stderr:
            raise NoStack(run.stderr.strip())
        if run.returncode:
            raise Failed(f"{pair.library} {pair.release} cannot be resolved: {run.stderr.strip()}")
        return {canonicalize_name(name): version for name, version in _PIN.findall(Path(file.name).read_text())}


def _compile(pair: LibraryPair, asked: Sequence[str], path: str) -> subprocess.CompletedProcess[str]:
    return uv_call.run(
        *("pip", "compile", "--python", sys.executable, "--no-python-downloads", "--quiet", "--no-header"),
        *(
            "--only-binary=:all:",
            "--python-version",
            python(pair.library, pair.release),
            "--no-annotate",
            "--python-platform",
            "linux",
        ),
        *("--exclude-newer", as_of(pair).isoformat(), "--output-file", path, "-"),
        asked="\n".join(asked),
    )
