"""The driver's own pins: constraints.txt from pyproject.toml, and the noxfile's script header from both."""

from __future__ import annotations

import re
import subprocess
import tomllib

import uv
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jax_stack_compat.base.files import ROOT
from jax_stack_compat.cell.atomic import write

CONSTRAINTS = ROOT / "constraints.txt"
NOXFILE = ROOT / "noxfile.py"
_HEADER = re.compile(r"\A# /// script\n.*?^# ///\n", re.DOTALL | re.MULTILINE)


def renew() -> None:
    """Resolve pyproject.toml into constraints.txt, and write the noxfile's header."""
    command = [
        *(uv.find_uv_bin(), "pip", "compile", "--quiet", "--universal", "--upgrade", "--group=tests", "--group=lint"),
        *("--extra=laboratory", "--extra=cluster", "--no-header", "--no-annotate", "--no-emit-index-url"),
        *("--output-file", str(CONSTRAINTS)),
        # A release of the last week may be missing from mirrors, or may be yanked.
        *("--exclude-newer", "1 week", str(ROOT / "pyproject.toml")),
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    write(NOXFILE, with_header(NOXFILE.read_text(encoding="utf-8")))


def with_header(noxfile: str) -> str:
    """Return `noxfile` with the script header for pyproject.toml and constraints.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["laboratory"]]
    constraints = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pins = [line for line in constraints if line and not line.startswith("#")]
    pinned = {canonicalize_name(Requirement(line).name): line for line in pins}
    lines = [
        "# /// script",
        f'# requires-python = "{project["requires-python"]}"',
        "# dependencies = [",
        *(f'#   "{pinned[canonicalize_name(name)]}",' for name in sorted(needed)),
        "# ]",
        "# ///",
    ]
    return _HEADER.sub("\n".join(lines) + "\n", noxfile)
