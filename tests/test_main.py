"""The command line: its arguments, the errors for wrong ones, and exit codes."""

import errno
import inspect
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path
from pkgutil import resolve_name
from typing import Self

import pytest

from jax_stack_compat.base import errors, fields, files
from jax_stack_compat.base.errors import BadFile, Exit, Failed, Fault, Misused, guarded, installation, usable
from jax_stack_compat.base.files import PACKAGES, REPORTS, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.stack import chosen, matrix, plan, releases
from laboratory.cli.command_line import main, parse
from laboratory.cli.command_table import COMMANDS
from laboratory.records import records
from laboratory.report.folder import write
from laboratory.report.folder.compat_json import read_report
from laboratory.report.model import Report
from laboratory.run import runs
from tests.processes import python
from tests.report.on_disk import saved
from tests.report.test_report import observation, put_status, report

pytestmark = pytest.mark.usefixtures("pageless")
CELL = plan.tagged("default")[0]
RICH = installation("rich")


@pytest.fixture
def reported(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """The reports that commands would make without any run; they are not written."""
    made: list[Report] = []

    def keep(of: Report, _: Path) -> Report:
        made.append(of)
        return of

    monkeypatch.setattr(write, "publish", keep)
    return made


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "jax-0.4.3"], "argument CELL: no cell 'jax-0.4.3'; the nearest are jax-0.4.30"),
        (["run", "jax-0.4.36+diffrax-9"], "releases.json has no diffrax 9"),
        (["report", "--issue", "wraps"], "argument --issue: no issue 'wraps'; the nearest are wraps-lower-bypass"),
        (["report", "--tag", "fast"], "argument --tag: no tag 'fast': there are default, line, full"),
        (["compat", "--shard", "4/3"], "argument --shard: there is no part 4 of 3"),
        (["bench", "compare", "jax-0.9.2", "jax-9"], "argument B: the release line has no 'jax-9'"),
        (["bench", "fast"], "invalid choice: 'fast'"),
        (["run", CELL.id, "--scheduler="], "Empty argument for --scheduler. Is a shell variable unset?"),
        (["report", "--nonsense"], "unrecognized arguments: --nonsense"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_wrong_word_is_told_what_would_be_right(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown word gives exit code 2, with its option and the nearest valid word."""
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert Exit.MISUSED == ended.value.code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("words", [["compat"], ["record", CELL.id], ["report", "--tag", "full"]])
def test_each_session_of_a_run_takes_all_its_words(words: list[str]) -> None:
    """compat, record and report each accept the words of all three after `--`."""
    options = parse([*words, "--shard", "3/10", "--verbose", "--to", "elsewhere"])

    assert ("3/10", Path("elsewhere")) == (str(options.shard), options.to)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--tag", "full", "--to", str(REPORTS / "published")], "reports/published has tracked files"),
        (["--published", "--issue", "stack-smoke"], "--published is about all cells and issues"),
    ],
)
def test_what_is_published_is_the_whole(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The published report is whole: no other is written over it, and no issue, tag or cell narrows it."""
    assert Exit.MISUSED == main(["report", *words])
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "report"])
def test_a_cell_that_is_named_and_cannot_be_had_is_not_run(
    command: str, elsewhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan skips a yanked release; if a user names it, the reason is printed, with exit code 3."""
    (yanked,) = (cell for cell in plan.cells() if cell.id == "jax-0.4.32")
    words = ["--issue", "stack-smoke", *(["--to", str(tmp_path / "to")] if command == "report" else [])]

    assert Exit.INCOMPLETE == main([command, yanked.id, *words])
    assert "jax 0.4.32 was yanked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([], set()),
        (["--issue", "wraps-lower-bypass"], {"wraps-lower-bypass"}),
        (["--verbose"], {"wraps-lower-bypass", "method-jit-caching"}),
    ],
)
@pytest.mark.usefixtures("reported")
def test_who_asks_is_shown_each_case(
    words: list[str], shown: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A report is a screen without cases; --issue shows those of an issue, and --verbose those of all."""
    some = catalogue.select(["wraps-lower-bypass", "method-jit-caching"])
    monkeypatch.setattr(catalogue, "entries", lambda: some)

    main(["report", "jax-0.4.32", *words])

    lines = capsys.readouterr().out.splitlines()
    assert shown == {"wraps-lower-bypass", "method-jit-caching"}.intersection(line.strip() for line in lines)


def test_words_are_looked_up_as_they_are_read() -> None:
    """Arguments may name planned cells and users' own stacks; parsing returns the cells.

    Contrary options are refused.
    """
    options = parse(["run", CELL.id, "jax-0.4.36+diffrax-0.6.0", "--all-cases"])

    assert [CELL.id, "jax-0.4.36+diffrax-0.6.0"] == [cell.id for cell in options.cells]
    assert ("cases", "headlines") == (options.rows, parse(["report", "--all-headlines"]).rows)
    with pytest.raises(SystemExit):
        parse(["report", "--all-headlines", "--all-cases"])


# The commands that need arguments, with the fewest possible.
WORDS = {
    **{"needs": ["--source", "."], "run": [CELL.id], "record": [CELL.id], "merge": ["a"], "diff": ["a", "b"]},
    **{"bisect": ["a"], "bench": ["run"], "try": ["jax==0.1"], "rekey": ["HEAD"]},
    **{"orders": ["--for", "cpu", "--to", "folder"], "find": ["a"], "receive": ["a"]},
}


def test_every_command_explains_itself_and_can_be_carried_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command in the help has its own help, and an option for each parameter of its function."""
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    commands = [line.split()[0] for line in lines if line[:4].isspace() and line[4:5].strip()]
    assert {"check", *WORDS, *(each.name for each in COMMANDS)} <= set(commands)
    for words in [[name] for name in commands] + [["bench", work] for work in ("run", "compare", "noise", "publish")]:
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        assert 0 == ended.value.code
        assert re.match(rf"usage: (nox -s [\w-]+ --|python -m laboratory {' '.join(words)}) ", capsys.readouterr().out)
    for name in commands:
        options = parse([name, *WORDS.get(name, [])])
        asked = inspect.signature(resolve_name(options.carry_out)).parameters
        assert set() == asked.keys() - vars(options) - {"options", "console"}


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (Misused("not so"), Exit.MISUSED, "error: not so\n"),
        (Failed("no index"), Exit.INCOMPLETE, "error: no index\n"),
        (Misused("a\n::error::b: no"), Exit.MISUSED, "error: a\\u000a::error::b: no\n"),
        (Failed("uv: a\n  ::error::b ##[c]"), Exit.INCOMPLETE, "error: uv: a\n  \\u003a:error::b ##\\u005bc]\n"),
        (BadFile([Fault(Path("a\nb"), "x\n", "1\n2")]), 2, "error: a\\u000ab: x\\u000a: 1\\u000a2\n"),
        (BadFile([Fault(Path("a"), "x", "1"), Fault(Path("b"), "y", "2")]), 2, "error: a: x: 1\nerror: b: y: 2\n"),
        (OSError(errno.ENOSPC, "No space left", "/f"), Exit.INCOMPLETE, "error: cannot use /f: No space left\n"),
        (
            OSError(errno.ENOSPC, "No space left"),
            Exit.INCOMPLETE,
            "error: cannot write: No space left; make room and rerun\n",
        ),
        (OSError(errno.EIO, "Broken", "/f", None, "/g"), Exit.INCOMPLETE, "error: cannot use /g: Broken\n"),
        (OSError(errno.ENAMETOOLONG, "Too long", "f" * 300), Exit.MISUSED, f"error: cannot use {'f' * 200}…: Too long"),
        (Failed("a\x1b[2J\u202e\nb"), Exit.INCOMPLETE, "error: a\\u001b[2J\\u202e\nb\n"),
        (ModuleNotFoundError(name="rich.console"), Exit.MISUSED, f"error: this Python has no rich: `{RICH}`"),
        (ModuleNotFoundError(name="scipy"), Exit.MISUSED, "error: this Python has no scipy: `python -m pip"),
    ],
)
def test_what_went_wrong_is_a_sentence(
    raised: Exception, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error that a user or a machine can cause ends in an exit code and a line for each fault."""
    with guarded() as guard:
        raise raised

    assert code == guard.code
    assert capsys.readouterr().err.startswith(told)


@pytest.mark.parametrize(
    "raised", [ValueError(), OSError(errno.ENOENT, "none"), ModuleNotFoundError(name="laboratory.x")]
)
def test_a_fault_of_ours_keeps_its_traceback(raised: Exception) -> None:
    """Errors in the suite's own code keep their traceback."""
    with pytest.raises(type(raised)), guarded():
        raise raised


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/below", "file", "file/below", "n" * 300, "loop"])
@pytest.mark.parametrize("words", [["merge", "report", "--to", "{}"], ["diff", "{}", "{}"]])
def test_a_path_that_can_be_none_is_a_sentence(
    words: list[str], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A device, file, loop or too long name in place of a folder gives one line and exit code 2."""
    monkeypatch.chdir(tmp_path)
    saved([report(observation())], tmp_path)[0].rename("report")
    Path("file").touch()
    Path("loop").symlink_to("loop")
    monkeypatch.setattr("laboratory.report.merge.merge", lambda paths: read_report(paths[0]))

    assert Exit.MISUSED == main([word.format(place) for word in words])

    told = capsys.readouterr().err.splitlines()
    assert {place[:200] in line for line in told} == {True}
    assert {line.startswith("error: ") for line in told} == {True}


def test_all_that_is_wrong_is_told_at_once(elsewhere: Path) -> None:
    """If an unreadable file stops a command, all unreadable records are also named, once."""
    record = records.path_of("jax-1", "an-issue", "a-case")
    record.parent.mkdir(parents=True)
    record.write_text("{", encoding="utf-8")

    with pytest.raises(BadFile) as caught, runs.every_fault():
        raise BadFile([Fault(Path("other.json"), "a", "no"), Fault(record, "b", "no")])
    assert [Path("other.json"), record] == [fault.path for fault in caught.value.faults]


@pytest.mark.parametrize("format", ["terminal", "json"])
def test_who_has_read_enough_ends_it_like_any_program(format: str, tmp_path: Path) -> None:
    """A command whose output nobody reads dies of SIGPIPE and prints no error."""
    read, write = os.pipe()
    os.close(read)
    (folder,) = saved([report(observation())], tmp_path)
    command = ["-m", "laboratory", "diff", str(folder), str(folder), "--format", format]
    # Both unbuffered and buffered output must notice the closed pipe.
    ran = python(*command, stdout=write, env={"PYTHONUNBUFFERED": ""})
    os.close(write)

    assert (-signal.SIGPIPE, "") == (ran.returncode, ran.stderr)


def test_without_packages_there_is_one_sentence() -> None:
    """On a Python with only the standard library, one line says what to install."""
    script = (
        "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('laboratory', run_name='__main__')"
    )
    ran = python("-I", "-S", "-c", script, str(PACKAGES), "run", CELL.id)

    assert (Exit.MISUSED, "", 1) == (ran.returncode, ran.stdout, len(ran.stderr.splitlines()))
    assert RICH in ran.stderr


def test_a_report_is_of_what_was_asked(reported: list[Report]) -> None:
    """Without a tag, a report has the cells that users ran, with the requested cases, but nothing from bisections."""
    one, two, three, *_ = (cell.id for cell in plan.tagged("default"))
    for cell, much in ((three, "bisection"), (one, "headlines"), (two, "all")):
        put_status(plan.cell(cell), asked=much)

    assert Exit.INCOMPLETE == main(["report"])

    (made,) = reported
    asked_of = {one: catalogue.select([], headlines=True), two: catalogue.entries()}
    counts = {id: sum(len(each.cases(plan.cell(id))) for each in of) for id, of in asked_of.items()}
    assert counts == Counter(each.cell for each in made.observations)
    assert sum(counts.values()) == made.coverage.planned


def test_a_plan_names_what_runs_where(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest default cell runs every headline, and each other one the issues chosen for it."""
    rows = chosen.load().rows

    assert Exit.AS_EXPECTED == main(["compat", "--plan"])

    told = [line.split(": ", 1) for line in capsys.readouterr().out.splitlines()]
    of_cells = {line[0].split()[0]: line[1] for line in told if line[0].startswith("  jax-")}
    assert "every issue" == of_cells.pop(plan.tagged("default")[-1].id)
    assert {f"jax-{version}": ", ".join(ids) for version, ids in rows.items()} == {
        cell: ", ".join(sorted(ids.split(", "))) for cell, ids in of_cells.items()
    }
    assert not (elsewhere / "envs").exists()


@pytest.mark.parametrize("words", [[], ["--all-headlines"], ["--all-cases"]])
def test_a_report_of_the_default_cells_has_what_they_run(words: list[str], reported: list[Report]) -> None:
    """A report on the default cells plans each behaviour once, each headline, or every case."""
    assert Exit.INCOMPLETE == main(["report", "--tag", "default", *words])

    (made,) = reported
    counts = Counter(each.cell for each in made.observations)
    of_all = catalogue.select([], headlines=words != ["--all-cases"])
    for cell in plan.tagged("default"):
        of = catalogue.planned(of_all, cell, "cases" if words else "chosen")
        assert counts[cell.id] == sum(len(entry.cases(cell)) for entry in of)
    assert sum(counts.values()) == made.coverage.planned == made.coverage.not_run


def test_who_publishes_may_lack_a_python(
    elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The published report may lack a Python; any other report is incomplete."""
    cell = plan.cell("jax-0.9.2+python-3.14")
    put_status(cell, "unavailable", "plan.no-interpreter", python="", detail="no CPython 3.14 on this machine")

    assert Exit.INCOMPLETE == main(["report", cell.id, "--to", str(tmp_path / "elsewhere")])
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert "0 of 0 run as expected; 2 could not run (2 unavailable), 0 not run, 0 errors" == last_line
    made = read_report(tmp_path / "elsewhere")
    monkeypatch.setattr("laboratory.report.published.published", lambda: made)
    assert Exit.AS_EXPECTED == main(["report", "--published", "--to", str(tmp_path / "published")])


def test_a_plan_of_what_to_publish_writes_nothing(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`publish --plan` counts the packed records as cached, and leaves the state as it is."""
    assert Exit.AS_EXPECTED == main(["publish", "--plan"])

    told = capsys.readouterr().out.splitlines()
    assert re.match(r"[\d,]+ cells, [\d,]+ observations: .*cached", told[0])
    assert not (elsewhere / "records").exists()


def test_a_clone_has_the_published_report(
    published: Report, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing was run, `report` is about the packed records, and leaves none on disk for a later run to find."""
    written: list[Report] = []
    monkeypatch.setattr("laboratory.report.published.published", lambda: published)
    monkeypatch.setattr(write, "write", lambda of, _, whole: written.append(of))

    assert Exit.AS_EXPECTED == main(["report", "--to", str(elsewhere / "report")])
    assert [published] == written
    assert f"The report: {elsewhere / 'report' / 'index.html'}" in capsys.readouterr().out
    assert not (elsewhere / "records").exists()


@pytest.mark.parametrize("words", ["find pmap", "check --from jax==0.10.2 --format json"])
@pytest.mark.parametrize(
    ("output", "told"),
    [
        (">&-", "error: standard output is closed: leave it open, or redirect it into a file or /dev/null\n"),
        (">/dev/full", "error: cannot write: No space left on device; make room and rerun\n"),
    ],
)
def test_an_answer_that_nobody_can_read_is_an_error(words: str, output: str, told: str) -> None:
    """If standard output is closed or full, the exit code is not 0, and standard error says why."""
    command = ["sh", "-c", f"exec {sys.executable} -m jax_stack_compat {words} {output}"]
    run = subprocess.run(command, cwd=PACKAGES, capture_output=True, check=False, timeout=60, text=True)
    assert (Exit.INCOMPLETE, told) == (run.returncode, run.stderr)


@pytest.mark.parametrize("words", [["run", CELL.id, "--issue", "stack-smoke"], ["report", CELL.id]])
def test_a_clock_that_is_not_set_is_told(
    words: list[str], elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A board without a battery begins in 1970: nothing is run or dated then."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(1970, 1, 5, tzinfo=tz)

    monkeypatch.setattr(fields, "datetime", Clock)
    assert Exit.INCOMPLETE == main(words)
    told = "error: this machine's clock is wrong: 1970-01-05 is not between 2000 and 2200. Set it, because records"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("in_tree", "in_archive", "told"),
    [
        (True, False, "`git checkout -- suite/x.json` restores it, and `nox -s snapshot` rewrites it"),
        (False, False, "install jax-stack-compat again"),
        (False, True, "this package does not work from an archive: unpack it"),
    ],
)
def test_a_file_of_ours_that_is_gone_can_be_had_again(
    in_tree: bool, in_archive: bool, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says how to restore the file, in a clone and after an installation."""
    if in_tree:
        (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(errors, "_TREE", tmp_path)
    if in_archive:
        monkeypatch.setattr(errors, "__file__", "/x.zip/errors.py")
    path = tmp_path / "suite" / "x.json"
    with pytest.raises(BadFile) as caught, usable(path, "nox -s snapshot"):
        path.read_text(encoding="utf-8")
    assert f"suite/x.json: file: cannot be used (No such file or directory): {told}" == str(caught.value)


@pytest.mark.parametrize(
    ("path", "load", "told"),
    [
        (releases.PATH, releases.load, "`nox -s snapshot` rewrites it"),
        (matrix.PATH, lambda: read(matrix.Matrix, matrix.PATH), "matrix.toml` restores it"),
    ],
    ids=["releases.json", "matrix.toml"],
)
def test_a_tracked_file_that_is_cut_can_be_had_again(
    path: Path, load: Callable[[], object], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each fault of a tracked file names the command that restores it."""
    monkeypatch.setattr(files, "content", lambda _: b"")
    with pytest.raises(BadFile) as caught:
        load()
    assert caught.value.faults
    assert all(told in fault.message for fault in caught.value.faults)
