"""The one command line, `python -m suite`: which words there are, what they mean, and what a wrong one is told.

The nox sessions are called by the same words. A command is a function, found by its name, and its parameters are the
options of the same names. Reading the words needs nothing but the standard library, until one of them names a cell, an
issue or a tag.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from suite.check.command_line import add as add_check
from suite.check.command_line import add_try, call, parse_words
from suite.errors import Exit, Misused, guarded

_REPORTS = Path(__file__).resolve().parent.parent / "reports"

_CODES = "Exit codes: 0 {0}; 1 {1}; 2 the command or a file is wrong; 3 {2}."
_RUN_CODES = _CODES.format(
    "all planned observations made and as expected", "something is not as expected", "something did not run"
)
_VERBOSE = "report every case on the line and the arms, and every undecided one"
_STATE = "Environments and records are kept in .suite, or where SUITE_STATE says."


def main(words: Sequence[str]) -> Exit:
    """Run one command; its exit code. Raises SystemExit for words that cannot be meant, and for --help."""
    with guarded() as guard:
        if sys.flags.optimize > 1:
            raise Misused("issues need their docstrings, which -OO and PYTHONOPTIMIZE=2 remove: run without them")
        options = parse(words)
        # It needs packages, and words that cannot be meant are told without.
        guard.code = call(options)
    return guard.code


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return what `words` mean; cells and issues are looked up.

    Raises SystemExit, once it has said why, for words that there are not; Misused for what cannot go together; BadFile.
    """
    parser, _ = _parser()
    options = parse_words(parser, words)
    if options.command in ("run", "report") and options.shard and not getattr(options, "tag", None):
        raise Misused(f"a shard is a part of the cells with a tag: report --tag line --shard {options.shard}")
    if options.command in ("compat", "report"):
        partial = options.issue or options.shard or options.rows == "headlines" or options.tag == "default"
        if os.path.realpath(options.to) == str(_REPORTS / "published") and partial:
            raise Misused("reports/published holds full runs only: run a part with `nox -s compat-full -- …`")
    if options.command == "report" and options.cells and options.tag:
        raise Misused(f"cells do not combine with --tag {options.tag}: leave one of them out")
    return options


def explained() -> dict[str, str]:
    """Return a summary of each command, `bench run` being one, with what else there is to say, and its exit codes."""
    told = {}
    for name, parser in _parser()[1].items():
        summary, _, more = " ".join((parser.description or "").split()).partition(". ")
        told[name] = "\n\n".join(filter(None, (f"{summary.removesuffix('.')}.", more, parser.epilog)))
    return told


def _parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of all words, and that of each command."""
    parser = argparse.ArgumentParser(
        prog="python -m suite",
        description="Runs every documented JAX / Equinox / Diffrax issue on real releases, and reports what was seen.",
        epilog=f"{_RUN_CODES} `python -m suite COMMAND --help` explains one. {_STATE}",
    )
    chosen = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, help: str, carry_out: str = "", rest: str = "", **more: Any) -> argparse.ArgumentParser:
        made = chosen.add_parser(name, help=help, description=_sentence(help, rest), **more)
        made.set_defaults(carry_out=carry_out or f"commands:{name}")
        return made

    add_check(command)
    add_try(command)
    common = _of_a_run()
    running_all = command(
        "compat",
        "run what is left of the cells with a tag, and report on all of it",
        parents=[common],
        rest="With the default tag that is every headline on the newest release, and on four others the headlines that "
        "show something new there. Cases run side by side, one per core. Machines can share a run: the third of ten "
        "runs --shard 3/10 and hands on the folder of its report; `merge` joins the ten, and counts what nobody "
        "brought as not run.",
        epilog=f"{_RUN_CODES} Cached cases are not run again. {_STATE}",
    )
    running_all.add_argument("--tag", default="default", type=_tag, help="default, line or full (default: %(default)s)")
    planned = "print what would run, what to fetch and how much disk it takes, and run nothing"
    running_all.add_argument("--plan", action="store_true", help=planned)
    running = command(
        "run",
        "run issues in cells, and say what they do there, the worst first",
        parents=[common],
        rest="Each comes with its workaround, if one was run there and helps.",
        epilog=f"{_RUN_CODES} Cached cases are not run again. {_STATE}",
    )
    recording = command("record", "run issues in cells, and write down what they do for a report", parents=[common])
    for each in (running, recording):
        stack = "a cell, such as jax-0.4.30, or a stack of yours: jax-0.4.36+diffrax-0.6.0"
        each.add_argument("cells", nargs="+", type=_cell, metavar="CELL", help=stack)
    known = "judge the records and report on them, without those of bisections"
    reporting = command("report", known, parents=[common], epilog=_RUN_CODES)
    reporting.add_argument("cells", nargs="*", type=_cell, metavar="CELL", help="default: those that were run")
    reporting.add_argument("--tag", type=_tag, help="all cells with this tag, run or not: default, line or full")
    merging = command("merge", "join the reports of a run's shards into one", epilog=_RUN_CODES)
    shards = "a compat.json, or a folder with one; a file that `check --confirm` left becomes a cell of its own"
    merging.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help=shards)
    _add_to(merging)
    merging.add_argument("--verbose", action="store_true", help=_VERBOSE)
    differing = command(
        "diff",
        "print what changed between two reports",
        epilog="Exit codes: 0 nothing regressed; 1 something did, or --strict; 2 the command or a file is wrong.",
    )
    gate = "for a gate: also exit 1 if anything is gone, or is undecided in one of the two (spurious)"
    differing.add_argument("--strict", action="store_true", help=gate)
    differing.add_argument("old", type=Path, metavar="OLD", help="a compat.json, or a folder with one")
    differing.add_argument("new", type=Path, metavar="NEW", help="the same")
    formats = ("terminal", "markdown", "json")
    differing.add_argument("--format", choices=formats, default="terminal", help="default: %(default)s")
    what_follows = "rewrite the files made from a report; for the published one, the documents' excerpts too"
    rebuilding = command("rebuild", what_follows)
    default, told = _REPORTS / "published", "default: reports/published"
    rebuilding.add_argument("folder", nargs="?", type=Path, default=default, metavar="FOLDER", help=told)
    cleaning = command("clean", "free the disk that environments take, and keep the records")
    cleaning.epilog = (
        "Removes the environments and the store of packages, some gigabytes. Keeps records, reports, locks, logs, the "
        "release line, timings and interpreters: what is known stays known. A cell that has something left to run "
        "fetches its packages again. An environment that another run is using is kept. "
        f"Exit codes: 0 done, or nothing to do; 3 the disk refused. {_STATE}"
    )
    few = "find the release where a case changes, in few cell runs"
    _add_bisect(command("bisect", few, "bisect.session:carry_out"))
    what_is_new = "read the index; lock, run and compare what is new since the snapshot"
    discovering = command("discover", what_is_new, "upkeep.discover:carry_out", epilog=_RUN_CODES)
    command("lock", "resolve every cell as of its day, and write the same locks each time", "commands:write_locks")
    reading = command("snapshot", "read the index into releases.json", "commands:write_snapshot")
    for each in (discovering, reading):
        forgotten = "remove what the index no longer has from releases.json; without it, exit 3 and write nothing"
        each.add_argument("--forget", action="store_true", help=forgotten)
    upstream = "look up the titles and states of upstream's threads, into suite/issues/threads.json"
    command("threads", upstream, "commands:renew_threads")
    naming = command(
        "names",
        "ask the releases of the stack for their names, and publish them",
        "commands:publish_names",
        "It says of each public name and parameter when it came and went, and which the stack's own releases need.",
    )
    naming.add_argument("--fresh", action="store_true", help="ask every release again, not only those that are new")
    numbering = command(
        "numbers",
        "call the numerical functions of jax on its releases, and publish what they return",
        "commands:publish_numbers",
        "Each call is compared with a reference, and with the release before. Releases that were measured are kept.",
    )
    numbering.add_argument("cells", nargs="*", type=_cell, metavar="CELL", help="default: every release of jax")
    numbering.add_argument("--fresh", action="store_true", help="measure every release again")
    command(
        "line",
        "build the release line, and print a command of asv's that runs on it",
        "commands:build_line",
        "It prepares plain asv: its project, the interpreter that it needs, and an entry for this machine in "
        "~/.asv-machine.json. The command compares two releases; any others do as well.",
    )
    timing = command("bench", "time the stack along the release line, with asv", "timings.bench:carry_out")
    works = {f"bench {work}": of for work, of in _add_bench(timing).items()}
    compiling = "compile for devices that are not there, and count"
    _add_programs(command("programs", compiling, "programs.session:carry_out"))
    command("readme", "put an excerpt of the published report into the README", "upkeep.readme:renew")
    to_keys = "move records to this tree's keys, after a change that changes no run"
    moving = command("rekey", to_keys, "upkeep.rekey:rekey")
    moving.add_argument("commit", metavar="COMMIT", help="the commit under whose keys the records hold, such as HEAD~1")
    again = "run this many of them again, drawn at random, and print those that differ (default: %(default)s)"
    moving.add_argument("--draw", type=int, default=500, metavar="N", help=again)
    chosen_rows = "compute from the published report what the default plan runs, and what each case costs"
    command("choose", chosen_rows, "upkeep.choose:write_all")
    command(
        "pins",
        "renew the pins of the driver's own packages: constraints.txt, the noxfile's header",
        "upkeep.pins:renew",
    )
    command("cost", "time runs and answers, each against the time that it needs at least", "upkeep.cost:measure")
    return parser, {**chosen.choices, **works}


def _sentence(help: str, rest: str = "") -> str:
    return f"{help[0].upper()}{help[1:]}. {rest}".rstrip()


def _of_a_run() -> argparse.ArgumentParser:
    """The options that all sessions of a run are given, each of which looks at its own."""
    parser = argparse.ArgumentParser(add_help=False)
    one = "only this issue, by case; may be repeated"
    parser.add_argument("--issue", action="append", default=[], type=_issue, metavar="ID", help=one)
    rows = parser.add_mutually_exclusive_group()
    first = "the first case of each issue; the default cells run it only where it shows something new"
    rows.add_argument(
        "--all-headlines", "--headlines", dest="rows", action="store_const", const="headlines", help=first
    )
    rows.add_argument("--all-cases", dest="rows", action="store_const", const="cases", help="every case of each issue")
    parser.add_argument("--fresh", action="store_true", help="run cached cases again, too")
    parser.add_argument("--verbose", action="store_true", help=_VERBOSE)
    parser.add_argument(
        "--shard", type=_shard, metavar="3/10", help="3/10: only the third of ten parts, which cost the same"
    )
    on_workers = "run on the workers of this Dask scheduler: tcp://host:8786 (see suite/run/spread/cluster.py)"
    parser.add_argument("--scheduler", metavar="ADDRESS", help=on_workers)
    _add_to(parser)
    return parser


def _add_to(parser: argparse.ArgumentParser) -> None:
    where = "where the report goes (default: reports/latest)"
    parser.add_argument("--to", type=Path, default=_REPORTS / "latest", metavar="FOLDER", help=where)


def _add_bisect(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Finds the release of a package where a case changes between affected and not. A release that cannot be tested "
        "counts as neither: the search goes around it. Linked packages move together: each jax comes with its jaxlib. "
        "n releases take at most ⌈log2 n⌉ + 3 cell runs, less those on record, more if one cannot be tested."
    )
    wrong = "not as expected, or the end points agree or show the opposite"
    codes = _CODES.format("found, to the release, and as expected", wrong, "not exact, or something did not run")
    parser.epilog = f"{codes} Records are used."
    headline = "such as tracer-hash-while-loop/hash-tracer; ISSUE alone is its headline"
    parser.add_argument("case", metavar="ISSUE/CASE", help=headline)
    parser.add_argument("--package", default="jax", help="what moves: jax, equinox or diffrax (default: %(default)s)")
    arm = "along an arm that holds this; may be repeated"
    parser.add_argument("--hold", action="append", default=[], metavar="NAME==VERSION", help=arm)
    parser.add_argument("--between", nargs=2, metavar=("A", "B"), help="only these releases and what is between them")
    parser.add_argument("--find", choices=("first-affected", "first-clear"), help="default: what the end points show")
    parser.add_argument("--scan", action="store_true", help="run every release, and show every interval")
    parser.add_argument("--fresh", action="store_true", help="do not use records")


def _add_bench(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    codes = ("all was measured, and nothing is slower", "something is slower, and confirmed")
    parser.epilog = (
        _CODES.format(*codes, "something was not measured, or failed")
        + " And 4: noise left something undecided; nox does not fail on it."
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--bench", action="append", metavar="REGEX", help="only these benchmarks; may be repeated")
    common.add_argument("--machine", metavar="NAME", help="file the results under this name (default: the processor's)")
    chosen = parser.add_subparsers(dest="work", required=True, metavar="WORK")

    def work(name: str, help: str, rest: str = "") -> argparse.ArgumentParser:
        return chosen.add_parser(name, parents=[common], help=help, description=_sentence(help, rest))

    running = work("run", "measure cells, and keep the results", "The default set of benchmarks leaves out the large.")
    counting = work(
        "count",
        "count the host's work: calls in Python and, with valgrind, instructions",
        "An interrupted run can be continued. A release takes a quarter of an hour, less with --bench; its calls alone "
        "some seconds.",
    )
    for each in (running, counting):
        each.add_argument("cells", nargs="*", type=_of_line, metavar="CELL", help="default: the default ones")
        each.add_argument("--line", action="store_true", help="every cell of the line")
        each.add_argument("--fresh", action="store_true", help="measure again where a result exists")
    own = "time the packages of this interpreter, on its device"
    running.add_argument("--python", type=Path, metavar="PATH", help=own)
    running.add_argument("--smoke", action="store_true", help="each benchmark once, and nothing kept")
    counting.add_argument("--calls", action="store_true", help="only the calls: minutes for a release and no valgrind")
    comparing = work(
        "compare",
        "measure two cells in turns, and say what got slower",
        "Apparent changes are measured again. An estimate of the time is printed first.",
    )
    comparing.add_argument("base", type=_of_line, metavar="A")
    comparing.add_argument("other", type=_of_line, metavar="B")
    comparing.add_argument(
        "--processes", type=int, metavar="N", help="processes for each cell (default: the fewest that decide)"
    )
    kept = "write the judgements to benchmarks/compared, for the published page; without it, keep nothing"
    comparing.add_argument("--keep", action="store_true", help=kept)
    noisy = work(
        "noise",
        "measure a cell against itself",
        "It shows how reliable this machine's verdicts are, and gives each benchmark its own fence.",
    )
    noisy.add_argument("cell", nargs="?", type=_of_line, metavar="CELL", help="default: the newest default one")
    noisy.add_argument("--processes", type=int, metavar="N", help="of both sides (default: the fewest that decide)")
    put = "also copy all results measured here to benchmarks/, for the published page"
    for each in (running, counting, noisy):
        each.add_argument("--keep", action="store_true", help=put)
    work("publish", "make asv's site of the results, in reports/timings")
    return chosen.choices


def _add_programs(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Has releases of jax compile small programs for an NVIDIA H100 and for a TPU v5e, on a machine that has "
        "neither, and counts what is in them: kernels launched, fusions, copies, bytes, instructions. Nothing is run. "
        "The download size is printed first: each release needs a compiler for the device, of 120 to 230 MB. Cached "
        "programs are not compiled again. The counts are kept in benchmarks/programs, and the last lines say what "
        "changed from one release to the next."
    )
    parser.epilog = (
        f"{_CODES.format('all is known', 'does not occur', 'something could not be compiled here')} {_STATE}"
    )
    every = "default: every release of jax from 0.4.38 on"
    parser.add_argument("cells", nargs="*", type=_program_cell, metavar="CELL", help=every)
    parser.add_argument("--target", choices=("h100", "v5e"), help="only this device (default: both; of --diff, h100)")
    parser.add_argument("--fresh", action="store_true", help="compile cached programs again, too")
    two = "compile nothing, and show the diff of the optimised HLO of two releases: jax-0.9.0 jax-0.11.0 scan"
    parser.add_argument("--diff", nargs=3, metavar=("A", "B", "WORKLOAD"), help=two)
    there = "on a machine with the device: compare its programs with those compiled without it"
    parser.add_argument("--python", type=Path, metavar="PATH", help=there)


def _named(where: str) -> Callable[[str], Any]:
    """Return a function that looks a word up; argparse says which option it was that named nothing."""

    def look_up(text: str) -> Any:
        try:
            return resolve_name(f"suite.{where}")(text)
        except Misused as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return look_up


_cell = _named("stack.plan:stack")
_of_line = _named("timings.release_line:cell")
_program_cell = _named("programs.session:cell")
_issue = _named("catalogue.catalogue:identified")
_shard = _named("run.spread.shard:parse")


def _tag(text: str) -> str:
    if text not in (tags := resolve_name("suite.stack.plan:TAGS")):
        raise argparse.ArgumentTypeError(f"no tag {text!r}: there are {', '.join(tags)}")
    return text


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("interrupted: finished work is kept; rerun the command to continue", file=sys.stderr)
        sys.exit(130)
