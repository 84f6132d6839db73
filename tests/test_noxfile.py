"""The noxfile: the sessions that nox runs for given words, and errors before the first one."""

import json

import pytest
from nox.sessions import Session

from jax_stack_compat.stack import plan
from tests.conftest import Nox
from tests.processes import printed

DEFAULT_CELLS = plan.tagged("default")
DEFAULT = [f"cell({cell.id})" for cell in DEFAULT_CELLS]


@pytest.mark.parametrize(
    ("words", "sessions"),
    [
        # However it is named, or not named at all, the main job is one session.
        *((words, ["compat"]) for words in ([], ["-s", "compat"], ["--session=compat"], ["-e", "compat"])),
        (["-s", "lint", "compat"], ["compat", "lint"]),
        (["--session=lint"], ["lint"]),
        (["-k", "lint"], ["lint"]),
        (["-s", DEFAULT[0], "report"], [DEFAULT[0], "report"]),
        (["-s", DEFAULT[0], "report", "--", "--verbose"], [DEFAULT[0], "report"]),
        # Here, arguments after `--` go to pytest.
        (["-s", "tests", "--", "-k", "nothing", "--nonsense"], ["tests"]),
    ],
)
def test_what_is_named_is_selected(nox: Nox, words: list[str], sessions: list[str]) -> None:
    """Sessions that are named are selected, and no others."""
    ran = nox("-l", "--json", *words)
    assert 0 == ran.code, ran.complained
    assert sorted(sessions) == sorted(each["session"] for each in json.loads(ran.said))


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        (["tests"], [["--ignore=tests/faults"]]),
        (["faults"], [["tests/faults"]]),
        (["tests", "faults"], [[]]),
        (["faults", "tests", "--", "-k", "x"], [["-k", "x"]]),
    ],
)
def test_tests_and_faults_are_one_run_of_pytest(
    nox: Nox, words: list[str], calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions share an environment and the cores; no setting removes docstrings or warnings, which are tested."""
    ran: list[list[str]] = []

    def pytest_run(_: Session, *words: str, env: dict[str, str | None]) -> None:
        ran.append([*words[4:]])
        assert {"PYTHONOPTIMIZE": None, "PYTHONWARNINGS": None}.items() <= env.items()

    monkeypatch.setattr(Session, "install", lambda *_, **__: None)
    monkeypatch.setattr(Session, "run", pytest_run)

    assert 0 == nox("--no-venv", "-s", *words).code
    assert calls == ran


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-s", "tests", "compat", "--", "--issue", "x"), "no issue 'x'"),
        (("--", "--shard", "4/3"), "there is no part 4 of 3"),
        (("-s", "cell(jax-0.4.3)", "report"), "no cell 'jax-0.4.3'; the nearest are jax-0.4.30"),
        (("-k", "publish", "--", "--issue", "stack-smoke"), "unrecognized arguments: --issue stack-smoke"),
        (("-s", "bench-compare", "--", "jax-0.9.2"), "the following arguments are required: B"),
    ],
)
def test_wrong_words_stop_it_before_anything_runs(nox: Nox, words: tuple[str, ...], told: str) -> None:
    """Wrong words give exit code 2 and a sentence before anything runs, in any session and however it is named."""
    ran = nox(*words)

    assert (2, True) == (ran.code, told in ran.complained), ran.complained
    assert "Running session" not in ran.complained


@pytest.mark.parametrize(("words", "state"), [(["--envdir", "with:colon"], "/tmp"), ([], "beside")])
def test_what_nox_cannot_do_is_a_sentence(
    nox: Nox, words: list[str], state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environments under a path with a colon, and a relative state folder are refused."""
    monkeypatch.setenv("SUITE_STATE", state)

    ran = nox("-l", *words)

    assert (2, "") == (ran.code, ran.said)
    assert ("PATH entries cannot contain a colon" if words else "SUITE_STATE=beside is relative") in ran.complained


def test_listing_needs_few_libraries() -> None:
    """Listing the sessions does not import libraries for charts, indexes, clusters or pages."""
    heavy = {"pypi_simple", "requests", "distributed", "jinja2", "rich", "scipy", "numpy"}
    script = "import runpy, sys; sys.argv = ['nox', '-l']; runpy.run_path('noxfile.py'); print(*sys.modules)"

    assert set() == heavy & set(printed("-c", script).split())
