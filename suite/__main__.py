"""`python -m suite`: what the nox sessions do, one command each."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from suite import commands
from suite.bisect.search import FINDS
from suite.files import REPORTS, BadFile, Failed, Misused
from suite.report.formats.diff import FORMATS
from suite.report.summary import Exit
from suite.run import catalogue, shard
from suite.stack import plan
from suite.upkeep import cost, discover, pins, readme, upkeep

ERR = Console(stderr=True, highlight=False)


def arguments() -> argparse.ArgumentParser:
    """The options that `nox -s compat -- …` and its like take too."""
    parser = argparse.ArgumentParser(prog="nox -s compat --", add_help=False)
    parser.add_argument("--issue", action="append", default=[], metavar="ID", help="only this issue; may be repeated")
    parser.add_argument("--fresh", action="store_true", help="run again what is known and unchanged, too")
    parser.add_argument("--shard", type=_shard, metavar="3/10", help="only the third of ten parts, that cost the same")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the workers of this Dask scheduler: tcp://host:8786"
    )
    return parser


def _shard(text: str) -> shard.Shard:
    try:
        return shard.parse(text)
    except Misused as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def main(words: Sequence[str], *, checked: bool = False) -> Exit:
    """Run one command; its exit code. `checked`: that every file a run depends on can be read is known."""
    common = arguments()
    parser = argparse.ArgumentParser(
        prog="python -m suite",
        description="Runs every documented JAX / Equinox / Diffrax issue on real releases, and reports what was seen.",
        epilog="Exit codes: 0 all planned observations made and as expected; 1 something is not as expected; "
        "2 the command or a file is wrong; 3 something did not run. "
        "Environments and records are kept in .suite, or where SUITE_STATE says.",
    )
    chosen = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    planning = chosen.add_parser("plan", parents=[common], help="say what would run, and how much there is to fetch")
    planning.add_argument("--tag", default="default", choices=plan.TAGS, help="which cells (default: %(default)s)")
    running = chosen.add_parser("run", parents=[common], help="run issues in cells, and write down what they do")
    running.add_argument(
        "cells",
        nargs="+",
        metavar="CELL",
        help="a cell, such as jax-0.4.30, or a stack of yours: jax-0.4.36+diffrax-0.6.0",
    )
    reporting = chosen.add_parser("report", parents=[common], help="judge and report what records there are")
    reporting.add_argument("--tag", choices=plan.TAGS, help="require all cells with this tag")
    reporting.add_argument(
        "--to", type=Path, default=REPORTS / "latest", metavar="FOLDER", help="default: reports/latest"
    )
    merging = chosen.add_parser("merge", help="join the reports of a run's shards into one")
    merging.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="a compat.json, or a folder with one")
    merging.add_argument(
        "--to", type=Path, default=REPORTS / "latest", metavar="FOLDER", help="default: reports/latest"
    )
    differing = chosen.add_parser("diff", help="say what one report shows that another did not")
    differing.description = "Says what NEW shows that OLD did not, and what was run otherwise."
    differing.epilog = "Exit codes: 0 nothing is worse; 1 something regressed; 2 the command or a file is wrong."
    differing.add_argument("old", type=Path, metavar="OLD", help="a compat.json, or a folder with one")
    differing.add_argument("new", type=Path, metavar="NEW", help="the same")
    differing.add_argument("--format", choices=FORMATS, default="terminal", help="default: %(default)s")
    rebuilding = chosen.add_parser("rebuild", help="make what lies beside a compat.json anew, from that alone")
    rebuilding.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=REPORTS / "published",
        metavar="FOLDER",
        help="default: reports/published",
    )
    _add_bisect(chosen.add_parser("bisect", help="find the release where a case changes, in few cell runs"))
    chosen.add_parser("discover", help="read the index; lock, run and compare what is new since the snapshot")
    chosen.add_parser("lock", help="resolve every cell as of its day, and write the locks")
    chosen.add_parser("snapshot", help="read the index into releases.json")
    chosen.add_parser("readme", help="put an excerpt of the published report into the README")
    chosen.add_parser("pins", help="pin the driver's own packages anew")
    chosen.add_parser("cost", help="time a warm run against the ideal and against the obvious loop")
    keeping = chosen.add_parser("upkeep", help="time a run from nothing, and an unchanged run, an edit, an addition")
    keeping.add_argument("--tag", default="default", choices=plan.TAGS, help="of which cells (default: %(default)s)")
    options = parser.parse_args(words)
    with guarded() as guard:
        if options.command in ("plan", "run", "report") and not checked:
            commands.check()
        match options.command:
            case "plan":
                cells = commands.share(plan.tagged(options.tag), options.shard)
                commands.show_plan(cells, catalogue.select(options.issue), fresh=options.fresh)
            case "run":
                entries = catalogue.select(options.issue)
                cells = tuple(plan.stack(identifier) for identifier in options.cells)
                if options.scheduler:
                    commands.run_on_cluster(options.scheduler, cells, entries, fresh=options.fresh)
                else:
                    for cell in cells:
                        commands.run_cell(cell, entries, fresh=options.fresh)
            case "report":
                if options.shard and not options.tag:
                    raise Misused(f"a shard is a part of the cells with a tag: --tag line --shard {options.shard}")
                planned = plan.tagged(options.tag) if options.tag else commands.recorded()
                cells = commands.share(planned, options.shard)
                if not cells:
                    raise Misused(f"nothing is left for shard {options.shard}: there are only {len(planned)} cells")
                entries = catalogue.select(options.issue)
                guard.code = commands.report(cells, entries, options.to, planned, options.shard)
            case "discover":
                guard.code = discover.discover(catalogue.entries(), commands.OUT)
            case "merge":
                guard.code = commands.merge(options.shards, options.to)
            case "diff":
                guard.code = commands.diff(options.old, options.new, options.format)
            case "rebuild":
                commands.rebuild(options.folder)
            case "bisect":
                guard.code = commands.bisect(
                    options.case,
                    options.package,
                    options.hold,
                    options.between,
                    find=options.find,
                    scan=options.scan,
                    fresh=options.fresh,
                )
            case "lock":
                commands.write_locks()
            case "snapshot":
                commands.write_snapshot()
            case "readme":
                readme.renew()
            case "pins":
                pins.renew()
            case "cost":
                cost.measure(commands.OUT)
            case "upkeep":
                upkeep.measure(options.tag, commands.OUT)
    return guard.code


def _add_bisect(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Finds the release of a package where a case changes between affected and not. A release that cannot be tested "
        "is never taken for either: it is gone round. Linked packages move together: each jax comes with its jaxlib."
    )
    parser.epilog = (
        "Exit codes: 0 found, to the release, and as expected; 1 not as expected, or the end points agree or show the "
        "opposite; 2 the command or a file is wrong; 3 not exact, or something did not run. What is on record is used."
    )
    parser.add_argument(
        "case", metavar="ISSUE/CASE", help="such as tracer-hash-while-loop/hash-tracer; ISSUE alone is its headline"
    )
    parser.add_argument("--package", default="jax", help="what moves: jax, equinox or diffrax (default: %(default)s)")
    parser.add_argument(
        "--hold",
        action="append",
        default=[],
        metavar="NAME==VERSION",
        help="along an arm that holds this; may be repeated",
    )
    parser.add_argument("--between", nargs=2, metavar=("A", "B"), help="only these releases and what is between them")
    parser.add_argument("--find", choices=FINDS, help="default: what the end points show")
    parser.add_argument("--scan", action="store_true", help="run every release, and show every interval")
    parser.add_argument("--fresh", action="store_true", help="take no answer from the records")


@dataclass
class Guard:
    """What the command under `guarded` ends with."""

    code: Exit = Exit.AS_EXPECTED


@contextmanager
def guarded() -> Iterator[Guard]:
    """Turn what a user or a machine can cause into a sentence and an exit code; a fault of ours keeps its traceback."""
    guard = Guard()
    try:
        yield guard
    except BadFile as error:
        for fault in error.faults:
            ERR.print(f"[red]error[/red]: {escape(str(fault))}", soft_wrap=True)
        guard.code = Exit.MISUSED
    except Misused as error:
        ERR.print(f"[red]error[/red]: {escape(str(error))}", soft_wrap=True)
        guard.code = Exit.MISUSED
    except Failed as error:
        ERR.print(f"[red]error[/red]: {escape(str(error))}", soft_wrap=True)
        guard.code = Exit.INCOMPLETE
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES):
            raise
        where = escape(str(error.filename or "a file"))
        ERR.print(f"[red]error[/red]: cannot write {where}: {error.strerror}", soft_wrap=True)
        ERR.print("What had finished is kept: make room, and run the same command again.")
        guard.code = Exit.INCOMPLETE


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        ERR.print("interrupted: what had finished is kept, and the same command goes on from there")
        sys.exit(130)
