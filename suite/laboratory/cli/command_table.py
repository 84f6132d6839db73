"""The table of the laboratory's commands and of nox's sessions, which the documents' tables come from, too."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name

from jax_stack_compat.command_table import Command, Option, flag, named, option

REPORTS = Path(__file__).resolve().parents[3] / "reports"


def _tag(text: str) -> str:
    if text not in (tags := resolve_name("jax_stack_compat.stack.plan:TAGS")):
        raise argparse.ArgumentTypeError(f"no tag {text!r}: there are {', '.join(tags)}")
    return text


def _codes(good: str, bad: str, open: str) -> str:
    return f"Exit codes: 0 {good}; 1 {bad}; 2 the command or a file is wrong; 3 {open}."


# fmt: off
STATE = "Environments and records are kept in .suite, or in the folder that SUITE_STATE names."
RUN_CODES = _codes(
    "all planned observations made and as expected", "something is not as expected", "something did not run")
_CACHED = f"{RUN_CODES} Cached cases are not run again. {STATE}"
_CELL, _OF_LINE = named("jax_stack_compat.stack.plan:stack"), named("laboratory.timings.release_line:cell")
_REPORT = "a compat.json, or a folder with one"
_VERBOSE = flag("--verbose", "report every case on the line and the arms, and every undecided one")
_TO = option("--to FOLDER", "where the report goes (default: reports/latest)", type=Path, default=REPORTS / "latest")
_SCHEDULER = option("--scheduler ADDRESS",
                     "run on the workers of this Dask scheduler: tcp://host:8786 (see docs/running.md)")
# All sessions of one nox run get the same options, and each uses its own.
_OF_A_RUN = (
    option("--issue ID", "only this issue, with a line for each case; may be repeated", action="append", default=[],
            type=named("jax_stack_compat.catalogue.catalogue:identified")),
    Option(("--all-headlines", "--headlines"), {
        "help": "the first case of each issue; the default cells run it only where it shows something new",
        "dest": "rows", "action": "store_const", "const": "headlines"}, either=True),
    Option(("--all-cases",), {
        "help": "every case of each issue", "dest": "rows", "action": "store_const", "const": "cases"}, either=True),
    flag("--fresh", "also run cached cases again"), _VERBOSE,
    option("--shard 3/10", "only a part of the cells: 3/10 is the third of ten parts of equal cost",
            type=named("laboratory.run.spread.shard:parse")),
    _SCHEDULER, _TO,
)
_RUN = (*_OF_A_RUN, option("cells CELL", "a cell, such as jax-0.4.30, or your own stack: jax-0.4.36+diffrax-0.6.0",
                            nargs="+", type=_CELL))
_FORGET = flag("--forget",
                "drop releases that the index no longer has; without this option, exit 3 and write nothing")
_OF_ASV = (
    option("--bench REGEX", "only these benchmarks; may be repeated", action="append"),
    option("--machine NAME", "file the results under this name (default: the processor's)"),
)
_TIMED = (
    *_OF_ASV, option("cells CELL", "default: the default cells", nargs="*", type=_OF_LINE),
    flag("--line", "every cell of the line"), flag("--fresh", "measure again, even if a result exists"),
)
_PUT = flag("--keep", "also copy all results measured here to benchmarks/, for the published page")

COMMANDS = (
    Command("compat", "run the cases without a valid record, in the cells with a tag, and report on all cases",
            "laboratory.cli.commands:compat", (
        *_OF_A_RUN, option("--tag", "default, line or full (default: %(default)s)", default="default", type=_tag),
        flag("--plan", "print the cases to run, the download and the disk space, and run nothing")),
        "The default tag has every headline on the newest release, and on four other releases the headlines that "
        "show something new there. Cases run side by side, one per core. Machines can share a run: the third of ten "
        "runs --shard 3/10 and passes on the folder of its report. `merge` joins the ten reports, and counts "
        "missing cases as not run.", codes=_CACHED),
    Command("run", "run issues in cells, and print the results, the worst first", "laboratory.cli.commands:run", _RUN,
            "A result comes with its workaround, if that was run there and helps.", codes=_CACHED),
    Command("record", "run issues in cells, and keep the records for a report", "laboratory.cli.commands:record", _RUN),
    Command("report", "judge the records, and write a report to reports/latest: pages, data and tables",
            "laboratory.cli.commands:report", (
        *_OF_A_RUN, option("cells CELL", "default: the cells that were run", nargs="*", type=_CELL),
        option("--tag", "all cells with this tag, run or not: default, line or full", type=_tag),
        flag("--published", "the published report, made from the packed records (default: if nothing was run here)")),
        codes=RUN_CODES),
    Command("orders", "write a folder of orders for a machine that has a device and nothing else",
            "laboratory.orders.folder:orders", (
        option("--for DEVICE", "write orders for this kind of device: gpu, tpu, or cpu for a rehearsal",
                dest="device", required=True, choices=("gpu", "tpu", "cpu")),
        option("--issue ID", "only this issue, without numbers, programs and timings; may be repeated",
                action="append", default=[], type=named("jax_stack_compat.catalogue.catalogue:identified")),
        option("--to FOLDER", "where the orders go", type=Path, required=True),
        option("--with-wheels 0.8.0", "also bring the packages of this release of jax, in parts of 45 MiB")),
        "Copy the folder to that machine, and start run.py there with an interpreter that has jax. It needs the "
        "standard library alone, installs and fetches nothing, and leaves one archive. `merge` brings it home.",
        codes="Exit codes: 0 written; 2 the command or a file is wrong."),
    Command("merge", "join the reports of a run's shards into one, or bring results of orders home",
            "laboratory.cli.commands:merge", (
        option("shards SHARD", f"{_REPORT}; or an archive that run.py left", nargs="+", type=Path), _TO, _VERBOSE),
        codes=RUN_CODES),
    Command("diff", "print what changed between two reports", "laboratory.cli.commands:diff", (
        flag("--strict", "exit 1 also if an observation is missing, or undecided in one report"),
        option("old OLD", _REPORT, type=Path), option("new NEW", "the same", type=Path),
        option("--format", "default: %(default)s", choices=("terminal", "markdown", "json"), default="terminal")),
        codes="Exit codes: 0 nothing regressed; 1 something did, or --strict; 2 the command or a file is wrong."),
    Command("publish", "run every cell, pack the records, and rewrite the tracked files that follow from them",
            "laboratory.cli.commands:publish", (
        _SCHEDULER, _TO, flag("--fresh", "also run cached cases again"), _VERBOSE,
        flag("--plan", "print the cases to run, the download and the disk space, and write nothing"),
        Option(("--no-run",), {"help": "run nothing: publish the records that are here", "dest": "run",
                               "action": "store_false"})),
            "The packed records count as this machine's.", codes=RUN_CODES),
    Command("rebuild", "rewrite the tracked files that follow from the packed records: COMPAT.md, check.json, "
                       "search.json, the documents' excerpts, the default plan", "laboratory.cli.commands:rebuild"),
    Command("clean", "free the disk space of environments, and keep the records", "laboratory.run.disk:clean",
            codes=
        "Removes the environments and the store of packages, some gigabytes. Keeps records, reports, locks, logs, the "
        "release line, timings and interpreters, so finished cases stay cached. A cell with cases left to run "
        "fetches its packages again. An environment that another run uses is kept. "
        f"Exit codes: 0 done, or nothing to do; 3 a file could not be removed. {STATE}"),
    Command("bisect", "find the release where a case changes, in few cell runs",
            "laboratory.bisect.session:carry_out", (
        option("case ISSUE/CASE", "such as tracer-hash-while-loop/hash-tracer; ISSUE alone is its headline"),
        option("--package", "the package to move: jax, equinox or diffrax (default: %(default)s)", default="jax"),
        option("--hold NAME==VERSION", "search on an arm that holds this release; may be repeated", action="append",
                default=[]),
        option("--between", "search only the releases from A to B", nargs=2, metavar=("A", "B")),
        flag("--fresh", "do not use records")), about=
        "Finds the release of a package where a case changes between affected and not affected. The search goes around "
        "releases that cannot be tested. Linked packages move together: each jax comes with its jaxlib. "
        "n releases take at most ⌈log2 n⌉ + 3 cell runs, fewer if some are on record, more if some cannot be tested.",
        codes=_codes("the exact release was found, as expected",
                     "not as expected, or the end points agree",
                     "the result is not exact, or something did not run") + " Records are used."),
    Command("discover", "read the index; lock, run and compare the releases that are new since the snapshot",
            "laboratory.upkeep.discover:carry_out", (
        _FORGET, flag("--plan", "print the cases to run, their time, the download and the disk space; write nothing")),
        "First it says whether the newest stack imports, trains and solves; then the costliest cells run first.",
        codes=RUN_CODES),
    Command("receive", "take the data that another machine handed on: locks, records and lists, by name, and no code",
            "laboratory.upkeep.handover:receive", (
        option("handed PLACE", "a folder, or a tar archive", nargs="+", type=Path),),
        "The jobs of a release day call it. A file is taken if its path is known and its content can be read.",
        codes="Exit codes: 0 taken; 2 a file is wrong; 3 nothing was taken."),
    Command("lock", "resolve every cell as of its day, and write the locks: the same ones each time",
            "laboratory.upkeep.locks:renew"),
    Command("snapshot", "read the index into releases.json", "laboratory.upkeep.index:renew", (_FORGET,)),
    Command("elsewhere", "run the workarounds on other inputs than their examples'",
            "laboratory.upkeep.elsewhere:carry_out", (
        option("--issue ID", "only this issue; may be repeated", action="append", default=[],
               type=named("jax_stack_compat.catalogue.catalogue:identified")),
        flag("--fresh", "run those with an outcome again")),
        "A workaround runs on the oldest and the newest release, and on both sides of each change of its case. The "
        "outcomes are in reports/published/elsewhere.json; `rebuild` brings them into what check reads.",
        codes="Exit codes: 0 all ran; 2 the command or a file is wrong; 3 a cell could not run."),
    Command("libraries", "run libraries that depend on jax beside its releases, and publish which work",
            "laboratory.libraries.session:run", (
        option("--library NAME", "only this library, a section of libraries.toml; may be repeated", action="append",
               default=[], type=named("laboratory.libraries.session:named")),
        flag("--renew", "read the libraries' releases from the index first"),
        flag("--every", "also run the releases between two that agree"),
        flag("--plan", "print the number of searches with runs left, and run nothing")),
        "Imports each public module of a library, and runs its task, beside the newest release of each minor series of "
        "jax. The newest, the library's own day's and the oldest run first; then each change is searched for.",
        codes=f"Exit codes: 0 all ran; 2 the command or a file is wrong; 3 something could not run. {STATE}"),
    Command("threads", "look up the titles and states of upstream's threads, into threads.json",
            "laboratory.upkeep.threads:renew_all", (
        option("id ISSUE", "only the threads of these issues", nargs="*",
               type=named("jax_stack_compat.catalogue.catalogue:identified")),
        option("--clone OWNER/NAME=FOLDER", "read the first release of each pull request and commit from this git "
               "clone, and ask GitHub nothing; may be repeated", action="append", default=[],
               type=named("laboratory.upkeep.landed:clone")),)),
    Command("names", "list the public names in each release of the stack's packages, and publish the lists",
            "laboratory.collect.names:publish",
            (flag("--fresh", "list the names of every release again, not only of new ones"),),
        "Says which releases have each public name and parameter, and which names the stack's own packages need."),
    Command("numbers", "call the numerical functions of jax on its releases, and publish what they return",
            "laboratory.collect.numbers.collect:publish", (
        option("cells CELL", "default: every release of jax", nargs="*", type=_CELL),
        flag("--fresh", "measure every release again")),
        "Each call is compared with a reference, and with the release before. Known measurements are kept."),
    Command("line", "build the release line, and print an asv command for it",
            "laboratory.timings.asv_call:build_line", (),
        "Prepares plain asv: a project, the interpreter, and an entry for this machine in "
        "~/.asv-machine.json. The printed command compares two releases: replace them with any others."),
    Command("bench", "time the stack along the release line, with asv", "laboratory.timings.bench:carry_out", codes=
        _codes("all was measured, and nothing is slower", "something is slower, and confirmed",
               "something was not measured, or failed")
        + " Also 4: noise left a benchmark undecided; nox does not fail on 4.", works=(
        Command("run", "measure cells, and keep the results", "", (
            *_TIMED, option("--python PATH", "time the packages of this interpreter, on its device", type=Path),
            flag("--smoke", "run each benchmark once, and keep nothing"), _PUT),
            "Large benchmarks are left out by default."),
        Command("count", "count the host's work: calls in Python and, with valgrind, instructions", "", (
            *_TIMED, flag("--calls", "count only calls, without valgrind"), _PUT),
            "An interrupted run can be continued. A release takes a quarter of an hour, less with --bench, and "
            "some seconds with --calls."),
        Command("compare", "measure two cells in turns, and say what got slower", "", (
            *_OF_ASV, option("base A", "", type=_OF_LINE), option("other B", "", type=_OF_LINE),
            option("--processes N", "processes for each cell (default: the fewest that decide)", type=int),
            flag("--keep", "keep the judgements in benchmarks/compared, for the published page (default: keep "
                            "nothing)")),
            "Apparent changes are measured again. The time that is left is printed after the first processes."),
        Command("noise", "measure a cell against itself", "", (
            *_OF_ASV, option("cell CELL", "default: the newest of the default cells", nargs="?", type=_OF_LINE),
            option("--processes N", "processes for each side (default: the fewest that decide)", type=int), _PUT),
            "Shows how reliable this machine's verdicts are, and gives each benchmark its own fence."),
        Command("publish", "write asv's website of the results to reports/timings", "", _OF_ASV))),
    Command("programs", "compile programs for absent devices, and count their contents",
            "laboratory.programs.session:carry_out", (
        option("cells CELL", "default: every release of jax from 0.4.38 on", nargs="*",
                type=named("laboratory.programs.session:cell")),
        option("--target", "only this device (default: both; with --diff: h100)", choices=("h100", "v5e")),
        flag("--fresh", "compile cached programs again, too"),
        option("--diff", "compile nothing, and show the diff of the optimised HLO of two releases: jax-0.9.0 "
                          "jax-0.11.0 scan", nargs=3, metavar=("A", "B", "WORKLOAD"))), about=
        "Compiles small programs with releases of jax for an NVIDIA H100 and for a TPU v5e, on a machine with "
        "neither. Counts kernel launches, fusions, copies, bytes and instructions. Nothing is run. "
        "The download size is printed first: each release needs a compiler of 120 to 230 MB for the device. Cached "
        "programs are not compiled again. The counts are kept in benchmarks/programs. The last lines list the "
        "changes from one release to the next.",
        codes=f"{_codes('all programs are known', 'does not occur', 'a program could not be compiled here')} {STATE}"),
    Command("rekey", "move records to this tree's keys, after a change that affects no run",
            "laboratory.upkeep.rekey:rekey", (
        option("commit COMMIT", "the commit whose keys the records have, such as HEAD~1"),
        option("--draw N", "run N of these records again, drawn at random, and print the ones that differ (default: "
                            "%(default)s)", type=int, default=500))),
    Command("pins", "renew the pins of the driver's own packages: constraints.txt, the noxfile's header",
            "laboratory.upkeep.pins:renew"),
)
# fmt: on


def help_of(command: Sequence[str], words: str) -> str:
    """Return the help of the option that starts `words`, or else of the command; empty if both are unknown."""
    of = [each for each in COMMANDS if each.name == command[0]]
    of += [work for each in of for work in each.works if work.name == command[-1]]
    texts = {option.names[0]: option.more["help"] % option.more for each in of for option in each.options}
    told = texts.get(words.partition(" ")[0]) or "".join(each.help for each in of[-1:])
    return told and f"{told[0].upper()}{told[1:]}."
