"""The command line of the laboratory: parse the arguments, and report wrong ones.

A command is a function whose parameters are named like the options. Until an argument names a cell, an issue or a tag,
parsing needs only the standard library.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jax_stack_compat.base.errors import Exit, Misused, guarded
from jax_stack_compat.command_line import Parser, add, call, parse_words
from jax_stack_compat.command_table import COMMANDS as PRODUCT
from laboratory.cli.command_table import COMMANDS, REPORTS, RUN_CODES, STATE
from laboratory.cli.sessions import SESSIONS, Session

CALLED = {each.name: each for each in SESSIONS}


def main(words: Sequence[str]) -> Exit:
    """Run one command and return its exit code. Raises SystemExit for wrong arguments and for --help."""
    with guarded() as guard:
        if sys.flags.optimize > 1:
            raise Misused("issues need their docstrings, which -OO and PYTHONOPTIMIZE=2 remove: run without them")
        options = parse(words)
        # `call` imports packages; errors in the arguments are reported without packages.
        guard.code = call(options)
    return guard.code


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse `words`, and look up their cells and issues. Raises SystemExit for unknown words, Misused, BadFile."""
    parser, _ = _parser()
    options = parse_words(parser, words)
    if options.command in ("run", "report") and options.shard and not getattr(options, "tag", None):
        raise Misused(f"--shard needs --tag: report --tag line --shard {options.shard}")
    to = getattr(options, "to", None)
    if isinstance(to, Path) and os.path.realpath(to) == str(REPORTS / "published"):
        raise Misused("reports/published has tracked files, which `nox -s publish` writes: name another folder")
    if options.command == "report" and options.published and (options.cells or options.tag or options.issue):
        raise Misused("--published is about all cells and issues: leave out the others")
    if options.command == "report" and options.cells and options.tag:
        raise Misused(f"cells do not combine with --tag {options.tag}: use one of the two")
    return options


def explained() -> dict[str, str]:
    """Return the description of each nox session that is a command: a summary, and its exit codes."""
    found, parsers = {}, _parser()[1]
    for of in SESSIONS:
        parser = parsers[_command(of)]
        summary, _, more = " ".join((parser.description or "").split()).partition(". ")
        told = of.about, f"{summary.removesuffix('.')}.", more, parser.epilog, f"Options: nox -s {of.name} -- --help"
        found[of.name] = "\n\n".join(filter(None, told))
    return found


def asked(argv: Sequence[str], variables: Mapping[str, str], root: Path) -> tuple[list[str], list[str]]:
    """Return the named sessions, and the words after `--`. Raises Misused for folders that nox cannot use."""
    from nox.manifest import keyword_match  # nothing else needs nox

    end = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(add_help=False)
    named = [name for name in variables.get("NOXSESSION", "").split(",") if name]
    parser.add_argument("-s", "-e", "--sessions", "--session", nargs="*", default=named)
    parser.add_argument("-t", "--tags", nargs="*")
    parser.add_argument("-k", "--keywords")
    parser.add_argument("--envdir", default=".nox")
    ours, _ = parser.parse_known_args(argv[:end])
    if os.pathsep in str(root / ours.envdir):
        told = "nox makes its environments here, and PATH entries cannot contain a colon: add `--envdir FOLDER`"
        raise Misused(f"{root}: {told}")
    if (state := variables.get("SUITE_STATE", "")) and not Path(state).is_absolute():
        raise Misused(f"SUITE_STATE={state} is relative, and nox changes the current folder: give an absolute path")
    sessions = list(ours.sessions or ([] if ours.tags else ["compat"]))
    if ours.keywords:
        sessions = [name for name in CALLED if keyword_match(ours.keywords, [name])]
    return sessions, list(argv[end + 1 :])


def called(session: str, sessions: Sequence[str]) -> list[str]:
    """Return the command's arguments for a session, without the ones after `--`; empty for other sessions."""
    if match := re.fullmatch(r"cell\((.+)\)", session):
        return ["record", match[1]]
    cells = [name[5:-1] for name in sessions if session == "report" and name.startswith("cell(")]
    return [*CALLED[session].words, *cells] if session in CALLED else []


@cache
def _parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of the whole command line, and the parser of each command."""
    parser = Parser(
        prog="python -m laboratory",
        description="Runs documented JAX, Equinox and Diffrax issues on real releases, and reports the results.",
        epilog=f"{RUN_CODES} `nox -s SESSION -- --help` explains one. {STATE}",
    )
    chosen = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = dict(both for command in (*PRODUCT, *COMMANDS) for both in add(chosen, command))
    # The first session of a command gives it its name.
    for session in reversed(SESSIONS):
        parsers[_command(session)].prog = f"nox -s {session.name} --"
    return parser, parsers


def _command(session: Session) -> str:
    """Return the whole name of a session's command: `compat`, `bench run`."""
    return " ".join(session.words[: 1 + (session.words[0] == "bench")])


def end_with() -> None:
    """Run the command of this process, and end with its exit code."""
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("interrupted: finished work is kept; rerun the command to continue", file=sys.stderr)
        sys.exit(130)
