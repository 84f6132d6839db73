"""The command line of `check`, `needs`, `explain` and `try`, for `jax-stack-compat` and `python -m suite`."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn, get_args

from suite import __version__
from suite.address import address
from suite.cell.issue import Kind
from suite.errors import Exit, Misused, guarded

Command = Callable[..., argparse.ArgumentParser]
KINDS: Sequence[str] = get_args(Kind)
# A copy of names in suite.check.output.machine, which loads slowly; a test compares them.
FORMATS = ("text", "json", "markdown", "sarif", "github", "constraints")

_REST = f"Commands that run the whole suite, such as compat, need a clone: {address('Repository') or 'see the README'}"
_CODES = """Exit codes: 0 nothing to do; 1 something to do: the stack does not import or solve, a line of --source
certainly fails or is likely affected, or there is a finding of --fail-on; 2 the command or a file is wrong; 3 with
--strict, something is unknown; 4 nothing is known: no such package, no release that was run, or no Python in --source.
Unknown is never clean. A comment `# compat: ignore[id]` ignores an issue on its line of code, and
jax-stack-compat.toml ignores it everywhere.
"""
_CHECK = """List the documented issues of JAX, Equinox and Diffrax that affect an environment, a lock or a stack, worst
first, each with its good releases. --verbose adds the evidence and the workarounds. With --source, list the lines of
your code that fail on the stack. Without options, use the lock, the requirements, the environment or else the bounds
of the project here, and say which."""
_NEEDS = """Print the first release of each package of the stack that a source tree works with, and the lines that
fail on the newest. Look up the names and arguments that the code uses in all releases in the data, and compare with
pyproject.toml, in DIR or above. The values that functions return are not covered: see check --source.
"""
_NEEDS_CODES = """Exit codes: 0 all declared releases have what the code uses, or nothing is declared; 1 one lacks
something; 2 the command or a file is wrong.
"""
_EXAMPLES = """
  jax-stack-compat check                                this project
  jax-stack-compat check --to "jax==0.10.2"             what an upgrade adds and removes
  jax-stack-compat check --from old.txt --to new.txt    the same, between two locks
  jax-stack-compat check --source src                   what concerns this code, by file and line
  jax-stack-compat check --bounds pyproject.toml        which releases the declared bounds should not admit
  jax-stack-compat check --format constraints           lines for `uv pip install -c` and `pip install -c`
"""


def add(command: Command) -> None:
    """Add `check`, `needs`, `explain` and `try`; `command` makes the parser of one."""
    checking = command(
        "check",
        "list what affects an environment, a lock, a stack or a source tree",
        "check.check:check",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"Examples:\n{_EXAMPLES}\n{_CODES}",
    )
    checking.description = _CHECK
    what = checking.add_mutually_exclusive_group()
    what.add_argument("--python", type=Path, metavar="PATH", help="check this interpreter or virtual environment")
    locks = (
        "check uv.lock, poetry.lock, pdm.lock, pixi.lock, conda-lock.yml, Pipfile.lock, pylock.toml, environment.yml, "
        "requirements or the output of pip freeze; - is standard input"
    )
    what.add_argument("--lock", type=Path, metavar="FILE", help=locks)
    bounded = "check the bounds of a pyproject.toml: list the affected releases that they admit"
    what.add_argument("--bounds", type=Path, metavar="FILE", help=bounded)
    stack = 'a lock, or versions: "jax==0.4.35 equinox==0.11.10", "diffrax 0.7", newest'
    what.add_argument("--from", dest="before", metavar="STACK", help=stack)
    checking.add_argument(
        "--to", metavar="STACK", help="show what an upgrade to this adds: a lock, the versions that move, or newest"
    )
    checking.add_argument("--source", type=Path, metavar="DIR", help="list the places in this code that are concerned")
    confirmed = "run the predicted cases with the interpreter of --python, on its device; nothing is installed there"
    checking.add_argument("--confirm", action="store_true", help=confirmed)
    checking.add_argument(
        "--verbose", action="store_true", help="list all issues with evidence, workarounds and places"
    )
    known = "hide and count the findings in this file; exit 1 only for new findings"
    checking.add_argument("--baseline", type=Path, metavar="FILE", help=known)
    checking.add_argument("--write-baseline", type=Path, metavar="FILE", help="write the current findings to this file")
    checking.add_argument("--format", choices=FORMATS, default="text", help="default: %(default)s")
    levels = f"exit 1 for this level (possible, deprecated or chronic), or for this kind and worse: {', '.join(KINDS)}"
    choices = (*KINDS, "possible", "deprecated", "chronic")
    checking.add_argument("--fail-on", choices=choices, metavar="WHAT", help=levels)
    strict = "exit 3 if something is unknown or newer than the data"
    checking.add_argument("--strict", action="store_true", help=strict)
    needing = command(
        "needs",
        "list the releases of each package that a source tree works with, by its names and arguments",
        "check.needs:tell",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_NEEDS_CODES,
    )
    needing.description = _NEEDS
    needing.add_argument("--source", type=Path, required=True, metavar="DIR", help="a folder or a file of Python")
    formats = ("text", "json", "github", "markdown")
    needing.add_argument("--format", choices=formats, default="text", help="default: %(default)s")
    explaining = command(
        "explain",
        "look up a traceback or an error message",
        "check.explain.told:explain",
        epilog="Exit codes: 0 an issue or a missing name matches; 1 nothing matches; 2 the command or a file is wrong.",
    )
    explaining.add_argument("file", nargs="?", type=Path, metavar="FILE", help="default: standard input")
    explaining.add_argument("--on", metavar="STACK", help=f"the versions it happened on: {stack}")
    pasted = "default: %(default)s; markdown prints a line for each issue, to paste into a thread"
    explaining.add_argument("--format", choices=("text", "markdown"), default="text", help=pasted)
    # It creates an environment, and so needs uv.
    trying = command(
        "try",
        "run the cases that concern an unreleased package, in a released stack",
        "check.trial.candidate:attempt",
        epilog="Exit codes: 0 nothing breaks; 1 something does; 2 the command is wrong; 3 a case is undecided.",
    )
    wanted = "equinox=PATH, equinox=WHEEL, equinox=git+https://…, or a version: jax==0.13.0rc1; may be repeated"
    trying.add_argument("candidates", nargs="+", type=_candidate, metavar="NAME=WHAT", help=wanted)
    against = "install it into this stack, such as jax-0.10.2; may be repeated (default: the newest release of jax)"
    trying.add_argument("--against", action="append", default=[], metavar="CELL", help=against)
    trying.add_argument(
        "--issue", action="append", default=[], metavar="ID", help="run only this issue; may be repeated"
    )


def _candidate(words: str) -> Any:
    try:
        return resolve_name("suite.check.trial.candidate:parse")(words)
    except Misused as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def main(words: Sequence[str] | None = None) -> None:
    """Run `jax-stack-compat`."""
    try:
        with guarded() as guard:
            guard.code = call(parse_words(_parser(), sys.argv[1:] if words is None else words))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(guard.code)


def parse_words(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Parse the words of a command. Raises SystemExit, also for an empty word."""
    for word in words:
        if not word or (word.startswith("--") and word.endswith("=")):
            parser.error(f"Empty argument{f' for {word[:-1]}' * bool(word)}. Is a shell variable unset?")
    return parser.parse_args(words)


@cache
def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="jax-stack-compat",
        description="Find out what a JAX, Equinox or Diffrax version breaks. Looking it up needs no JAX.",
        epilog=_REST,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    chosen = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser)

    def command(name: str, help: str, carry_out: str, **more: Any) -> argparse.ArgumentParser:
        made = chosen.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.", **more)
        made.set_defaults(carry_out=carry_out)
        return made

    add(command)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose errors end with a hint at the other commands."""

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}{'.' * (not message.endswith('?'))} {_REST}")


def call(options: argparse.Namespace) -> Exit:
    """Run a command. Its parameters are named like the options, and it prints to `console`."""
    carry_out = resolve_name(f"suite.{options.carry_out}")
    given = {**vars(options), "options": options, "console": resolve_name("suite.console:OUT")}
    found = carry_out(**{name: given[name] for name in inspect.signature(carry_out).parameters})
    return Exit.AS_EXPECTED if found is None else Exit(found)
