"""Where this project is on the web: pyproject.toml's `[project.urls]` says it, and nothing else does."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

_TREE = Path(__file__).resolve().parent.parent
DISTRIBUTION = "jax-stack-compat"


def address(label: Literal["Repository", "Homepage", "Package"]) -> str | None:
    """Return where the code, the published pages or the released package are, if pyproject.toml says so."""
    return _known().get(label)


@cache
def _known() -> dict[str, str]:
    path = _TREE / "pyproject.toml"
    if path.exists():
        found: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))["project"].get("urls", {})
        return found
    try:
        lines = metadata.metadata(DISTRIBUTION).get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return {}
    return dict(line.split(", ", 1) for line in lines)
