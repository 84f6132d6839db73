"""The action's shell, run on a pull request of a scratch repository; only the package that it installs is this tree."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import PACKAGES, ROOT
from tests.processes import git, program

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
# The notice about a stack.
AFFECTED = re.compile(r"\d+ known issues")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone of a repository whose branch `main` has no jax, and whose lock includes another file."""
    made = tmp_path / "origin"
    (made / "locks").mkdir(parents=True)
    (made / "locks" / "all.txt").write_text("-r ../common.txt\n")
    (made / "common.txt").write_text("numpy==2.0.0\n")
    git(made, "init", "--quiet", "--initial-branch=main")
    git(made, "add", ".")
    git(made, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=first")
    git(tmp_path, "clone", "--quiet", str(made), "clone")
    return tmp_path / "clone"


def ran(repository: Path, **inputs: str) -> tuple[int, str]:
    """Return the exit code and the output of the action's step."""
    temporary = repository.parent / "runner"
    temporary.mkdir(exist_ok=True)
    python = program(temporary / "bin" / "python3", f'[ "$1" = -I ] && cp -r "{temporary}/tool" "$4"')
    program(temporary / "tool" / "bin" / "pip", "exit 0")
    code = "from jax_stack_compat.command_line import main; main()"
    program(temporary / "tool" / "bin" / "jax-stack-compat", f"exec '{sys.executable}' -P -c '{code}' \"$@\"")
    given = {name.replace("-", "_").upper(): each["default"] for name, each in ACTION["inputs"].items()}
    env = {**os.environ, **given, "BASE": "main", "LOCK": "locks/all.txt", "OUTPUT": "out.txt", **inputs}
    env |= {"PATH": f"{python.parent}:{env['PATH']}", "RUNNER_TEMP": str(temporary), "PYTHONPATH": str(PACKAGES)}
    (step,) = ACTION["runs"]["steps"]
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(words, cwd=repository, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = repository / "out.txt"
    return done.returncode, done.stdout + (out.read_text(encoding="utf-8") if out.exists() else "")


def test_what_a_branch_adds_is_told(repository: Path) -> None:
    """If the base's lock has no jax, also in included files, all issues of the branch count as added."""
    (repository / "common.txt").write_text("jax==0.4.35\njaxlib==0.4.35\n")
    code, told = ran(repository)
    again, only = ran(repository, BASE="")

    assert (Exit.AS_EXPECTED, Exit.AS_EXPECTED) == (code, again), told
    assert AFFECTED.findall(told) == AFFECTED.findall(only) != []


def test_what_a_branch_keeps_is_not_told(repository: Path) -> None:
    """Issues of the base do not count for the pull request."""
    (repository / "common.txt").write_text("jax==0.4.35\njaxlib==0.4.35\n")
    git(repository, "add", ".")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=jax")
    git(repository, "push", "--quiet", "origin", "HEAD:newer")
    code, told = ran(repository, BASE="newer")

    assert (Exit.AS_EXPECTED, []) == (code, AFFECTED.findall(told))


def test_a_lock_of_the_branch_alone_is_told(repository: Path) -> None:
    """A base without that lock cannot be compared."""
    (repository / "new.txt").write_text("jax==0.4.35\n")
    code, told = ran(repository, LOCK="./new.txt")

    assert Exit.AS_EXPECTED == code
    assert AFFECTED.search(told)


@pytest.mark.parametrize("base", ["--upload-pack=touch x", "-x", "a b", "main\n::warning::x", "main:main"])
def test_what_is_no_branch_is_refused(repository: Path, base: str) -> None:
    """A base that git would read as an option, or as more than a branch, is refused."""
    code, told = ran(repository, BASE=base)

    assert Exit.MISUSED == code
    assert told.startswith("::error title=base::this input is not the name of a branch")
    assert 1 == len(told.splitlines())
    assert not (repository / "x").exists()
