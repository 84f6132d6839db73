# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "filelock==4.2.10",
#   "jinja2==3.1.6",
#   "nox==2026.10.20",
#   "packaging==26.3",
#   "pydantic==2.14.3",
#   "pygments==2.21.0",
#   "pypi-simple==1.8.0",
#   "pyyaml==6.0.3",
#   "remotezip==0.12.6",
#   "rich==15.0.0",
#   "uv==0.13.8",
# ]
# ///
"""The front door: `nox -s compat` runs the documented issues on real releases and reports what they do.

`nox -l` lists the sessions, `nox --usage SESSION` explains one. What follows `--` goes to `python -m suite`:
`nox -s compat -- --issue wraps-lower-bypass --fresh`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import nox
from nox.manifest import keyword_match

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from suite.errors import Exit, guarded, say  # noqa: E402


def asked() -> argparse.Namespace:
    """Return what nox was called with, as far as it matters here, and as `words` what follows `--`."""
    ours, words = sys.argv[1:], list[str]()
    if "--" in ours:
        place = ours.index("--")
        ours, words = ours[:place], ours[place + 1 :]
    parser = argparse.ArgumentParser(add_help=False)
    named = [name for name in os.environ.get("NOXSESSION", "").split(",") if name]
    parser.add_argument("-s", "-e", "--sessions", "--session", nargs="*", default=named)
    parser.add_argument("-t", "--tags", nargs="*")
    parser.add_argument("-k", "--keywords")
    parser.add_argument("--envdir")
    return parser.parse_known_args(ours, argparse.Namespace(words=words))[0]


ASKED = asked()
STATE = os.environ.get("SUITE_STATE", "")
if os.pathsep in str(ROOT / (ASKED.envdir or ".nox")):
    # Before any package is asked for: nox has not found its own environment either.
    say(f"{ROOT}: PATH cannot name a folder with a colon, and nox's are in here: add `--envdir FOLDER`, one without")
    sys.exit(Exit.MISUSED)
if STATE and not Path(STATE).is_absolute():
    say(f"SUITE_STATE={STATE}: nox hides the folder that it was started in: give an absolute path")
    sys.exit(Exit.MISUSED)

from suite.__main__ import explained, main, parse  # noqa: E402
from suite.stack import plan, uv_call  # noqa: E402

# The sessions of -j are started by this interpreter, which has what the header asks for: they need not look again.
os.environ["NOX_SCRIPT_MODE"] = "none"
nox.needs_version = ">=2026.10"
nox.options.sessions = ["compat"]
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = True

PUBLISHED = str(ROOT / "reports" / "published")
# The sessions that run the cells with a tag: on a cluster if that is asked for.
OF_A_TAG = {
    "compat": ["compat"],
    "compat-line": ["compat", "--tag", "line"],
    "compat-full": ["compat", "--tag", "full"],
    "publish": ["compat", "--tag", "full", "--to", PUBLISHED],
}
# Those that need asv; noise is not a failure.
OF_ASV = {
    "line": ["line"],
    "bench": ["bench", "run"],
    **{f"bench-{work}": ["bench", work] for work in ("compare", "count", "noise", "publish")},
}
# The sessions whose command needs a group of packages besides.
GROUPS = {**dict.fromkeys(OF_ASV, "bench"), "numbers": "numbers"}
# The sessions that are a command of `python -m suite`, and its words. What follows `--` comes after them.
COMMANDS = {
    **OF_A_TAG,
    **{name: [name] for name in ("run", "report", "check", "try", "explain", "merge", "diff", "rebuild", "bisect")},
    **{name: [name] for name in ("clean", "discover", "snapshot", "threads", "names", "numbers", "lock", "choose")},
    **{name: [name] for name in ("rekey", "pins", "cost")},
    "device-programs": ["programs"],
    **OF_ASV,
}
# Sessions that say more than their command's help.
ABOUT = {
    "compat-line": "Do the same as compat for every cell of the release line, all cases of all issues.",
    "compat-full": "Do the same as compat for every planned cell, all cases of all issues.",
    "publish": "Run every cell, and write the report and the documents' excerpts of it: commit them.",
}
if ASKED.keywords:
    SESSIONS = [name for name in COMMANDS if keyword_match(ASKED.keywords, [name])]
else:
    SESSIONS = list(ASKED.sessions or ([] if ASKED.tags else ["compat"]))


def words(session: str) -> list[str] | None:
    """Return the arguments of `python -m suite` for a session, or None if the session is something else."""
    if match := re.fullmatch(r"cell\((.+)\)", session):
        return ["record", match[1]]
    if session == "report":
        return ["report", *(name[5:-1] for name in SESSIONS if name.startswith("cell("))]
    return COMMANDS.get(session)


# All that can be wrong with the words and the files is said before anything runs.
with guarded() as guard:
    CELLS = plan.cells()
    OPTIONS = [parse([*called, *ASKED.words]) for session in SESSIONS if (called := words(session))]
    # With `-- --scheduler ADDRESS` a cluster's machines run the cells, from an environment that can talk to them.
    ON_CLUSTER = any(getattr(options, "scheduler", None) for options in OPTIONS)
if guard.code:
    sys.exit(guard.code)
# `nox -s tests faults` is one run of pytest in one environment: the cores are busy to the end.
BOTH_TESTED = {"tests", "faults"}.issubset(ASKED.sessions)


def suite(session: nox.Session) -> None:
    """Run the command that this session is, in the environment that it needs, and fail the session if it fails."""
    called, code = [*(words(session.name) or ()), *session.posargs], Exit.AS_EXPECTED
    if session.name in GROUPS:
        install(session, GROUPS[session.name])
        session.run("python", "-m", "suite", *called, success_codes=[Exit.AS_EXPECTED.value, Exit.UNDECIDED.value])
    elif session.name in OF_A_TAG and ON_CLUSTER:
        install(session, extras=["cluster"])
        session.run("python", "-m", "suite", *called, log=False)
    else:
        code = main(called)
    if session.name == "publish":
        # Both follow from the report.
        for follows in ("readme", "choose"):
            main([follows])
    # A device's compiler that this machine cannot have is not a failure.
    if code and not (session.name == "device-programs" and code is Exit.INCOMPLETE):
        session.error(f"{session.name}: {code.name.lower().replace('_', ' ')}")


@nox.session(venv_backend="none", default=False, allow_parallel=True)
@nox.parametrize("cell", [nox.param(cell.id, id=cell.id, tags=list(cell.tags)) for cell in CELLS])
def cell(session: nox.Session, cell: str) -> None:
    """Install one cell from its lock, run the issues in it, and write down what they do.

    Ends well whatever happens in there: an environment that can't be made, an issue that crashes. The report tells.
    `nox -s "cell(jax-0.4.30)" report` reads one cell; `-- --issue ID` narrows; `-- --fresh` runs known cases again.
    """
    suite(session)


def add_commands() -> None:
    """Add a session for each command, with what the command says of itself."""
    told = explained()
    for name, called in COMMANDS.items():

        def run(session: nox.Session) -> None:
            suite(session)

        does = told[" ".join(called[:2]) if called[0] == "bench" else called[0]]
        run.__doc__ = "\n\n".join([*filter(None, [ABOUT.get(name)]), does, f"Options: nox -s {name} -- --help"])
        apart = name in GROUPS or (name in OF_A_TAG and ON_CLUSTER)
        backend = None if apart else "none"
        nox.session(name=name, default=name == "compat", reuse_venv=name in GROUPS, venv_backend=backend)(run)


add_commands()


@nox.session(venv_backend="none", default=False)
def wheel(session: nox.Session) -> None:
    """Build what a release uploads into dist/: a wheel of code and data, and an sdist."""
    session.run(uv_call.found(), "build", "--quiet", "--out-dir", "dist", "--clear", external=True)


@nox.session(default=False)
def tests(session: nox.Session) -> None:
    """Run the tests, one real cell among them; what follows `--` goes to pytest."""
    tested(session, *([] if BOTH_TESTED else ["--ignore=tests/faults"]))


@nox.session(default=False, venv_backend="none" if BOTH_TESTED else None)
def faults(session: nox.Session) -> None:
    """Run what machines, users and issues do wrong: each ends in a sentence or an `error`, never in another verdict."""
    if BOTH_TESTED:
        session.skip("`tests` runs them along with its own")
    tested(session, "tests/faults")


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Check style, types and workflows: ruff, mypy strict, this file included, and zizmor."""
    install(session, "tests", "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    looked_at = (".github/workflows", "action.yml")
    session.run("zizmor", "--offline", "--quiet", "--no-progress", "--persona=auditor", *looked_at)


def tested(session: nox.Session, *where: str) -> None:
    """Run these tests, and what follows `--`."""
    install(session, "tests")
    # A file of tests stays together: some share an environment that takes seconds to make. The files with the fewest
    # tests take the longest, and are not left for the end. Some wait for others' processes: two more than cores.
    spread = (f"--numprocesses={(os.cpu_count() or 1) + 2}", "--dist=loadfile", "--no-loadscope-reorder")
    # They start dozens of interpreters. If none may write bytecode beside the source, each would compile everything
    # again: then the bytecode goes into nox's own folder.
    aside = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(session.cache_dir.resolve() / "bytecode")}
    # Docstrings and warnings are tested.
    plain = {"PYTHONOPTIMIZE": None, "PYTHONWARNINGS": None}
    env = {**plain, **aside} if sys.dont_write_bytecode else plain
    session.run("pytest", *spread, *where, *session.posargs, env=env)


def install(session: nox.Session, *groups: str, extras: Sequence[str] = ()) -> None:
    """Install what the driver needs, and these groups and extras of pyproject.toml, at the pins of constraints.txt."""
    project = nox.project.load_toml(ROOT / "pyproject.toml")
    wanted = [*project["project"]["dependencies"], *nox.project.dependency_groups(project, *groups)]
    wanted += [each for extra in ("suite", *extras) for each in project["project"]["optional-dependencies"][extra]]
    session.install("--constraint", str(ROOT / "constraints.txt"), *wanted)
