"""The stack and the device of an interpreter, as it tells them itself."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jax_stack_compat.environments import probe_call

SECONDS = 300
# Of the installed packages, the archive names those that can change a result.
_ABOUT = re.compile(r"jax|nvidia-|libtpu|rocm|ml[-_]dtypes|opt[-_]einsum|numpy$|scipy$")
# A kind of device ends with its memory and socket, which are not part of a cell's name.
_VARIANT = re.compile(r"-(\d+gb|hbm\d\w*|sxm\d*|pcie|nvl)\b")
_ASK = """
import importlib.metadata, json, platform, sys
import jax
device = jax.devices()[0]
versions = {}
for each in importlib.metadata.distributions():
    # The first on the path counts.
    versions.setdefault(each.metadata["Name"] or "", each.version)
print(json.dumps({
    "python": platform.python_version(), "versions": versions,
    "platform": jax.default_backend(), "kind": device.device_kind, "count": jax.local_device_count(),
    "runtime": str(getattr(device.client, "platform_version", "")),
}))
"""


class NoStack(Exception):
    """The interpreter cannot run the orders; the message names it and the reason."""


@dataclass(frozen=True)
class DeviceStack:
    """An interpreter's stack and device. `driver` and `runtime` are versions as the device's own tools tell them."""

    python: str
    packages: Mapping[str, str]
    platform: str
    kind: str
    count: int
    runtime: str = ""
    driver: str = ""
    flags: Mapping[str, str] = field(default_factory=dict)

    @property
    def cell(self) -> str:
        """The id of the stack's cell: `jax-0.11.2+nvidia-h100`."""
        return f"jax-{self.packages['jax']}+{slug(self.kind)}"

    @property
    def digest(self) -> str:
        """A hash of all that a result depends on besides its own code."""
        own = {**asdict(self), "flags": None}
        return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()


def slug(kind: str) -> str:
    """Return a kind of device as a part of a cell's id."""
    words = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")
    return _VARIANT.sub("", words)


def ask(python: Path, folder: Path, packages: Sequence[str], others: Path | None = None) -> DeviceStack:
    """Return the stack of an interpreter, which is asked in `folder`; `others` come before its own packages.

    Raises NoStack.
    """
    command = [str(python), "-s", "-c", _ASK]
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env={**probe_call.surroundings(), **({"PYTHONPATH": str(others)} if others else {})},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1]) if ran.returncode == 0 else {}
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoStack(f"{python} does not run: {error}") from error
    except (ValueError, IndexError) as error:
        raise NoStack(f"{python} printed no answer: {ran.stdout[-200:]!r}") from error
    if not told:
        said = (ran.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise NoStack(f"{python} has no working jax: {said}")
    wanted = {name.lower() for name in packages}
    versions = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in told.pop("versions").items()}
    kept = {name: versions[name] for name in sorted(versions) if name in wanted or _ABOUT.match(name)}
    return DeviceStack(packages=kept, driver=_driver(), **told)


def _driver() -> str:
    """Return the version of NVIDIA's driver, or an empty text."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    query = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        ran = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = ran.stdout.strip().splitlines()
    return lines[0].strip() if ran.returncode == 0 and lines else ""
