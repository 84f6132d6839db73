"""Questions about paths that never raise: a folder without the right to enter it has nothing in it.

Those of pathlib raise there, before Python 3.14.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_there(path: Path) -> bool:
    """Return True if a path is seen to exist."""
    return os.path.exists(path)  # noqa: PTH110


def is_file(path: Path) -> bool:
    """Return True if a path is seen to be a regular file, or a link to one."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Return True if a path is seen to be a folder, or a link to one."""
    return os.path.isdir(path)  # noqa: PTH112


def is_link(path: Path) -> bool:
    """Return True if a path is seen to be a link."""
    return os.path.islink(path)  # noqa: PTH114
