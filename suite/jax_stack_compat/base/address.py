"""Web addresses: of this project, from `[project.urls]` in pyproject.toml, and of upstream threads."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

_TREE = Path(__file__).resolve().parents[3]
DISTRIBUTION = "jax-stack-compat"
_REFERENCE = re.compile(r"([\w.-]+/[\w.-]+)(?:#([1-9]\d*)|@([0-9a-f]+))", re.ASCII)


def address(label: Literal["Repository", "Homepage", "Package"]) -> str | None:
    """Return the address of the repository, homepage or package; None if pyproject.toml has no such address."""
    return _known().get(label)


def link(ref: str) -> str:
    """Return the address of a thread (`jax-ml/jax#27829`), a commit (`jax-ml/jax@aa2f995b1d`) or a page; else ""."""
    if found := _REFERENCE.fullmatch(ref):
        return f"https://github.com/{found[1]}/{f'issues/{found[2]}' if found[2] else f'commit/{found[3]}'}"
    return ref if ref.startswith("https://") else ""


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
