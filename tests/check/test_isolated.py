"""Code that is only read never runs: not the modules beside it either, whatever the folder is called from."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jax_stack_compat.base.files import PACKAGES, ROOT
from jax_stack_compat.environments import interpreter

# What Python, or a script's own first line, imports before any module of ours begins: with PYTHONPATH=. these cannot
# be kept out, nor can a package of our own name.
BEFORE = ("encodings", "enum", "functools", "re", "sitecustomize", "types", "usercustomize", "jax_stack_compat")
MODULES = (
    *("argparse", "inspect", "json", "logging", "multiprocessing", "packaging", "pathlib", "pickle", "platform"),
    *("pydantic", "rich", "signal", "socket", "subprocess", "suite", "threading", "tomllib", "uv", "venv", "yaml"),
)
COMMANDS = {
    "check": ("check", "--from", "jax==0.10.2", "--source", "."),
    "check-lock": ("check", "--lock", "requirements.txt"),
    "needs": ("needs", "--source", "."),
    "explain": ("explain", "traceback.txt"),
    "find": ("find", "jnp.median"),
    "try": ("try", "equinox=nowhere"),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with a module for each name, which leaves a mark when it runs."""
    folder = tmp_path / "project"
    for name in (*MODULES, *BEFORE):
        package = folder / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__)\n", encoding="utf-8"
        )
    (folder / "main.py").write_text("import jax\njax.numpy.pad(1, 1)\n", encoding="utf-8")
    (folder / "requirements.txt").write_text("jax==0.10.2\n", encoding="utf-8")
    (folder / "traceback.txt").write_text("TypeError: x\n", encoding="utf-8")
    return folder


def called(tree: Path, *words: str, first: str = "") -> str:
    """Run the installed command in a folder, as its script does; return what it printed."""
    target = re.search(r'^jax-stack-compat = "(.*):(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert target is not None
    script = tree.parent / "bin" / "jax-stack-compat"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"import re\nimport sys\nfrom {target[1]} import {target[2]}\nsys.exit({target[2]}())\n", "utf-8")
    variables = {**os.environ, "PYTHONPATH": f"{first}{PACKAGES}", "SUITE_STATE": str(tree.parent / "state")}
    command = [sys.executable, str(script), *words]
    run = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True, timeout=300, check=False)
    return run.stdout + run.stderr


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_module_of_the_project_runs(words: tuple[str, ...], tree: Path) -> None:
    """No command runs a module of the folder that it is called in."""
    assert "Traceback" not in called(tree, *words)
    assert not (tree.parent / "ran").exists()


@pytest.mark.parametrize("command", ["check", "needs"])
def test_no_reader_runs_a_module_of_the_project(command: str, tree: Path) -> None:
    """The processes that read a hundred files run none of them, and import nothing beside them."""
    for number in range(100):
        (tree / f"more{number}.py").write_text("import jax\n", encoding="utf-8")

    assert "Traceback" not in called(tree, *COMMANDS[command])
    assert not (tree.parent / "ran").exists()


@pytest.mark.parametrize("first", [".:", "{tree}:", "sub:"])
def test_no_module_on_pythonpath_in_the_project_runs(first: str, tree: Path) -> None:
    """With the project or its folder on PYTHONPATH, only what Python imports before our first module runs."""
    for name in BEFORE:
        (tree / name / "__init__.py").unlink()
        (tree / name).rmdir()
    if first == "sub:":
        (tree / "main.py").replace(tree.parent / "main.py")
        tree.rename(tree.parent / "sub")
        tree.mkdir()
        (tree.parent / "sub").rename(tree / "sub")
        (tree.parent / "main.py").replace(tree / "main.py")
    for number in range(100):
        (tree / f"more{number}.py").write_text("import jax\n", encoding="utf-8")

    assert "Traceback" not in called(tree, *COMMANDS["check"], first=first.format(tree=tree))
    assert not (tree.parent / "ran").exists()


def test_an_interpreter_that_is_looked_for_runs_nothing_here(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate interpreter is asked for its version in an empty folder, isolated."""
    monkeypatch.chdir(tree)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    minor = f"3.{sys.version_info.minor}"

    assert interpreter.looked_for(minor, (str(tree),))[1].startswith(minor)
    assert not (tree.parent / "ran").exists()


def test_a_user_without_a_home_gets_an_answer(tree: Path) -> None:
    """Without HOME and an entry in passwd, as for any number as a container's user, commands work."""
    code = "import os, pwd; pwd.getpwuid = lambda _: {}[0]; os.environ.pop('HOME', None); import runpy, sys"
    code += "; sys.argv[1:] = ['find', 'jnp.median']; runpy.run_module('jax_stack_compat', run_name='__main__')"
    variables = {"PYTHONPATH": str(PACKAGES), "PATH": os.environ["PATH"]}
    run = subprocess.run([sys.executable, "-P", "-c", code], env=variables, cwd=tree, capture_output=True, check=False)

    assert (0, b"") == (run.returncode, run.stderr)
