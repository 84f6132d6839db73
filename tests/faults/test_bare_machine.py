"""On a bare machine, the main job sets itself up, a report is made, and the printed asv command works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from jax_stack_compat.base.files import ROOT
from jax_stack_compat.stack import plan, uv_call
from tests.processes import clone, git, printed, python, without_pages


def test_the_main_job_sets_itself_up_in_a_fresh_clone(tmp_path: Path) -> None:
    """In a clone without an environment, nox runs until it has printed what the main job will download.

    CI starts the README's test command in a fresh clone, which is the main command with other sessions.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NOX_", "VIRTUAL_ENV", "SUITE_"))}
    checkout = clone(tmp_path / "clone", without_pages)
    ran = subprocess.run(
        [sys.executable, "-m", "nox", "-s", "compat", "--", "--plan"],
        cwd=checkout,
        env={**kept, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"\d+ environments to make: up to [\d,]+ MB to fetch", ran.stdout)


# Its arguments: the available packages, then the arguments of `python -m laboratory`.
ALONE = """
import importlib.abc, importlib.metadata, re, runpy, sys

there, ahead = set(), sys.argv.pop(1).split()
while ahead:
    name = re.sub(r"[-_.]+", "-", ahead.pop()).lower()
    if name not in there:
        there.add(name)
        try:
            required = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        ahead += [re.match(r"[\\w.-]+", each)[0] for each in required if "extra ==" not in each]
known = importlib.metadata.packages_distributions()
hidden = {
    module for module, of in known.items() if there.isdisjoint(re.sub(r"[-_.]+", "-", each).lower() for each in of)
}

class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
runpy.run_module("laboratory", run_name="__main__", alter_sys=True)
"""


def test_a_report_needs_what_the_head_lists(tmp_path: Path) -> None:
    """The packages in the head of the noxfile suffice to make a report and each kind of page."""
    words = ("report", plan.tagged("default")[0].id, "--issue", "same-seed-other-numbers", "--to", str(tmp_path / "to"))
    head = re.findall(r'^#   "([\w-]+)==', (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.M)
    ran = python("-c", ALONE, " ".join(head), *words, env={"SUITE_STATE": str(tmp_path / "state")})

    assert "has no" not in ran.stderr
    assert (tmp_path / "to" / "timings.html").exists(), ran.stderr


def test_the_command_that_is_printed_runs_on_releases(tmp_path: Path) -> None:
    """Without a file in the home folder or python3.12 on PATH, asv compares two releases; the tree is unchanged."""
    home = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "UV_CACHE_DIR": str(uv_call.STORE)}
    # pip prints characters that a C locale lacks, and compiles unused modules; virtualenv would fetch another pip.
    pip = {"PYTHONUTF8": "1", "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    pip["VIRTUALENV_NO_PERIODIC_UPDATE"] = "1"
    surroundings = {**home, **pip, "SUITE_STATE": str(tmp_path / "a state")}
    (tmp_path / "home").mkdir()
    before = git(ROOT, "status", "--porcelain")

    command = printed("-m", "laboratory", "line", env={**surroundings, "PATH": os.environ["PATH"]}).splitlines()[-1]
    # Few installed modules are imported. asv imports all benchmarks; these need only jax.
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
