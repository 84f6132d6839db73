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

import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import nox
from nox._options import options as nox_options
from nox.manifest import keyword_match

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from suite.errors import Exit, guarded, say  # noqa: E402

# What nox was asked for, read by nox itself.
ASKED = nox_options.parse_args()
STATE = os.environ.get("SUITE_STATE", "")
if os.pathsep in str(ROOT / (ASKED.envdir or ".nox")):
    # Before any package is asked for: nox has not found its own environment either.
    say(f"{ROOT}: PATH cannot name a folder with a colon, and nox's are in here: add `--envdir FOLDER`, one without")
    sys.exit(Exit.MISUSED)
if STATE and not Path(STATE).is_absolute():
    say(f"SUITE_STATE={STATE}: nox does not say which folder it was started in: give the whole path")
    sys.exit(Exit.MISUSED)

from suite.__main__ import main, parse  # noqa: E402
from suite.stack import plan, uv_call  # noqa: E402

# The sessions of -j are started by this interpreter, which has what the header asks for: they need not look again.
os.environ["NOX_SCRIPT_MODE"] = "none"
nox.needs_version = ">=2026.10"
nox.options.sessions = ["compat"]
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = True

# The sessions that are a command of `python -m suite`, and its words. What follows `--` comes after them.
COMMANDS = {
    "compat": ["compat"],
    "compat-line": ["compat", "--tag", "line"],
    "compat-full": ["compat", "--tag", "full"],
    "publish": ["compat", "--tag", "full", "--to", str(ROOT / "reports" / "published")],
    **{name: [name] for name in ("run", "check", "explain", "try", "merge", "diff", "rebuild", "bisect", "discover")},
    **{name: [name] for name in ("snapshot", "lock", "threads", "names", "line", "pins", "cost")},
    **{name: [name] for name in ("choose", "clean", "rekey")},
    "device-programs": ["programs"],
    "bench": ["bench", "run"],
    **{f"bench-{work}": ["bench", work] for work in ("compare", "count", "noise", "publish")},
}
if ASKED.keywords:
    SESSIONS = [name for name in (*COMMANDS, "report") if keyword_match(ASKED.keywords, [name])]
else:
    SESSIONS = list(ASKED.sessions or ([] if ASKED.tags else ["compat"]))


def words(session: str) -> list[str] | None:
    """Return the arguments of `python -m suite` for a session, or None if the session is something else."""
    if match := re.fullmatch(r"cell\((.+)\)", session):
        return ["record", match[1]]
    if session == "report":
        return ["report", *(each[5:-1] for each in SESSIONS if each.startswith("cell("))]
    return COMMANDS.get(session)


# All that can be wrong with the words and the files is said before anything runs.
with guarded() as guard:
    CELLS = plan.cells()
    OPTIONS = [parse([*called, *ASKED.posargs]) for session in SESSIONS if (called := words(session))]
    # With `-- --scheduler ADDRESS` a cluster's machines run the cells, from an environment that can talk to them.
    ON_CLUSTER = any(getattr(options, "scheduler", None) for options in OPTIONS)
if guard.code:
    sys.exit(guard.code)
BACKEND = None if ON_CLUSTER else "none"
# `nox -s tests faults` is one run of pytest in one environment: the cores are busy to the end.
BOTH_TESTED = {"tests", "faults"}.issubset(ASKED.sessions or ())


def suite(session: nox.Session, well: Collection[Exit] = (Exit.AS_EXPECTED,)) -> None:
    """Run the command that this session is, and fail the session where it does not end `well`."""
    called = words(session.name)
    assert called is not None
    if (code := main([*called, *session.posargs])) not in well:
        session.error(f"{session.name}: {code.name.lower().replace('_', ' ')}")


def timings(session: nox.Session) -> None:
    """Run `python -m suite bench` where asv is; its last line says what its exit code means. Noise is no failure."""
    install(session, "bench")
    well = [Exit.AS_EXPECTED.value, Exit.UNDECIDED.value]
    session.run("python", "-m", "suite", *COMMANDS[session.name], *session.posargs, success_codes=well)


def command(name: str, told: str, carry_out: Callable[[nox.Session], None] = suite) -> None:
    """Have a session that is just a command, of which `told` is all that there is to say."""

    def run(session: nox.Session) -> None:
        carry_out(session)

    run.__doc__ = told
    apart = carry_out is timings
    nox.session(name=name, default=False, reuse_venv=apart, venv_backend=None if apart else "none")(run)


def main_job(session: nox.Session) -> None:
    """Run and report on the cells of this session, with `--scheduler` from an environment that has Dask."""
    if not ON_CLUSTER:
        suite(session)
        return
    install(session, extras=["cluster"])
    session.run("python", "-m", "suite", *COMMANDS[session.name], *session.posargs, log=False)


@nox.session(venv_backend="none", default=False, allow_parallel=True)
@nox.parametrize("cell", [nox.param(cell.id, id=cell.id, tags=list(cell.tags)) for cell in CELLS])
def cell(session: nox.Session, cell: str) -> None:
    """Install one cell from its lock, run the issues in it, and write down what they do.

    Ends well whatever happens in there: an environment that can't be made, an issue that crashes. The report tells.
    `nox -s "cell(jax-0.4.30)" report` reads one cell; `-- --issue ID` narrows; `-- --fresh` runs known cases again.
    """
    suite(session)


@nox.session(venv_backend=BACKEND)
def compat(session: nox.Session) -> None:
    """Run each behaviour of the issues' headlines once, judge it, and report into reports/latest: the main job.

    Every headline on the newest release, and on four others those that show something new there; `-- --plan` prints
    which. Exit code 0 only where every planned observation was made and is as expected. Cases run side by side, one per
    core. Cached cases are not run again; `-- --fresh` does. `-- --all-headlines` runs every headline on each of these
    releases, `-- --all-cases` every case. `-- --issue ID` narrows to an issue and shows its cases, `-- --verbose` shows
    each case of all. `-- --scheduler tcp://host:8786` has the workers of a Dask cluster run the cells (see
    suite/run/spread/cluster.py).
    """
    main_job(session)


@nox.session(name="compat-line", venv_backend=BACKEND, default=False)
def compat_line(session: nox.Session) -> None:
    """The same for every cell of the release line, all cases of all issues."""
    main_job(session)


@nox.session(name="compat-full", venv_backend=BACKEND, default=False)
def compat_full(session: nox.Session) -> None:
    """The same for every cell there is, all cases of all issues.

    Ten machines share it: the third runs `nox -s compat-full -- --shard 3/10`, one of ten parts that cost the same, and
    hands on its reports/latest, or what `--to FOLDER` says; `nox -s merge -- FOLDER…` joins the ten, and counts what
    nobody brought as not run. `compat` and `compat-line` are shared alike.
    """
    main_job(session)


@nox.session(venv_backend=BACKEND, default=False)
def publish(session: nox.Session) -> None:
    """Run every cell, and put the report into reports/published and its excerpt into the README: commit them.

    Ends well also where this machine lacks a Python other than the line's, and says so. What was seen with it before
    stays in the report.
    """
    if ON_CLUSTER:
        main_job(session)
        code = Exit.AS_EXPECTED
    else:
        code = main([*COMMANDS["publish"], *session.posargs])
    # Both follow from the report.
    for follows in ("readme", "choose"):
        main([follows])
    if code:
        session.error(f"published all the same: {code.name.lower()}")


@nox.session(venv_backend="none", default=False)
def run(session: nox.Session) -> None:
    """Run a stack of your own, or any cell, and say what it does: `nox -s run -- jax-0.4.36+diffrax-0.6.0`.

    The worst first, with the workaround where one was run there and holds. `-- CELL --issue ID` narrows to an issue.
    `nox -s report` then has it beside the other cells.
    """
    suite(session)


@nox.session(venv_backend="none", default=False)
def report(session: nox.Session) -> None:
    """Judge and report what was run so far, or just now, into reports/latest: `nox -s "cell(jax-0.4.30)" report`.

    What a bisection ran is not among it. `-- --to FOLDER` writes it elsewhere.
    """
    suite(session)


command(
    "check",
    "Say what bites a lock, an environment or a stack, by what was run: `nox -s check -- --lock uv.lock`. What else it "
    "looks up, `-- --help` tells.",
)
command(
    "try",
    "Run what concerns a package that is not released yet, in a released stack; say what it breaks and mends there: "
    "`nox -s try -- equinox=../equinox --against jax-0.10.2`.",
)
command("explain", "Look a traceback or an error message up: `nox -s explain -- traceback.txt`.")
command("merge", "Join the reports of a run's shards: `nox -s merge -- FOLDER…`, into reports/latest or `--to FOLDER`.")
command(
    "diff",
    "Say what one report shows that another did not: `nox -s diff -- OLD NEW`. Fails where something regressed; with "
    "`--strict`, also where something is gone or was not learned.",
)


@nox.session(venv_backend="none", default=False)
def rebuild(session: nox.Session) -> None:
    """Make anew what follows from reports/published/compat.json, the README's excerpt too; or from `-- FOLDER`'s."""
    suite(session)
    if not session.posargs:
        main(["readme"])


@nox.session(venv_backend="none", default=False)
def bisect(session: nox.Session) -> None:
    """Find the release where a case changes: `nox -s bisect -- tracer-hash-while-loop/hash-tracer`.

    Over the line's releases of jax, or of `--package equinox`; `--hold jax==0.9.2` goes along an arm. Linked packages
    move together. n releases take at most ⌈log2 n⌉ + 3 cell runs, less what is on record, more where one cannot be
    tested. `--between A B` narrows, `--find first-affected` or `first-clear` insists, `--scan` runs all of them.
    """
    suite(session)


command(
    "clean",
    "Free the disk that environments take: remove them and the store of packages. Records, reports, locks, logs and "
    "timings are kept. What is known stays known; other cells fetch their packages again.",
)
command(
    "discover",
    "Read the index, lock and run what is new since the snapshot, and say what it does otherwise: a release day. "
    "A release is never lost but by `-- --forget`.",
)
command(
    "snapshot",
    "Read what the package index offers into suite/stack/releases.json, and say what is new: nothing is lost but by "
    "`-- --forget`.",
)
command("threads", "Look up what upstream's threads are called and how they stand, into suite/issues/threads.json.")
command(
    "names",
    "Ask each release for its public names and their parameters, and publish when they came and went, and "
    "which the stack's own releases need. A release is asked once; `-- --fresh` asks all of them again.",
)
command("lock", "Resolve every planned cell as of its release's day into suite/stack/locks: the same bytes each time.")
command(
    "choose",
    "Compute what `nox -s compat` runs, and what each case costs, from the published report: suite/stack/default.json.",
)
command(
    "rekey",
    "Move the records that hold under a commit to the keys of this tree, after a change that changes no run: "
    "`nox -s rekey -- HEAD~1`. Some of them are run again from nothing, and what differs is printed.",
)


@nox.session(venv_backend="none", default=False)
def wheel(session: nox.Session) -> None:
    """Build what a release uploads into dist/: a wheel of code and data, and an sdist."""
    session.run(uv_call.found(), "build", "--quiet", "--out-dir", "dist", "--clear", external=True)


command("pins", "Pin the driver's own packages anew: constraints.txt, and from it the header of this file.")
command(
    "cost",
    "Time `nox -s compat` and one release with all cases run again, an unchanged run, and answers of `check`.",
)


@nox.session(name="device-programs", venv_backend="none", default=False)
def device_programs(session: nox.Session) -> None:
    """Compile small programs for an H100 and a TPU v5e that are not there, and say what changed along the releases.

    Every release of jax from 0.4.38 on, or those named: `-- jax-0.10.2 jax-0.11.0 --target h100`. It says first what it
    fetches; what is known is not compiled again, `-- --fresh` does. `-- --diff jax-0.10.2 jax-0.11.0 scan` shows the
    two programs. A compiler that cannot be had here is told in a sentence, and fails nothing. `-- --python PATH` holds
    what a device that is there makes of them against what was compiled without it.
    """
    suite(session, well=(Exit.AS_EXPECTED, Exit.INCOMPLETE))


command(
    "line",
    "Prepare plain asv: build the release line, its project, find the interpreter that it needs, and add this machine "
    "to ~/.asv-machine.json. It prints an `asv continuous` of two releases, to be pasted; any others do as well.",
    timings,
)


@nox.session(default=False, reuse_venv=True)
def bench(session: nox.Session) -> None:
    """Time the default cells, or those named: `nox -s bench -- jax-0.9.2 --bench Scan`.

    What has a result is not measured again; `-- --fresh` does, `-- --line` takes every release. Results stay out of the
    tree, but with `-- --keep`, which copies them into benchmarks/results. `-- --smoke` runs each benchmark once.
    `-- --python PATH` measures the stack of that interpreter, on a GPU or a TPU.
    """
    timings(session)


@nox.session(name="bench-compare", default=False, reuse_venv=True)
def bench_compare(session: nox.Session) -> None:
    """Time two releases in turns, and say what got slower: `nox -s bench-compare -- jax-0.9.2 jax-0.10.2`.

    Eight processes of each side, or `--processes N`; what looks changed is measured again. `--bench REGEX` narrows.
    It says first about how long it takes. Nothing is kept but with `--keep`, which puts what was judged beside the
    published results.
    """
    timings(session)


@nox.session(name="bench-count", default=False, reuse_venv=True)
def bench_count(session: nox.Session) -> None:
    """Count what the host does: instructions by callgrind, and calls in Python.

    Of the default cells, those named, or `-- --line`; what is known is not counted again, so a run can be ended and
    gone on with. `-- --keep` copies the counts into benchmarks/counts. A release takes a quarter of an hour, less with
    `--bench`; calls alone, with `-- --calls` or where there is no valgrind, some seconds.
    """
    timings(session)


command(
    "bench-noise",
    "Time one release against itself: what this machine's verdicts are worth, and each benchmark's own fence.",
    timings,
)
command("bench-publish", "Make asv's site of the results, in reports/timings.", timings)


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
    # tests take the longest, and are not left for the end. Some wait for others' processes: one more than cores.
    spread = (f"--numprocesses={(os.cpu_count() or 1) + 1}", "--dist=loadfile", "--no-loadscope-reorder")
    # They start dozens of interpreters, each of which would compile all anew where none is to write what it compiled
    # beside the source: then that goes into nox's own folder.
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
