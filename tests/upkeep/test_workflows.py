"""The workflows run the same commands as a developer, with the fewest permissions."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.names import model as names
from jax_stack_compat.numbers import model as numbers
from jax_stack_compat.stack import chosen, lock, plan, releases
from laboratory.cli.command_line import asked, called, parse
from laboratory.report import published
from laboratory.run import sizes
from laboratory.run.schedule import costs
from laboratory.upkeep import handover
from tests.processes import git, program

FOLDER = ROOT / ".github" / "workflows"
PATHS = sorted(FOLDER.glob("*.yml"))
NAMES = [path.name for path in PATHS]
# Steps that prepare a machine or pass on files; sessions and commands do the work.
GLUE = {"cat", "cp", "echo", "find", "gh", "git", "if", "else", "fi", "exit", "rm", "tar", "test", "touch", "code=0"}
# A variable of the forge, and its value on a runner.
FORGE = {
    "github.workspace": "/w",
    "matrix.part": "3",
    "strategy.job-total": "16",
    "inputs.anyway": "",
    "github.token": "t",
}


@cache
def workflow(name: str) -> dict[str, Any]:
    """A workflow as data. YAML reads the key `on` as true."""
    read = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    assert isinstance(read, dict)
    return read


def steps(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The steps of a workflow, each with the name of its job."""
    for job, described in workflow(name)["jobs"].items():
        for step in described["steps"]:
            yield job, step


def commands(name: str) -> Iterator[str]:
    """Each line that a workflow's steps run, joined where it goes on in the next."""
    for _, step in steps(name):
        for line in re.sub(r"\|\|\n\s*", "|| ", step.get("run", "")).splitlines():
            if line.strip():
                yield line.strip()


def test_there_are_workflows() -> None:
    """A pull request is checked, a release day is run, and a tag releases package, data and pages."""
    assert ["check.yml", "release-day.yml", "release.yml"] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_job_ends_and_runs_nothing_of_others_where_it_can_write(name: str) -> None:
    """Each job has a time limit, and jobs with write access run no Python; zizmor checks more."""
    for job, described in workflow(name)["jobs"].items():
        assert described["timeout-minutes"] <= 300, job
    for job, step in steps(name):
        if "write" in workflow(name)["jobs"][job]["permissions"].values():
            assert "python" not in step.get("run", ""), job


@pytest.mark.parametrize("name", NAMES)
def test_every_step_runs_here_too(name: str, sessions: dict[str, str]) -> None:
    """A workflow's steps are pip, nox sessions, plain commands, or CI's own script, which runs one too."""
    for line in commands(name):
        first, *rest = shlex.split(re.sub(r"^\w+=\$\(", "", line).removesuffix(")"))
        if first == "python" and (rest[0] == "-c" or rest[1] == "pip"):
            assert rest[0] == "-c" or "constraints.txt" in rest, line
        elif first == "python":
            assert ["-m", "nox"] == rest[:2], line
            assert rest[rest.index("-s") + 1] in sessions, line
        else:
            assert first in {*GLUE, ".ci/run"}, line


def runs() -> Iterator[tuple[str, str, dict[str, str], str]]:
    """Each workflow's steps that run a shell: workflow, job, the variables that the shell has, and its script."""
    for name in NAMES:
        for job, step in steps(name):
            described = workflow(name)["jobs"][job]
            given = {**workflow(name).get("env", {}), **described.get("env", {}), **step.get("env", {})}
            yield name, job, {key: filled(value) for key, value in given.items()}, step.get("run", "")


def filled(value: str) -> str:
    """Put the forge's values for its variables into a text; an unknown variable becomes its name."""
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: FORGE.get(found[1], found[1]), str(value))


def expanded(line: str, variables: Mapping[str, str]) -> list[str]:
    """The words of a command as the shell passes them, up to a redirection or another command."""
    words = shlex.split(line)
    ends = [number for number, word in enumerate(words) if word in (">", ">>", "||", "&&", "|", ";")]
    words = words[: min(ends, default=len(words))]
    return [re.sub(r"\$(\w+)", lambda found: variables[found[1]], word) for word in words]


def test_nox_accepts_every_command_of_the_workflows_with_their_variables() -> None:
    """Each nox session that a workflow calls accepts the workflow's variables and arguments."""
    accepted = []
    for name, job, variables, script in runs():
        for line in (line.strip() for line in script.splitlines()):
            if line.startswith("python -m nox"):
                words = expanded(line, variables)[3:]
                sessions, after = asked(words, variables, ROOT)
                for session in sessions:
                    if command := called(session, sessions):
                        parse([*command, *after])
                        accepted.append((name, job, session))

    assert 11 <= len(accepted)
    assert {"compat", "discover", "receive", "compat-full", "publish", "diff", "report"} <= {
        one for *_, one in accepted
    }


def test_a_relative_state_is_refused() -> None:
    """The test above gives nox the variables of a workflow, and a relative state would fail there."""
    with pytest.raises(Misused, match="SUITE_STATE=state is relative"):
        asked(["-s", "discover"], {"SUITE_STATE": "state"}, ROOT)


@pytest.mark.parametrize("name", NAMES)
def test_no_workflow_lists_cells(name: str) -> None:
    """Workflows name no cell: their matrix has numbered parts of a run."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert [] == [cell.id for cell in plan.cells() if re.search(rf"(?<![\w.-]){re.escape(cell.id)}(?![\w.+-])", text)]
    for described in workflow(name)["jobs"].values():
        part = described.get("strategy", {}).get("matrix", {"part": [1]})["part"]
        assert [*range(1, len(part) + 1)] == part


def test_there_is_a_cell_for_every_part() -> None:
    """The release day has fewer parts than cells, so that none is empty."""
    parts = workflow("release-day.yml")["jobs"]["run"]["strategy"]["matrix"]["part"]

    assert 1 < len(parts) < len(plan.cells())


def paths(name: str, job: str) -> list[str]:
    """The paths that a job of the release day puts into an artifact."""
    (found,) = [
        str(step["with"]["path"]).split()
        for of, step in steps("release-day.yml")
        if of == job
        and step.get("with", {}).get("name") == name
        and "path" in step["with"]
        and "upload" in step["uses"]
    ]
    return found


def test_jobs_hand_on_data_by_name() -> None:
    """Paths of artifacts end in the name of a kind of data; what was handed on is unpacked into a folder of its own."""
    for path in [*paths("found", "discover"), *paths("tree", "publish")]:
        assert path.endswith((".json", ".json.xz", ".jsonl.xz", ".txt", ".csv", ".md", ".svg")), path
    for job, step in steps("release-day.yml"):
        if "download-artifact" in step.get("uses", "") and job != "tell":
            assert step["with"]["path"] in ("found", "parts", "difference"), job


def test_what_discover_finds_is_received() -> None:
    """Snapshot, locks, sizes, records, names and numbers are handed on, and `receive` knows each of their files."""
    kinds = [pattern for pattern, _ in handover.KINDS]
    for path in paths("found", "discover"):
        name = path.replace("*", "jax-0.9.2")
        assert any(pattern.fullmatch(name) for pattern in kinds), path
    for file in (releases.PATH, sizes.PATH, *lock.LOCKS.iterdir(), *names.FOLDER.iterdir(), *numbers.FOLDER.iterdir()):
        name = file.relative_to(ROOT).as_posix()
        assert any(pattern.fullmatch(name) for pattern in kinds), name
        assert any(Path(name).match(pattern) for pattern in paths("found", "discover")), name
    received = [line for _, job, _, script in runs() for line in script.splitlines() if "-s receive" in line]
    assert ["python -m nox -s receive -- found", "python -m nox -s receive -- found parts/*/records.tar"] == received


def test_what_a_publish_writes_is_proposed(tmp_path: Path) -> None:
    """The commit of a release day has the data that publish wrote, and no code that an artifact brings."""
    tree, made = tmp_path / "tree", tmp_path / "tree" / "found"
    data = [*paths("tree", "publish"), *(path.relative_to(ROOT).as_posix() for path in (costs.PATH, chosen.PATH))]
    files = sorted({found.relative_to(ROOT).as_posix() for pattern in data for found in ROOT.glob(pattern)})
    for name in files:
        for folder, text in ((tree, "old"), (made, "new")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    git(tree, "init", "--quiet", "--initial-branch=main")
    git(tree, "add", "--", *{name.partition("/")[0] for name in files})
    git(tree, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=first")
    git(tmp_path, "clone", "--bare", "--quiet", str(tree), "origin")
    git(tree, "remote", "add", "origin", str(tmp_path / "origin"))
    for name in (
        "noxfile.py",
        "suite/laboratory/evil.py",
        "docs/conf.py",
        ".github/workflows/check.yml",
        "docs/a/b.md",
    ):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("evil")
    script, ended = proposed(tree, tmp_path)

    assert 0 == ended.returncode, ended.stderr
    changed = git(tree, "show", "--format=", "--name-only", "origin/release-day").splitlines()
    assert files == sorted(changed)
    written = [
        releases.PATH,
        chosen.PATH,
        sizes.PATH,
        costs.PATH,
        *published.FOLDER.glob("*.json"),
        *lock.LOCKS.iterdir(),
    ]
    assert {path.relative_to(ROOT).as_posix() for path in written} <= {*changed}
    assert "gh pr create" in script


def test_a_link_is_not_proposed(tmp_path: Path) -> None:
    """If an artifact has a link, nothing is committed."""
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "README.md").symlink_to("/etc/hostname")
    _, ended = proposed(tmp_path, tmp_path)

    assert 0 != ended.returncode
    assert not (tmp_path / "README.md").exists()


def proposed(tree: Path, folder: Path) -> tuple[str, "subprocess.CompletedProcess[str]"]:
    """Run the script that proposes a release day, as a runner does, with a `gh` that does nothing."""
    gh = program(folder / "bin" / "gh", "exit 0")
    ((_, _, variables, script),) = [each for each in runs() if each[1] == "propose" and each[3]]
    env = {**os.environ, **variables, "PATH": f"{gh.parent}:{os.environ['PATH']}", "HOME": str(folder)}
    bash = [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return script, subprocess.run(bash, cwd=tree, env=env, capture_output=True, text=True, check=False)
