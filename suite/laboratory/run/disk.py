"""The disk space that environments take, and the command that frees it.

uv unpacks a wheel once, into the store, and links its files into each environment: as clones if the file system has
clones, else as hard links. So a wheel takes space once, however many environments contain it, and environments work
without the store. If the file system has neither kind of link, uv copies files.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import Timeout
from rich.console import Console

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import STATE
from jax_stack_compat.stack import uv_call
from laboratory.run import environment

# Bytes on disk for each byte to fetch. Measured on ext4 with uv 0.13.8: the 87 wheels of eight cells, from jax 0.4.18
# to 0.12.0.1 on CPython 3.12 and 3.13, are 1019 MB and unpack to 3753 MB, 3.7 times as much. Each of 14 environments
# had 13 to 26 MB of its own, mostly __pycache__. Together 3.8 for the default cells, 4.0 for the line, 4.7 for all.
TAKEN = 4.0


def clean(console: Console) -> None:
    """Remove the environments and the store of packages, and print the freed disk space. Raises Failed, OSError.

    An environment stays while another run has its cell reserved. The environment works without the store, since its
    files are links or copies. uv waits for a running installation.
    """
    folders = list(_environments())
    # uv marks its caches with this file.
    has_store = (uv_call.STORE / "CACHEDIR.TAG").exists()
    if not (folders or has_store):
        console.print(f"nothing to free in {STATE}: no environments", soft_wrap=True)
        return
    state = uv_call.STORE.parent
    before, removed = shutil.disk_usage(state).free, 0
    for folder in folders:
        try:
            with environment.reserve(folder.name).acquire(timeout=0):
                # Without its marker, a half-removed environment is made again.
                (folder / environment.MARKER).unlink(missing_ok=True)
                _remove(folder)
        except Timeout:
            console.print(f"kept the environment of {folder.name}: another run is using it", soft_wrap=True)
        else:
            removed += 1
    if has_store and (run := uv_call.run("cache", "clean")).returncode:
        raise Failed(f"cannot clear {uv_call.STORE}: {run.stderr.strip()}")
    freed = max(shutil.disk_usage(state).free - before, 0)
    if not (freed or removed):
        console.print(f"nothing to free in {STATE}: no other environments", soft_wrap=True)
        return
    told = f"{removed} environment{'s' * (removed != 1)} and the store of packages"
    console.print(f"freed about {shown(freed)}: {told}. Records and reports are kept.", soft_wrap=True)


def _environments() -> Iterator[Path]:
    """Yield the folders of environments, finished or not. SUITE_STATE may contain other folders of the user."""
    names = {path.parent.name for path in environment.ENVIRONMENTS.glob(f"*/{environment.MARKER}")}
    names |= {path.stem for path in environment.ENVIRONMENTS.glob("*.reserved")}
    for folder in (environment.ENVIRONMENTS / name for name in sorted(names)):
        if folder.is_dir() and not folder.is_symlink():
            yield folder


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        # Before Python 3.13 the error names a file without its folder.
        raise OSError(error.errno, error.strerror, str(folder)) from error


def shown(size: float) -> str:
    """Return a number of bytes for people: `19.1 GB`, `496 MB`."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
