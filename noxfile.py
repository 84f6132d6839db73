# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "filelock==4.2.10",
#   "jinja2==3.1.6",
#   "matplotlib==3.11.2",
#   "nox==2026.10.20",
#   "packaging==26.3",
#   "pydantic==2.14.3",
#   "pygments==2.21.0",
#   "pypi-simple==1.8.0",
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

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from suite import commands  # noqa: E402
from suite.__main__ import arguments, guarded, main  # noqa: E402
from suite.files import Misused  # noqa: E402
from suite.run import catalogue  # noqa: E402
from suite.stack import plan  # noqa: E402
from suite.timings import release_line as release_line  # noqa: E402

# The sessions of -j are started by this interpreter, which has what the header asks for: they need not look again.
os.environ["NOX_SCRIPT_MODE"] = "none"
nox.needs_version = ">=2026.10"
nox.options.sessions = ["compat"]
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = True


# These mend what the others need whole, or do not look at it.
UNCHECKED = {"lock", "snapshot", "pins", "lint", "tests", "rebuild", "merge", "diff"}
# These have a command line of their own.
UNCHECKED |= {"line", "bench", "bench-compare", "bench-instructions", "bench-noise", "bench-publish"}


# What lists sessions lists all of them, and the sessions of -j need not be told again what there is to do.
LISTING = {"-l", "--list", "--list-sessions", "--parallel-worker"}


def checked_cells(words: list[str]) -> tuple[plan.Cell, ...]:
    """The planned cells, once every file has been read and the command line means something: exit code 2 if not."""
    with guarded() as guard:
        plan.cells()
        # nox's own word for the sessions of -j: what started them has checked.
        if "--parallel-worker" not in words and not UNCHECKED.intersection(words):
            commands.check()
            for identifier in re.findall(r"(?m)^cell\((.+)\)$", "\n".join(words)):
                plan.cell(identifier)
            place = words.index("--") if "--" in words else len(words)
            sessions = {word.rpartition("=")[2] for word in words[:place]}
            # What these are asked is not what a run is.
            if place < len(words) and not {"bisect", "upkeep"} & sessions:
                options = arguments().parse_args(words[place + 1 :])
                if "publish" in sessions and (options.shard or options.issue):
                    raise Misused("what is published is the whole: a part of it is run by `nox -s compat-full -- …`")
                catalogue.select(options.issue)
                commands.share(plan.cells(), options.shard)
    if guard.code:
        sys.exit(guard.code)
    return plan.cells()


CELLS = checked_cells(sys.argv[1:])


# With `-- --scheduler ADDRESS` the cells are run by a cluster's machines, from an environment that can talk to them.
ON_CLUSTER = any(word.partition("=")[0] == "--scheduler" for word in sys.argv[1:])
BACKEND = None if ON_CLUSTER else "none"


def named(tag: str, session: str = "") -> list[str]:
    """The sessions that run the cells with this tag, or a shard of them, after the one that says what is to do.

    Of the session that is asked for, only the cells that have anything left to run: what is known costs no session.
    """
    if ON_CLUSTER:
        return []
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv and not UNCHECKED.intersection(sys.argv) else []
    options = arguments().parse_known_args(words)[0]
    cells = commands.share(plan.tagged(tag), options.shard)
    if session in sys.argv and not LISTING.intersection(sys.argv) and not options.fresh:
        cells = commands.unfinished(cells, catalogue.select(options.issue))
    return [f"plan({tag})", *(f"cell({cell.id})" for cell in cells)]


def suite(session: nox.Session, *words: str) -> None:
    """Run a command of `python -m suite` here, and fail the session where it fails."""
    if code := main(words, checked=True):
        session.error(f"{' '.join(words)}: {code.name.lower().replace('_', ' ')}")


def run_on_cluster(session: nox.Session, tag: str) -> None:
    """Run the cells with this tag on the cluster, where one was asked for: then no session has run them."""
    if ON_CLUSTER:
        install(session, extras=["cluster"])
        shard = arguments().parse_args(session.posargs).shard
        cells = [cell.id for cell in commands.share(plan.tagged(tag), shard)]
        session.log(f"{len(cells)} cells on a cluster")
        session.run("python", "-m", "suite", "run", *cells, *session.posargs, log=False)


@nox.session(name="plan", venv_backend="none", default=False, allow_parallel=True)
@nox.parametrize("tag", [nox.param(tag, id=tag) for tag in plan.TAGS])
def show_plan(session: nox.Session, tag: str) -> None:
    """Say what the cells with this tag would run, and how much there is to fetch."""
    suite(session, "plan", "--tag", tag, *session.posargs)


@nox.session(venv_backend="none", default=False, allow_parallel=True)
@nox.parametrize("cell", [nox.param(cell.id, id=cell.id, tags=list(cell.tags)) for cell in CELLS])
def cell(session: nox.Session, cell: str) -> None:
    """Install one cell from its lock, run the issues in it, and write down what they do.

    Ends well whatever happens in there: an environment that can't be made, an issue that crashes. The report tells.
    `nox -s "cell(jax-0.4.30)" report` reads one cell; `-- --issue ID` narrows; `-- --fresh` runs known cases again.
    """
    suite(session, "run", cell, *session.posargs)


@nox.session(venv_backend=BACKEND, requires=named("default", "compat"))
def compat(session: nox.Session) -> None:
    """Run the default cells, judge them, and report into reports/latest: the main job.

    Exit code 0 only where every planned observation was made and is as expected. `nox -j2 -s compat` runs two cells at
    a time. What is known and unchanged is not run again; `-- --fresh` does, `-- --issue ID` narrows to an issue.
    `-- --scheduler tcp://host:8786` has the workers of a Dask cluster run the cells (see suite/run/cluster.py).
    """
    run_on_cluster(session, "default")
    suite(session, "report", "--tag", "default", *session.posargs)


@nox.session(name="compat-line", venv_backend=BACKEND, default=False, requires=named("line", "compat-line"))
def compat_line(session: nox.Session) -> None:
    """The same for every cell of the release line."""
    run_on_cluster(session, "line")
    suite(session, "report", "--tag", "line", *session.posargs)


@nox.session(name="compat-full", venv_backend=BACKEND, default=False, requires=named("full", "compat-full"))
def compat_full(session: nox.Session) -> None:
    """The same for every cell there is.

    Ten machines share it: the third runs `nox -s compat-full -- --shard 3/10`, one of ten parts that cost the same, and
    hands on its reports/latest; `nox -s merge -- FOLDER…` joins the ten, and counts what nobody brought as not
    run. `nox -l --json -s compat-full -- --shard 3/10` lists a part's sessions, for a CI that wants a job for each
    part, or for each cell. `compat` and `compat-line` are shared alike.
    """
    run_on_cluster(session, "full")
    suite(session, "report", "--tag", "full", *session.posargs)


@nox.session(venv_backend=BACKEND, default=False, requires=named("full", "publish"))
def publish(session: nox.Session) -> None:
    """Run every cell, and put the report into reports/published and its excerpt into the README: commit them."""
    run_on_cluster(session, "full")
    code = main(["report", "--tag", "full", "--to", "reports/published", *session.posargs], checked=True)
    suite(session, "readme")
    if code:
        session.error(f"published all the same: {code.name.lower()}")


@nox.session(venv_backend="none", default=False)
def report(session: nox.Session) -> None:
    """Judge and report what records there are, into reports/latest: `nox -s "cell(jax-0.4.30)" report`."""
    suite(session, "report", *session.posargs)


@nox.session(venv_backend="none", default=False)
def merge(session: nox.Session) -> None:
    """Join the reports of a run's shards: `nox -s merge -- FOLDER…`, into reports/latest or `--to FOLDER`."""
    suite(session, "merge", *session.posargs)


@nox.session(venv_backend="none", default=False)
def diff(session: nox.Session) -> None:
    """Say what one report shows that another did not: `nox -s diff -- OLD NEW`. Fails where something regressed."""
    suite(session, "diff", *session.posargs)


@nox.session(venv_backend="none", default=False)
def rebuild(session: nox.Session) -> None:
    """Make anew what follows from reports/published/compat.json, the README's excerpt too; or from `-- FOLDER`'s."""
    suite(session, "rebuild", *session.posargs)
    if not session.posargs:
        suite(session, "readme")


@nox.session(venv_backend="none", default=False)
def bisect(session: nox.Session) -> None:
    """Find the release where a case changes: `nox -s bisect -- tracer-hash-while-loop/hash-tracer`.

    Over the line's releases of jax, or of `--package equinox`; `--hold jax==0.9.2` goes along an arm. Linked packages
    move together. n releases take at most ⌈log2 n⌉ + 3 cell runs, less what is on record, more where one cannot be
    tested. `--between A B` narrows, `--find first-affected` or `first-clear` insists, `--scan` runs all of them.
    """
    suite(session, "bisect", *session.posargs)


@nox.session(venv_backend="none", default=False)
def discover(session: nox.Session) -> None:
    """Read the index, lock and run what is new since the snapshot, and say what it does otherwise: a release day."""
    suite(session, "discover")


@nox.session(venv_backend="none", default=False)
def snapshot(session: nox.Session) -> None:
    """Read what the package index offers into suite/stack/releases.json, and say what is new."""
    suite(session, "snapshot")


@nox.session(venv_backend="none", default=False)
def lock(session: nox.Session) -> None:
    """Resolve every planned cell as of its release's day into suite/stack/locks: the same bytes each time."""
    suite(session, "lock")


@nox.session(venv_backend="none", default=False)
def pins(session: nox.Session) -> None:
    """Pin the driver's own packages anew: constraints.txt, and from it the header of this file."""
    suite(session, "pins")


@nox.session(venv_backend="none", default=False)
def cost(session: nox.Session) -> None:
    """Time a warm `nox -j2 -s compat` against the ideal and against the obvious loop, and print the ratios."""
    suite(session, "cost")


@nox.session(venv_backend="none", default=False)
def upkeep(session: nox.Session) -> None:
    """Time a run from nothing, and against it an unchanged run, an edited issue and a new cell: `-- --tag full`.

    Of the default cells it takes minutes; of all cells an hour, and shows how the cost grows with the cells.
    """
    suite(session, "upkeep", *session.posargs)


@nox.session(venv_backend="none", default=False)
def line(session: nox.Session) -> None:
    """Build the release line, asv's project, from the locks: from then on, `asv continuous A B` takes releases."""
    with guarded() as guard:
        built = release_line.build(release_line.commits(), release_line.PATH)
        session.log(f"{release_line.PATH}: {'built' if built else 'as it was'}")
    if guard.code:
        session.error(f"line: {guard.code.name.lower()}")


@nox.session(default=False, reuse_venv=True)
def bench(session: nox.Session) -> None:
    """Time the default cells, or those named, and keep the results: `nox -s bench -- jax-0.9.2 --bench Scan`.

    What has a result is not measured again; `-- --fresh` does, `-- --line` takes every release. `-- --smoke` runs each
    benchmark once and keeps nothing. `-- --python PATH` measures the stack of that interpreter, on a GPU or a TPU.
    """
    timings(session, "run")


@nox.session(name="bench-compare", default=False, reuse_venv=True)
def bench_compare(session: nox.Session) -> None:
    """Time two releases in turns, and say what got slower: `nox -s bench-compare -- jax-0.9.2 jax-0.10.2`.

    Eight processes of each side, or `--processes N`; what looks changed is measured again. `--bench REGEX` narrows.
    """
    timings(session, "compare")


@nox.session(name="bench-instructions", default=False, reuse_venv=True)
def bench_instructions(session: nox.Session) -> None:
    """Count the machine instructions of tracing and lowering, under callgrind: `-- jax-0.9.2 jax-0.10.2`.

    Counts repeat to a few in a thousand where times do not; `nox -s bench-compare -- A B --bench Instructions` holds
    two releases against each other. It needs valgrind.
    """
    if shutil.which("valgrind") is None:
        session.error("counting instructions needs valgrind, which is not on this machine: install that package")
    timings(session, "run", "--bench", "Instructions")


@nox.session(name="bench-noise", default=False, reuse_venv=True)
def bench_noise(session: nox.Session) -> None:
    """Time one release against itself: what this machine's verdicts are worth, and each benchmark's own fence."""
    timings(session, "noise")


@nox.session(name="bench-publish", default=False, reuse_venv=True)
def bench_publish(session: nox.Session) -> None:
    """Make asv's site of the results, in reports/timings."""
    timings(session, "publish")


def timings(session: nox.Session, *words: str) -> None:
    """Run a command of `python -m suite.timings.bench`; its last line says what its exit code means."""
    install(session, "bench")
    session.run("python", "-m", "suite.timings.bench", *words, *session.posargs)


@nox.session(default=False)
def tests(session: nox.Session) -> None:
    """Run the tests, one real cell among them; what follows `--` goes to pytest."""
    install(session, "tests")
    # A file of tests stays together: some share an environment that takes seconds to make.
    session.run("pytest", "--numprocesses=auto", "--dist=loadfile", *session.posargs)


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Check style, types and workflows: ruff, mypy strict, this file included, and zizmor."""
    install(session, "tests", "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("zizmor", "--offline", "--quiet", "--no-progress", "--persona=auditor", ".github/workflows")


def install(session: nox.Session, *groups: str, extras: Sequence[str] = ()) -> None:
    """Install what the driver needs, and these groups and extras of pyproject.toml, at the pins of constraints.txt."""
    project = nox.project.load_toml(ROOT / "pyproject.toml")
    wanted = [*project["project"]["dependencies"], *nox.project.dependency_groups(project, *groups)]
    wanted += [each for extra in extras for each in project["project"]["optional-dependencies"][extra]]
    session.install("--constraint", str(ROOT / "constraints.txt"), *wanted)
