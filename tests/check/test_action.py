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
# Modules that an interpreter, venv, pip or the check import.
HOSTILE = ("signal", "logging", "socket", "types", "json", "tempfile")


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
    # The real venv would install pip; the tool is a script that starts this interpreter with the flag that it is given.
    made = f'"{sys.executable}" "$1" -m venv --without-pip "$4"'
    put = f'cp "{temporary}/tool" "$4/bin/tool" && mv "$4/bin/tool" "$4/bin/python"'
    python = program(temporary / "bin" / "python3", f"{made} && {put}")
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv.pop(1) == 'pip' and sys.exit()"
    code += "; from jax_stack_compat.command_line import main; main()"
    start = f'flag="$1"; shift 2; exec "{sys.executable}" "$flag" -c "{code}" "{PACKAGES}" "$@"'
    # A module that pip imports must not come from the workspace, either.
    program(temporary / "tool", start.replace(code, f"import {', '.join(HOSTILE)}; {code}"))
    given = {name.replace("-", "_").upper(): each["default"] for name, each in ACTION["inputs"].items()}
    env = {**os.environ, **given, "BASE": "main", "LOCK": "locks/all.txt", "OUTPUT": "out.txt", **inputs}
    env |= {"PATH": f"{python.parent}:{env['PATH']}", "RUNNER_TEMP": str(temporary), "PYTHONPATH": str(repository)}
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


@pytest.mark.parametrize("base", ["", "main"])
def test_no_code_of_the_workspace_runs(base: str, repository: Path) -> None:
    """Modules, start-up files, hooks and tools in the workspace do not run, also if it is on PYTHONPATH."""
    (repository / "common.txt").write_text("jax==0.4.35\njaxlib==0.4.35\n")
    ran_here = repository.parent / "PWNED"
    modules = (*HOSTILE, "venv", "ensurepip", "sitecustomize", "usercustomize", "pip", "jax_stack_compat", "encodings")
    for name in modules:
        (repository / f"{name}.py").write_text(f"open({str(ran_here)!r}, 'a').write({name!r})\n")
    for name in ("python", "python3", "pip", "git", "uv", "jax-stack-compat"):
        program(repository / name, f'echo {name} >> "{ran_here}"')
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        program(repository / ".git" / "hooks" / name, f'echo {name} >> "{ran_here}"')
    (repository / "uv.toml").write_text("index-url = 'http://127.0.0.1:9'\n")
    code, told = ran(repository, BASE=base)

    assert Exit.AS_EXPECTED == code, told
    assert AFFECTED.search(told)
    assert not ran_here.exists(), ran_here.read_text()


def test_the_clone_stays_as_it_is(repository: Path) -> None:
    """The base is fetched into a repository of its own, with the clone's access: no file of the clone changes."""
    git(repository, "config", "url.file:///.insteadOf", "forge:/")
    git(repository, "remote", "set-url", "origin", f"forge:/{(repository.parent / 'origin').relative_to('/')}")
    (repository / "common.txt").write_text("jax==0.4.35\n")
    before = {path: path.read_bytes() for path in (repository / ".git").rglob("*") if path.is_file()}
    code, told = ran(repository)

    assert Exit.AS_EXPECTED == code, told
    assert AFFECTED.search(told)
    assert before == {path: path.read_bytes() for path in (repository / ".git").rglob("*") if path.is_file()}


@pytest.mark.parametrize("output", ["link.txt", "{}/link.txt", "out/x.txt", ".git/x.txt", "../x.txt"])
def test_an_answer_does_not_leave_the_workspace(output: str, repository: Path) -> None:
    """A link of the pull request does not lead the answer to another file."""
    precious = repository / ".git" / "config"
    (repository / "link.txt").symlink_to(precious)
    (repository / "out").symlink_to(repository.parent)
    before = precious.read_bytes()
    code, told = ran(repository, BASE="", OUTPUT=output.format(repository))

    assert Exit.MISUSED == code
    assert "::error title=output::" in told
    assert before == precious.read_bytes()
    assert not [*repository.parent.glob("x.txt"), *(repository / ".git").glob("x.txt")]
