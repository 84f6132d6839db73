"""Another release's packages, which came with the orders in parts: joined and unpacked beside them."""

from __future__ import annotations

import lzma
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path


def unpacked(folder: Path, release: str) -> Path:
    """Return the folder of a release's packages, which is made from its parts. Raises OSError."""
    made = folder / "releases" / release
    if made.is_dir():
        return made
    parts = sorted((folder / "releases").glob(f"{release}.tar.xz.*"))
    if not parts:
        raise OSError(f"it has no part of jax {release}: write orders with --with-wheels {release}")
    new = made.with_name(f".{release}.new")
    shutil.rmtree(new, ignore_errors=True)
    joined = made.with_name(f".{release}.tar.xz")
    _join(parts, joined)
    try:
        with lzma.open(joined) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            _extract(archive, new)
    except (EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise OSError(f"jax {release} cannot be unpacked, so a part may be missing: {error}") from error
    finally:
        joined.unlink()
    new.replace(made)
    return made


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    # Early patch releases of Python 3.10 and 3.11 lack the filter.
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
    else:
        archive.extractall(folder)


def _join(parts: Sequence[Path], path: Path) -> None:
    with path.open("wb") as whole:
        for part in parts:
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole)
