# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "filelock==4.2.10",
#   "jinja2==3.1.6",
#   "markupsafe==3.0.4",
#   "nox==2026.10.20",
#   "packaging==26.3",
#   "pydantic==2.14.3",
#   "pygments==2.21.0",
#   "pypi-simple==1.8.0",
#   "pyyaml==6.0.3",
#   "remotezip==0.12.6",
#   "requests==2.34.2",
#   "rich==15.0.0",
#   "uv==0.13.8",
# ]
# ///
"""The nox sessions: `nox -s compat` runs the documented issues on real releases, and reports the results.

`nox -l` lists the sessions, `nox --usage SESSION` explains one. Arguments after `--` go to the session's command: `nox
-s compat -- --issue wraps-lower-bypass --fresh`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "suite"))

from jax_stack_compat.base import guardian  # noqa: E402
from jax_stack_compat.base.errors import Exit, guarded  # noqa: E402
from laboratory.cli.command_line import CALLED, asked, called, explained, main, parse  # noqa: E402
from laboratory.cli.sessions import Session  # noqa: E402

guardian.end_with_nox()
# Report wrong arguments and files before anything runs or is installed.
with guarded() as guard:
    ASKED, WORDS = asked(sys.argv[1:], os.environ, ROOT)

    from jax_stack_compat.stack import plan, uv_call

    CELLS = plan.cells()
    OPTIONS = [parse([*words, *WORDS]) for name in ASKED if (words := called(name, ASKED))]
if guard.code:
    sys.exit(guard.code)

# Sessions under -j are started by this interpreter, which has the packages of the header.
os.environ["NOX_SCRIPT_MODE"] = "none"
nox.needs_version = ">=2026.10"
nox.options.sessions = ["compat"]
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = True

# The sessions with an environment of their own, and the groups and extras of pyproject.toml that it needs. With
# `-- --scheduler ADDRESS` a cluster's machines run the cells, from an environment that can talk to them.
APART = {name: of.group for name, of in CALLED.items() if of.group}
if any(getattr(options, "scheduler", None) for options in OPTIONS):
    APART |= {name: "cluster" for name, of in CALLED.items() if of.words[0] in ("compat", "run", "publish")}
# `nox -s tests faults` is one run of pytest in one environment, so that the cores stay busy.
BOTH_TESTED = {"tests", "faults"}.issubset(ASKED)


def carry_out(session: nox.Session, of: Session) -> None:
    """Run the session's command in the environment that it needs, and fail the session if the command fails."""
    words, code = [*called(session.name, ASKED), *session.posargs], Exit.AS_EXPECTED
    if group := APART.get(session.name):
        install(session, group)
        env: dict[str, str | None] = {"PYTHONPATH": str(ROOT / "suite")}
        fine = [0, of.fine.value]
        session.run("python", "-m", "laboratory", *words, success_codes=fine, log=group != "cluster", env=env)
    else:
        code = main(words)
    if code not in (Exit.AS_EXPECTED, of.fine):
        session.error(f"{session.name}: {code.name.lower().replace('_', ' ')}")


@nox.session(venv_backend="none", default=False, allow_parallel=True)
@nox.parametrize("cell", [nox.param(cell.id, id=cell.id, tags=list(cell.tags)) for cell in CELLS])
def cell(session: nox.Session, cell: str) -> None:
    """Install one cell from its lock, run the issues in it, and keep the records.

    The session succeeds even if the environment cannot be made or an issue crashes: the report says so. `nox -s
    "cell(jax-0.4.30)" report` reads one cell; `-- --issue ID` narrows; `-- --fresh` runs cached cases again.
    """
    carry_out(session, Session("record"))


for name, told in explained().items():

    def _run(session: nox.Session, of: Session = CALLED[name]) -> None:
        carry_out(session, of)

    _run.__doc__, reused, backend = told, bool(CALLED[name].group), None if name in APART else "none"
    nox.session(name=name, default=name == "compat", reuse_venv=reused, venv_backend=backend)(_run)


@nox.session(venv_backend="none", default=False)
def wheel(session: nox.Session) -> None:
    """Build the files of a release into dist/: a wheel of code and data, and an sdist."""
    session.run(uv_call.found(), "build", "--quiet", "--out-dir", "dist", "--clear", external=True)


@nox.session(default=False)
def tests(session: nox.Session) -> None:
    """Run the tests, including one real cell; arguments after `--` go to pytest."""
    tested(session, *([] if BOTH_TESTED else ["--ignore=tests/faults"]))


@nox.session(default=False, venv_backend="none" if BOTH_TESTED else None)
def faults(session: nox.Session) -> None:
    """Run the tests of faults: of machines, users and issues. Each must end in a sentence or in the verdict `error`."""
    if BOTH_TESTED:
        session.skip("`tests` runs them along with its own")
    tested(session, "tests/faults")


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Check style, types and workflows: ruff, mypy strict, this file included, and zizmor."""
    install(session, "tests", "lint")
    zizmor = "zizmor --offline --quiet --no-progress --persona=auditor .github/workflows action.yml"
    for command in ("ruff check", "ruff format --check", "mypy", zizmor):
        session.run(*command.split())


def tested(session: nox.Session, *where: str) -> None:
    """Run these tests, with the arguments after `--`."""
    install(session, "tests")
    # A file's tests stay together, since some share an environment. Files with few tests take longest, so they must not
    # come last. Some tests wait for processes, so use one worker more than cores.
    spread = (f"--numprocesses={(os.cpu_count() or 1) + 1}", "--dist=loadfile", "--no-loadscope-reorder")
    # Docstrings and warnings are tested.
    env: dict[str, str | None] = {"PYTHONOPTIMIZE": None, "PYTHONWARNINGS": None}
    if sys.dont_write_bytecode:
        # The tests start dozens of interpreters, and each would compile all modules again.
        env |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(session.cache_dir.resolve() / "bytecode")}
    session.run("pytest", *spread, *where, *session.posargs, env=env)


def install(session: nox.Session, *names: str) -> None:
    """Install the driver's packages, and these groups and extras of pyproject.toml, at the pins of constraints.txt."""
    project = nox.project.load_toml(ROOT / "pyproject.toml")
    extras = project["project"]["optional-dependencies"]
    own = [each for name in ("laboratory", *names) for each in extras.get(name, [])]
    wanted = [*project["project"]["dependencies"], *own]
    wanted += nox.project.dependency_groups(project, *(name for name in names if name not in extras))
    session.install("--constraint", str(ROOT / "constraints.txt"), *wanted)
