"""Cell → lock: every package pinned, with the hashes of its wheels, as of the day the cell's release came out.

A lock is a requirements file, so any installer can use it:

    uv pip sync --require-hashes suite/jax_stack_compat/stack/locks/jax-0.4.30.txt

It names no index, so any index can be used. It lists the wheels for the cell's CPython on all platforms, and no source
archives: nothing is ever built.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.markers import Marker
from packaging.pylock import Package, PackageWheel, Pylock
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from jax_stack_compat.base.errors import BadFile, Failed, Fault
from jax_stack_compat.base.files import STATE
from jax_stack_compat.base.spelling import is_version, quoted
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.packages import EVERYWHERE
from jax_stack_compat.stack import plan, uv_call
from jax_stack_compat.stack.plan import Cell
from jax_stack_compat.stack.releases import tag_of

LOCKS = Path(__file__).with_name("locks")
# The locks of unplanned stacks that a user asked for.
ASKED_FOR = STATE / "locks"
_PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][A-Za-z0-9.+!_-]*")
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
_requirement = cache(Requirement)
# The end of an entry; a pin and its hashes are one entry, on continued lines.
_ENTRIES = re.compile(r"(?<!\\)\n")


@dataclass(frozen=True)
class Lock:
    """A parsed lock: `text` as in the tree, its sha256, and the versions by name."""

    path: Path
    text: str
    sha256: str
    pins: Mapping[str, str]

    @property
    def wheels(self) -> dict[str, str]:
        """A mapping of lock entries, each a pin with its hashes, to `name==version`.

        Two Pythons that need different wheels of one release have different entries.
        """
        entries = (entry for entry in _ENTRIES.split(self.text) if entry and not entry.startswith("#"))
        return {entry: entry.split()[0] for entry in entries}


class Unresolvable(Failed):
    """No set of releases satisfies a cell, or the index did not answer; the message is the resolver's."""


def path_of(cell: Cell) -> Path:
    """Return the path of a cell's lock: in the tree, if the cell is planned."""
    return (LOCKS if cell.tags else ASKED_FOR) / cell.lock_name


def obtain(cell: Cell) -> Lock:
    """Return the lock of `cell`; an unplanned cell is resolved once. Raises BadFile, Unresolvable."""
    if not cell.tags and not cell.unavailable and not path_of(cell).exists():
        write_lock(cell, resolve(cell)[0])
    return load(cell)


def load(cell: Cell) -> Lock:
    """Return the lock of `cell`; an empty one if the cell is unavailable, or is unplanned and was never resolved.

    Raises BadFile with every fault in the lock.
    """
    path = path_of(cell)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        if cell.unavailable or not cell.tags:
            return Lock(path, "", "", {})
        raise BadFile([Fault(path, "file", "does not exist; `nox -s lock` writes it")]) from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile([Fault(path, "file", str(error))]) from error
    pinned = parse(text, path)
    faults = [
        Fault(path, wanted.name, f"the cell asks for {wanted}, and {pinned.pins.get(wanted.name, 'nothing')} is pinned")
        for wanted in map(_requirement, cell.requires)
        if not wanted.specifier.contains(pinned.pins.get(wanted.name, ""), prereleases=True)
    ]
    if faults:
        raise BadFile(faults)
    return pinned


def jax_line() -> dict[str, Mapping[str, str]]:
    """Return the pins of each jax release's cell on the line, in version order; empty without a readable lock."""
    cells = {dict(cell.holds)["jax"]: cell for cell in plan.tagged("line") if cell.moves == "jax"}
    found: dict[str, Mapping[str, str]] = {}
    for version in sorted(cells, key=Version):
        found[version] = {}
        # An unreadable lock is reported by the run of its cell.
        with suppress(BadFile):
            found[version] = {} if cells[version].unavailable else load(cells[version]).pins
    return found


# Each report reads the locks of the line, some of these locks several times.
@cache
def parse(text: str, path: Path) -> Lock:
    """Read a lock. Raises BadFile with every fault in it, by line."""
    faults: list[Fault] = []
    pins: dict[str, str] = {}
    line = after = 1
    for entry in _ENTRIES.split(text):
        line, after = after, after + entry.count("\n") + 1
        pin, *hashes = entry.replace("\\\n", " ").split() or ["#"]
        if pin.startswith("#"):
            continue
        name, _, version = pin.partition("==")
        if _PIN.fullmatch(pin):
            wrong = [f"{name} is pinned twice"] if name in pins else []
            wrong += [] if is_version(version) else [f"{name}: {quoted(version)} is not a version"]
            wrong += [] if hashes else [f"{name} has no hash"]
            wrong += [f"{name}: {digest!r} is not a sha256 hash" for digest in hashes if not _HASH.fullmatch(digest)]
            pins[name] = version
        else:
            wrong = [f"{pin!r} is not a pin: write name==version --hash=sha256:…"]
        faults += [Fault(path, f"line {line}", message) for message in wrong]
    faults += [Fault(path, name, "is not pinned") for name in EVERYWHERE if name not in pins]
    if faults:
        raise BadFile(faults)
    return Lock(path, text, hashlib.sha256(text.encode()).hexdigest(), pins)


def resolve(cell: Cell) -> tuple[str, dict[str, int]]:
    """Resolve `cell` as of its day; return the lock's text, and the bytes of Linux x86-64 wheels by name==version.

    The bytes are 0 if the index does not give them. Raises Unresolvable.
    """
    over: tuple[str, ...] = ()
    try:
        packages = _compile(cell, over)
    except Unresolvable:
        if cell.kind == "line":
            raise
        # Metadata excludes this set of packages. Install it anyway: `declared` will report the conflict.
        over = tuple(requirement for requirement in cell.requires if "==" in requirement)
        packages = _compile(cell, over)
    usable = {f"{package.name}=={package.version}": _usable(package, cell.python) for package in packages}
    if without := [name for name, wheels in usable.items() if not wheels]:
        raise Unresolvable(f"no wheel for CPython {cell.python}: {', '.join(without)}")
    if len({package.name for package in packages}) < len(packages):
        raise Unresolvable("one package at two versions: the resolution differs between platforms")
    header = [
        f"# {cell.id}: what an installer would have given for {' '.join(cell.requires)}",
        f"# on CPython {cell.python} before {cell.as_of:%Y-%m-%d %H:%M} UTC"
        + (", the day of releases.json" if cell.today else "")
        + "".join(f" ({name}: before {moment:%Y-%m-%d %H:%M})" for name, moment in cell.as_of_package)
        + (". What it names is installed over all metadata" if over else "")
        + ". Written by `nox -s lock`.",
    ]
    entries = [
        " \\\n    ".join([pin, *sorted(f"--hash=sha256:{wheel.hashes['sha256']}" for wheel in wheels)])
        for pin, wheels in sorted(usable.items())
    ]
    sizes = {pin: next((wheel.size or 0 for wheel in wheels if _is_linux(wheel)), 0) for pin, wheels in usable.items()}
    return "\n".join([*header, *entries]) + "\n", sizes


def _compile(cell: Cell, over: Sequence[str]) -> list[Package]:
    """Return the packages an installer chooses for `cell`, with `over` overriding all metadata. Raises Unresolvable."""
    with tempfile.TemporaryDirectory() as scratch:
        overrides = Path(scratch, "over.in")
        overrides.write_text("\n".join(over), encoding="utf-8")
        late = [f"--exclude-newer-package={name}={moment.isoformat()}" for name, moment in cell.as_of_package]
        command = [
            # Nothing is built, so any interpreter will do. By default, uv would download an interpreter of the cell's
            # version.
            *("pip", "compile", "--python", sys.executable, "--no-python-downloads", "--quiet"),
            *("--universal", "--only-binary=:all:", "--python-version", cell.python),
            *("--exclude-newer", cell.as_of.isoformat(), *late),
            *("--override", str(overrides), "--format", "pylock.toml", "-"),
        ]
        run = uv_call.run(*command, asked="\n".join(cell.requires))
    if run.returncode:
        raise Unresolvable(run.stderr.strip())
    chosen = Pylock.from_dict(tomllib.loads(run.stdout)).packages
    return [package for package in chosen if package.marker is None or _applies(package.marker, cell.python)]


def _applies(marker: Marker, python: str) -> bool:
    """Return True if `marker` is true on any system for `python`; uv also resolves for all newer interpreters."""
    here = {"python_version": python, "python_full_version": f"{python}.0"}
    systems = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
    return any(
        marker.evaluate({**here, "sys_platform": platform, "platform_system": system, "os_name": os})
        for platform, system, os in systems
    )


def write_lock(cell: Cell, text: str) -> bool:
    """Write the lock; return True if it changed."""
    path = path_of(cell)
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    write(path, text)
    return True


def prune(keep: set[str]) -> list[str]:
    """Remove the locks of cells that are no longer planned; return their names."""
    gone = sorted(path.name for path in LOCKS.glob("*.txt") if path.name not in keep)
    for name in gone:
        (LOCKS / name).unlink()
    return gone


def _usable(package: Package, python: str) -> list[PackageWheel]:
    """Return the wheels that fit this interpreter on any platform."""
    mine = {tag_of(python), "py3", f"py{python.replace('.', '')}"}
    return [
        wheel
        for wheel in package.wheels or ()
        # Skip wheels for free-threaded interpreters, which have another ABI (cp313t).
        if any(
            (tag.interpreter in mine and not tag.abi.endswith("t")) or tag.abi == "abi3"
            for tag in parse_wheel_filename(wheel.filename)[3]
        )
    ]


def _is_linux(wheel: PackageWheel) -> bool:
    return any(re.fullmatch(r"any|manylinux.*x86_64", tag.platform) for tag in parse_wheel_filename(wheel.filename)[3])
