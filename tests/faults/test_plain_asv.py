"""asv itself, on a machine where it was never run: what `python -m suite line` prints works as it is printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from suite.files import ROOT
from suite.stack import uv_call


def test_the_command_that_is_printed_runs_on_releases(tmp_path: Path) -> None:
    """In a home without a file of asv's, and with no python3.12 on PATH, asv compares two releases; the tree stays.

    The longest of these tests: asv makes an environment and installs two releases into it, in half a minute of work.
    """
    home = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "UV_CACHE_DIR": str(uv_call.STORE)}
    # pip prints what a C locale cannot.
    surroundings = {**os.environ, **home, "SUITE_STATE": str(tmp_path / "a state"), "PYTHONUTF8": "1"}
    (tmp_path / "home").mkdir()
    before = _status()

    said = subprocess.run(
        [sys.executable, "-m", "suite", "line"],
        cwd=ROOT,
        env={**surroundings, "PATH": os.environ["PATH"]},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    command = said.splitlines()[-1]
    # Of what is installed few modules are imported, and to compile all of them takes the longest.
    (conf,) = (tmp_path / "a state" / "timings" / "conf").glob("plain.json")
    conf.write_text(conf.read_text(encoding="utf-8").replace(" --compile-bytecode", ""), encoding="utf-8")
    ran = subprocess.run(
        ["sh", "-c", f"{command} --bench basics.Scan.time_trace --quick"],
        cwd=tmp_path,
        env=surroundings,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    table = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    assert "[100.00%] ··· basics.Scan.time_trace" in ran.stdout, ran.stdout + ran.stderr
    assert "failed" not in ran.stdout, ran.stdout
    assert not table or "basics.Scan.time_trace" in table[-1]
    assert before == _status()


def _status() -> str:
    """What of the tree is not as it was committed."""
    return subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
