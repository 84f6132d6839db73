"""Calls of uv with our options; of the user's settings, only those for access to packages count.

A resolution mode, a link mode or a constraint of the user's would silently change the pins or the installation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from signal import Signals

from jax_stack_compat.base import guardian
from jax_stack_compat.base.errors import BadFile, Failed, Fault
from jax_stack_compat.base.files import HOME, STATE
from jax_stack_compat.cell.atomic import write

# All environments link to files in this store. The user's own cache stays untouched.
STORE = STATE / "store"
# The exit status of a guardian whose command was ended by a signal is larger, as in a shell.
_SIGNALLED = 128
# Access to packages: the index, the proxy and the certificates.
_VARIABLES = frozenset({
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_STRATEGY"),
    *("UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_KEYRING_PROVIDER", "UV_OFFLINE", "UV_HTTP_TIMEOUT"),
    *("UV_HTTP_RETRIES", "UV_CONCURRENT_DOWNLOADS", "UV_CREDENTIALS_DIR", "UV_HTTP_PROXY"),
    *("UV_HTTPS_PROXY", "UV_NO_PROXY", "UV_PYTHON_DOWNLOADS", "UV_PYTHON_DOWNLOADS_JSON_URL"),
    *("UV_PYTHON_INSTALL_MIRROR", "UV_PYTHON_INSTALL_DIR", "UV_PYTHON_INSTALL_BIN"),
})  # fmt: skip
_SETTINGS = (
    *("index", "index-url", "extra-index-url", "find-links", "index-strategy", "native-tls", "system-certs"),
    *("allow-insecure-host", "keyring-provider", "offline", "http-proxy", "https-proxy", "no-proxy"),
    "python-install-mirror",
)


def run(
    *words: str, asked: str = "", within: float | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run uv with these arguments and `asked` on its standard input; kill it after `within` seconds.

    The exit status does not say why uv failed; the last line on standard error does, also if uv was killed. Raises
    BadFile for a broken uv.toml.
    """
    command = [found(), *words, *configured()]
    # With us, uv ends with all that it has started: git, and the builds of packages.
    with subprocess.Popen(
        guardian.command(Path(sys.executable), command, namespaces=False),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", env={**surroundings(), **variables}, start_new_session=True,
    ) as uv:  # fmt: skip
        late = ""
        try:
            said, complaint = uv.communicate(asked, within)
        except subprocess.TimeoutExpired:
            guardian.terminate(uv)
            said, complaint = uv.communicate()
            late = f"\nerror: it was not done in {within:g} s, and was ended"
        except BaseException:
            guardian.terminate(uv)
            raise
    ended_by = {_SIGNALLED + number: number.name for number in Signals}
    if uv.returncode in ended_by and not late:
        # A killed uv prints no reason.
        late = f"\nerror: it was ended by {ended_by[uv.returncode]}, by somebody or for lack of memory"
    return subprocess.CompletedProcess(command, uv.returncode, said, complaint + late)


def found() -> str:
    """Return the path of this Python's uv, or else of the one on PATH. Raises Failed if there is no uv."""
    try:
        import uv  # an installation that only looks up stacks has no uv

        return str(uv.find_uv_bin())
    except (ModuleNotFoundError, FileNotFoundError):
        if (path := shutil.which("uv")) is None:
            raise Failed("uv is missing: `python -m pip install uv` installs it") from None
        return path


def surroundings() -> dict[str, str]:
    """Return the environment variables for uv."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _VARIABLES or name.startswith("UV_INDEX_") or not name.startswith(("UV_", "PYTHON", "VIRTUAL_ENV"))
    }
    return {**kept, "UV_CACHE_DIR": str(STORE)}


@cache
def configured() -> tuple[str, ...]:
    """Return uv's option for a configuration file: the user's uv.toml reduced to access to packages, or none."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or HOME / ".config")
    path = Path(os.environ.get("UV_CONFIG_FILE") or home / "uv" / "uv.toml")
    if not path.is_file():
        return ("--no-config",)
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadFile([Fault(path, "file", str(error))]) from error
    kept = {**settings.get("pip", {}), **settings}
    ours = STATE / "uv.toml"
    write(ours, "".join(f"{name} = {_toml(kept[name])}\n" for name in _SETTINGS if name in kept))
    return ("--config-file", str(ours))


def _toml(value: object) -> str:
    """Return a value of a uv.toml as TOML: texts, numbers and truth values are written as in JSON."""
    match value:
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case Mapping():
            return "{" + ", ".join(f"{name} = {_toml(item)}" for name, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)
