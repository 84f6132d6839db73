"""asv itself, on a machine where it was never run: what `python -m suite line` prints works as it is printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from suite.files import ROOT
from suite.stack import uv_call
from tests.processes import git, printed


def test_the_command_that_is_printed_runs_on_releases(tmp_path: Path) -> None:
    """In a home without a file of asv's, and with no python3.12 on PATH, asv compares two releases; the tree stays."""
    home = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "UV_CACHE_DIR": str(uv_call.STORE)}
    # pip prints what a C locale cannot, and compiles what nobody imports; virtualenv fetches another pip meanwhile.
    pip = {"PYTHONUTF8": "1", "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    pip["VIRTUALENV_NO_PERIODIC_UPDATE"] = "1"
    surroundings = {**home, **pip, "SUITE_STATE": str(tmp_path / "a state")}
    (tmp_path / "home").mkdir()
    before = git(ROOT, "status", "--porcelain")

    command = printed("-m", "suite", "line", env={**surroundings, "PATH": os.environ["PATH"]}).splitlines()[-1]
    # Few of the installed modules are imported, and asv imports all benchmarks: these need jax alone.
    (conf,) = (tmp_path / "a state" / "timings" / "conf").glob("plain.json")
    told = conf.read_text(encoding="utf-8").replace(" --compile-bytecode", "")
    given = Path(json.loads(told)["benchmark_dir"])
    conf.write_text(told.replace(str(given), str(tmp_path / given.name)), encoding="utf-8")
    (tmp_path / given.name).mkdir()
    for path in (*given.glob("_*.py"), given / "basics.py"):
        shutil.copy(path, tmp_path / given.name)
    ran = subprocess.run(
        ["sh", "-c", f"{command} --bench basics.Scan.time_trace --quick"],
        cwd=tmp_path,
        env={**os.environ, **surroundings},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    table = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    assert "[100.00%] ··· basics.Scan.time_trace" in ran.stdout, ran.stdout + ran.stderr
    assert "failed" not in ran.stdout, ran.stdout
    assert not table or "basics.Scan.time_trace" in table[-1]
    assert before == git(ROOT, "status", "--porcelain")
