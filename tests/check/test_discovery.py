"""Discovery of the stack that a project uses."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from jax_stack_compat.base.errors import BadFile
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.check.inputs import discovery, interpreters, locks
from jax_stack_compat.check.inputs.stack import Stack

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments answer from a file of theirs; asking interpreters is tested elsewhere."""

    def ask(place: Path) -> Stack:
        said = place / "installed"
        versions = dict(line.split("==") for line in said.read_text().split()) if said.is_file() else {}
        return Stack(versions, str(place), "3.12.4")

    monkeypatch.setattr(interpreters, "ask", ask)
    monkeypatch.setattr(interpreters, "listed", ask)


def environment(folder: Path, *installed: str) -> Path:
    """Create an environment with these versions."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    (folder / "installed").write_text("\n".join(installed))
    return folder


def looked_up(folder: Path, environ: Mapping[str, str]) -> Stack:
    """Return the stack of a project that pins versions."""
    stack = discovery.find(folder, environ)
    assert isinstance(stack, Stack)
    return stack


def found(folder: Path, environ: Mapping[str, str] | None = None) -> tuple[str | None, str]:
    """Return a project's version of jax, and where it was found."""
    stack = looked_up(folder, environ or {})
    return stack.versions.get("jax"), stack.where


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A project with all kinds of files and environments."""
    shutil.copytree(SAMPLES / "project", tmp_path / "project")
    for name in ("pylock.toml", "requirements.txt"):
        shutil.copy(SAMPLES / name, tmp_path / "project")
    (tmp_path / "project" / "pylock.gpu.toml").write_bytes((SAMPLES / "pylock.toml").read_bytes())
    (tmp_path / "project" / "requirements-gpu.txt").write_text("jax==0.4.33")
    environment(tmp_path / "project" / ".venv", "jax==0.4.32")
    return tmp_path / "project"


def test_order_of_what_is_taken(full: Path, tmp_path: Path) -> None:
    """Locks come before requirements, environments and bounds; the answer names the rest."""
    virtual, conda = environment(tmp_path / "v", "jax==0.4.31"), environment(tmp_path / "c", "jax==0.4.30")
    environ = {"VIRTUAL_ENV": str(virtual), "CONDA_PREFIX": str(conda)}
    order = [
        *("uv.lock", "pylock.toml", "pylock.gpu.toml", "requirements.txt", "requirements-gpu.txt", ".venv"),
        *(f"VIRTUAL_ENV ({virtual})", f"CONDA_PREFIX ({conda})"),
    ]
    taken = []
    for number, told in enumerate(order):
        version, where = found(full, environ)
        taken.append((version, where))
        rest = order[number + 1 :]
        assert (f"{told} (not read: {', '.join(rest)})" if rest else told) == where
        gone = {".venv": full / ".venv", order[6]: virtual, order[7]: conda}.get(told, full / told)
        if gone.is_dir():
            shutil.rmtree(gone)
        else:
            gone.unlink(missing_ok=True)
    versions = ["0.4.35"] * 4 + ["0.4.33", "0.4.32", "0.4.31", "0.4.30"]
    assert versions == [version for version, _ in taken]
    assert full / "pyproject.toml" == discovery.find(full, environ)


@pytest.mark.parametrize(
    ("files", "jax", "where"),
    [
        ({"requirements;rm -r ..txt": "jax==0.4.35"}, "0.4.35", "requirements;rm -r ..txt"),
        # Requirements without exact versions, or without the stack, are named, and the environment is asked.
        (
            {"requirements.txt": "jax>=0.4", "requirements-docs.txt": "mkdocs==1.6", ".venv": "jax==0.4.32"},
            *("0.4.32", ".venv (no version of the stack in: requirements.txt, requirements-docs.txt)"),
        ),
        # If no environment has the stack either, the ranges are told.
        (
            {"requirements.txt": "mkdocs==1.6", "requirements-gpu.txt": "jax[cuda12]>=0.4"},
            *("jax[cuda12]>=0.4", "requirements-gpu.txt (no version of the stack in: requirements.txt)"),
        ),
        # The environment of a lock, and what only its constraints name, are told.
        ({"pixi.lock": (SAMPLES / "pixi.lock").read_text()}, "0.4.34", "pixi.lock, environment gpu"),
        (
            {"requirements.txt": "jax==0.4.35\n-c c.txt", "c.txt": "diffrax==0.6.0"},
            *("0.4.35", "requirements.txt, without packages that only constraints name: diffrax"),
        ),
        # Without a stack, the answer names what was read and looked for.
        ({"requirements.txt": "mkdocs==1.6"}, None, ". (no version of the stack in requirements.txt; looked for uv"),
    ],
)
def test_what_is_taken_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], jax: str | None, where: str
) -> None:
    """Files of any name are read, but only within the project, and the answer says which; no interpreter is asked."""
    (tmp_path / "requirements.txt").write_text("jax==0.4.1")
    (project := tmp_path / "*[a] $(b)").mkdir()
    monkeypatch.chdir(project)
    for name, written in files.items():
        if name == ".venv":
            environment(project / name, written)
        else:
            (project / name).write_text(written)
    stack = looked_up(project, {})
    assert jax == {**stack.unsaid, **stack.versions}.get("jax")
    assert stack.where.startswith(where)
    assert stack.where.endswith('name the versions: check --from "jax==0.10.2")') == (jax is None)


def test_subfolder_is_its_project(full: Path) -> None:
    """In a subfolder, the nearest folder above with a pyproject.toml counts."""
    (full / "src" / "deep").mkdir(parents=True)
    (full / "src" / "requirements.txt").write_text("jax==0.4.1")
    assert found(full / "src" / "deep") == found(full)


def test_member_of_a_workspace_has_its_lock(full: Path) -> None:
    """A member of a uv workspace uses the workspace's lock; a project merely below another does not."""
    member = full / "packages" / "member"
    member.mkdir(parents=True)
    (member / "pyproject.toml").write_text('[project]\nname = "member"\nversion = "1"\n')
    assert found(member)[0] is None
    with (full / "pyproject.toml").open("a") as project:
        project.write('\n[tool.uv.workspace]\nmembers = ["packages/*"]\n')
    assert ("0.4.35", "../../uv.lock") == found(member)


def test_lock_without_the_stack_is_the_answer(full: Path) -> None:
    """A lock is complete: if it has no jax, no environment is asked."""
    (full / "uv.lock").unlink()
    (full / "pylock.toml").write_text('lock-version = "1.0"\ncreated-by = "x"\npackages = []\n')
    version, where = found(full)
    assert (None, True) == (version, where.startswith("pylock.toml (not read: "))


def test_lock_that_cannot_be_read_is_not_passed(full: Path) -> None:
    """A broken lock is an error, and is not replaced by another file."""
    (full / "pylock.toml").write_text("[")
    (full / "uv.lock").unlink()
    with pytest.raises(BadFile, match=r"pylock\.toml: syntax"):
        found(full)


def test_environment_that_is_gone_or_named_twice(tmp_path: Path) -> None:
    """A variable that names the project's own or a removed environment is ignored."""
    folder = environment(tmp_path / ".venv", "equinox==0.11.8")
    environ = {"VIRTUAL_ENV": str(folder), "CONDA_PREFIX": str(tmp_path / "gone")}
    stack = looked_up(tmp_path, environ)
    assert ({"equinox": "0.11.8"}, "3.12.4", ".venv") == (stack.versions, stack.python, stack.where)


def test_the_hook_fires_for_every_file_that_is_looked_for() -> None:
    """The pre-commit hook fires if a file changes that discovery reads, in the root or in a folder, and for no code."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    fires = re.compile(hook["files"]).search
    names = [pattern.replace("*", each) for pattern in discovery.PATTERNS for each in ("dev", "-dev.in-ci")]
    names += [*locks.NOT_RUN, "pyproject.toml", "jax-stack-compat.toml", "requirements/base.txt"]

    assert [] == [name for name in names if not (fires(name) and fires(f"apps/one/{name}"))]
    assert [] == [name for name in ("src/a.py", "my-uv.lock", "uv.lock.py", "README.md", "notes.txt") if fires(name)]
