"""Bounds on packages in a pyproject.toml."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jax_stack_compat.base.errors import BadFile
from jax_stack_compat.check.inputs import bounds
from tests.worlds import refused

SAMPLE = """
[project]
name = "vector-field"
requires-python = ">=3.10,<3.99"
dependencies = ["jax>=0.4.30", "Equinox>=0.11,<0.12", "numpy; python_version < '3'", "lineax"]
[project.optional-dependencies]
solvers = ["diffrax~=0.6.0", "jax[cuda12]!=0.4.36"]
fork = ["optimistix @ git+https://github.com/someone/optimistix", "optimistix>=0.0.8"]
[dependency-groups]
test = ["jax<0.5", { include-group = "Lint_Tools" }]
lint-tools = ["ml_dtypes>=0.4"]
"""


def read(tmp_path: Path, text: str) -> bounds.Bounds:
    """Return the bounds in a pyproject.toml with this text."""
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return bounds.bounds(path)


def test_bounds_of_all_extras_and_groups_are_joined(tmp_path: Path) -> None:
    """Dependencies, extras and groups bound a package together; direct references have no bounds."""
    found = read(tmp_path, SAMPLE)
    told = {name: str(each) for name, each in found.packages.items()}
    expected = {"jax": "!=0.4.36,<0.5,>=0.4.30", "equinox": "<0.12,>=0.11", "lineax": "", "diffrax": "~=0.6.0"}
    assert {**expected, "ml-dtypes": ">=0.4"} == told
    assert {"optimistix": "optimistix @ git+https://github.com/someone/optimistix"} == found.unsaid


def test_markers_are_asked_for_a_python_of_the_project(tmp_path: Path) -> None:
    """Markers are evaluated for the only Python that a project allows."""
    text = "[project]\nrequires-python = '==3.8.*'\ndependencies = ['jax<0.4.14; python_version == \"3.8\"']\n"
    assert "<0.4.14" == str(read(tmp_path, text).packages["jax"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.poetry.dependencies]\njax = '*'", "project: the file has neither this table"),
        ("project = 1", "project: it is not a table"),
        ("[project]\ndependencies = 'jax'", "project.dependencies: it is not a list"),
        ("[project]\ndependencies = [1]", "project.dependencies[0]: it is not a string"),
        ("[project]\ndependencies = ['jax', 'jax=0.4']", "project.dependencies[1]: Expected"),
        ("[project]\ndynamic = ['dependencies']", "project.dynamic: its build computes the dependencies"),
        ("[project]\nrequires-python = 'new'", "project.requires-python: Invalid specifier: 'new'"),
        ("[project]\noptional-dependencies = []", "project.optional-dependencies: it is not a table"),
        ("[project.optional-dependencies]\na = ['=']", "project.optional-dependencies.a[0]: Expected"),
        ("[dependency-groups]\na = [{include = 'b'}]", "dependency-groups.a[0]: it is not a string"),
        ("[dependency-groups]\na = [{include-group = 'b'}]", "dependency-groups.a[0]: there is no group 'b'"),
        ("[dependency-groups]\na = [{include-group = 'A'}]", "groups include each other: a includes a"),
        (
            "[dependency-groups]\na = [{include-group = 'b'}]\nb = [{include-group = 'a'}]",
            "dependency-groups: groups include each other: a includes b includes a",
        ),
        ("[project", "syntax: Expected"),
        (f"[project]\ndependencies = ['a; {'(' * 4000}']", "dependencies[0]: it is nested too deep"),
    ],
)
def test_faults_have_their_key(tmp_path: Path, text: str, said: str) -> None:
    """Faults in a pyproject.toml are reported with their key."""
    (fault,) = refused(read, tmp_path, text)
    assert said in str(fault)


def test_every_bad_requirement_is_told(tmp_path: Path) -> None:
    """Several invalid requirements are reported together."""
    faults = refused(read, tmp_path, "[project]\ndependencies = ['=', 'jax', '!']")
    assert ["project.dependencies[0]", "project.dependencies[2]"] == [fault.key for fault in faults]


def test_groups_that_include_many_times_end(tmp_path: Path) -> None:
    """Groups that include the next one twice are read in linear time."""
    groups = "".join(f"g{n} = [{{include-group = 'g{n + 1}'}}, {{include-group = 'g{n + 1}'}}]\n" for n in range(60))
    assert {"jax"} == read(tmp_path, f"[dependency-groups]\n{groups}g60 = ['jax']").packages.keys()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(0, len(SAMPLE)), at=st.integers(0, len(SAMPLE) - 1), letter=st.sampled_from("x\"'[]{}=.,\x00\né")
)
def test_file_cut_and_changed(tmp_path: Path, cut: int, at: int, letter: str) -> None:
    """A pyproject.toml, cut anywhere and with any letter changed, yields bounds or faults."""
    text = (SAMPLE[:at] + letter + SAMPLE[at + 1 :])[:cut]
    with suppress(BadFile):
        assert read(tmp_path, text)
