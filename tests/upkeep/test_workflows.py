"""The workflows run the same commands as a developer, with the fewest permissions."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from jax_stack_compat.base.files import ROOT
from jax_stack_compat.stack import chosen, lock, plan, releases
from laboratory.cli.command_line import asked
from laboratory.report import published
from laboratory.run import sizes
from laboratory.run.schedule import costs
from tests.processes import printed

FOLDER = ROOT / ".github" / "workflows"
PATHS = sorted(FOLDER.glob("*.yml"))
NAMES = [path.name for path in PATHS]
# Steps that prepare a machine or pass on files; sessions and commands do the work.
GLUE = {"cat", "cp", "echo", "find", "for", "gh", "git", "if", "else", "fi", "exit", "tar", "test", "touch", "code=0"}


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


@pytest.mark.parametrize("name", NAMES)
def test_nox_accepts_what_a_workflow_sets(name: str) -> None:
    """A workflow's variables are ones that every nox session takes; the state has an absolute path."""
    variables = {
        key: value.replace("${{ github.workspace }}", "/w") for key, value in workflow(name).get("env", {}).items()
    }
    for line in commands(name):
        if line.startswith("python -m nox"):
            assert asked(["-s", "compat"], variables, ROOT)


@pytest.mark.parametrize("name", NAMES)
def test_no_workflow_lists_cells(name: str) -> None:
    """Workflows name no cell: their matrix has numbered parts of a run."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert [] == [cell.id for cell in plan.cells() if re.search(rf"(?<![\w.-]){re.escape(cell.id)}(?![\w.+-])", text)]
    for described in workflow(name)["jobs"].values():
        matrix = described.get("strategy", {}).get("matrix", {"part": "${{ fromJSON(needs.discover.outputs.parts) }}"})
        assert {"part": "${{ fromJSON(needs.discover.outputs.parts) }}"} == matrix


def test_there_is_a_cell_for_every_part() -> None:
    """The release day has fewer parts than cells, so that none is empty, and the step counts them as it should."""
    described = workflow("release-day.yml")
    (step,) = (step for _, step in steps("release-day.yml") if step.get("id") == "parts")
    words = shlex.split(step["run"].partition(" >> ")[0])
    many = described["env"]["SHARDS"]

    assert f"parts={list(range(1, int(many) + 1))}\n" == printed(*words[1:], env={"SHARDS": many})
    assert 1 < int(many) < len(plan.cells())


def test_what_discover_changes_reaches_the_parts() -> None:
    """Snapshot, locks, names and numbers are handed to every job that reads them, into the same place; no code is."""
    made = {job: step["with"] for job, step in steps("release-day.yml") if step.get("with", {}).get("name") == "found"}

    assert {"discover", "run", "publish"} == set(made)
    published = [f"reports/published/{each}" for each in ("names", "numbers", "numbers.json.xz")]
    locked = [path.relative_to(ROOT).as_posix() for path in (releases.PATH, lock.LOCKS, sizes.PATH)]
    assert [*locked, "state/records", *published] == made["discover"]["path"].split()
    # The paths have the tree's root in common, and are put back there.
    assert [None, None] == [made[job].get("path") for job in ("run", "publish")]


def test_what_a_publish_writes_is_proposed() -> None:
    """The job that proposes changes gets the documents, the tracked files of the report, the plan and the costs."""
    made, _ = (step["with"] for _, step in steps("release-day.yml") if step.get("with", {}).get("name") == "tree")
    written = [published.FOLDER, releases.PATH, lock.LOCKS, chosen.PATH, sizes.PATH, costs.PATH]

    assert {"README.md", "docs", *(path.relative_to(ROOT).as_posix() for path in written)} == {*made["path"].split()}
