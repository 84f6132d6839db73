"""The table of commands: the source of argparse's parsers. The laboratory adds its own commands.

The table needs only the standard library: a package, a cell or an issue is looked up when an argument names one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.cell.issue import Kind


@dataclass(frozen=True)
class Option:
    """An option or argument of a command, as argparse takes it. Options with `either` exclude each other."""

    names: tuple[str, ...]
    more: Mapping[str, Any]
    either: bool = False


@dataclass(frozen=True)
class Command:
    """A command: its help, and the function that carries it out, or its subcommands (`works`).

    The description is `about`, or else the help followed by `rest`. The lines of `codes` stay as they are with `lines`.
    """

    name: str
    help: str
    carry_out: str = ""
    options: tuple[Option, ...] = ()
    rest: str = ""
    about: str = ""
    codes: str | None = None
    works: tuple[Command, ...] = ()
    lines: bool = False

    @property
    def description(self) -> str:
        """The command in full sentences."""
        return self.about or f"{self.help[0].upper()}{self.help[1:]}. {self.rest}".rstrip()


def option(words: str, help: str, *, either: bool = False, **more: Any) -> Option:
    """Return an option from its name and the placeholder for its value: `--to FOLDER`."""
    name, _, metavar = words.partition(" ")
    return Option((name,), {"help": help, **({"metavar": metavar} if metavar else {}), **more}, either)


def flag(name: str, help: str) -> Option:
    """Return an option without a value."""
    return option(name, help, action="store_true")


def named(where: str) -> Callable[[str], Any]:
    """Return a function that looks up an argument. If it fails, argparse adds the option's name to the error."""

    def look_up(text: str) -> Any:
        try:
            return resolve_name(where)(text)
        except Misused as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return look_up


KINDS: Sequence[str] = get_args(Kind)
# A copy of names in check.output.machine, which loads slowly, and the constraints; a test compares them.
FORMATS = ("text", "json", "markdown", "sarif", "github", "constraints")
_STACK = 'a lock, or versions: "jax==0.4.35 equinox==0.11.10", "diffrax 0.7", newest'
_CODES = """Exit codes: 0 nothing to do; 1 something to do: the stack does not import or solve, a line of --source
certainly fails or is likely affected, or there is a finding of --fail-on; 2 the command or a file is wrong; 3 with
--strict, something is unknown; 4 nothing is known: no such package, no release that was run, or no Python in --source.
Unknown is never clean. A comment `# compat: ignore[id]` ignores an issue on its line of code, and
jax-stack-compat.toml ignores it everywhere.
"""
_EXAMPLES = """
  jax-stack-compat check                                this project
  jax-stack-compat check --to "jax==0.10.2"             what an upgrade adds and removes
  jax-stack-compat check --from old.txt --to new.txt    the same, between two locks
  jax-stack-compat check --source src                   what concerns this code, by file and line
  jax-stack-compat check --bounds pyproject.toml        which releases the declared bounds should not admit
  jax-stack-compat check --format constraints           lines for `uv pip install -c` and `pip install -c`
"""

# fmt: off
COMMANDS = (
    Command("check", "list what affects an environment, a lock, a stack or a source tree",
            "jax_stack_compat.check.check:check", (
        option("--python PATH", "check this interpreter or virtual environment", type=Path, either=True),
        option("--lock FILE", "check uv.lock, poetry.lock, pdm.lock, pixi.lock, conda-lock.yml, Pipfile.lock, "
               "pylock.toml, environment.yml, requirements or the output of pip freeze; - is standard input",
               type=Path, either=True),
        option("--bounds FILE", "check the bounds of a pyproject.toml: list the affected releases that they admit",
               type=Path, either=True),
        option("--from STACK", _STACK, dest="before", either=True),
        option("--to STACK", "show what an upgrade to this adds: a lock, the versions that move, or newest"),
        option("--source DIR", "list the places in this code that are concerned", type=Path),
        flag("--confirm", "run the predicted cases with the interpreter of --python, on its device; nothing is "
             "installed there"),
        flag("--verbose", "list all issues with evidence, workarounds and places"),
        option("--baseline FILE", "hide and count the findings in this file; exit 1 only for new findings", type=Path),
        option("--write-baseline FILE", "write the current findings to this file", type=Path),
        option("--format", "default: %(default)s", choices=FORMATS, default="text"),
        option("--fail-on WHAT", "exit 1 for this level (possible, deprecated or chronic), or for this kind and "
               f"worse: {', '.join(KINDS)}", choices=(*KINDS, "possible", "deprecated", "chronic")),
        flag("--strict", "exit 3 if something is unknown or newer than the data")), about=
        "List the documented issues of JAX, Equinox and Diffrax that affect an environment, a lock or a stack, worst "
        "first, each with its good releases. --verbose adds the evidence and the workarounds. With --source, list the "
        "lines of your code that fail on the stack. Without options, use the lock, the requirements, the environment "
        "or else the bounds of the project here, and say which.",
        codes=f"Examples:\n{_EXAMPLES}\n{_CODES}", lines=True),
    Command("needs", "list the releases of each package that a source tree works with, by its names and arguments",
            "jax_stack_compat.check.needs:tell", (
        option("--source DIR", "a folder or a file of Python", type=Path, required=True),
        option("--format", "default: %(default)s", choices=("text", "json", "github", "markdown"), default="text")),
        about=
        "Print the first release of each package of the stack that a source tree works with, and the lines that fail "
        "on the newest. Look up the names and arguments that the code uses in all releases in the data, and compare "
        "with pyproject.toml, in DIR or above. The values that functions return are not covered: see check --source.",
        codes="Exit codes: 0 all declared releases have what the code uses, or nothing is declared; 1 one lacks "
              "something; 2 the command or a file is wrong; 4 a file that mentions the stack could not be read, or "
              "there is no Python."),
    Command("explain", "look up a traceback or an error message", "jax_stack_compat.check.explain.told:explain", (
        option("file FILE", "default: standard input", nargs="?", type=Path),
        option("--on STACK", f"the versions it happened on: {_STACK}"),
        option("--format", "default: %(default)s; markdown prints a line for each issue, to paste into a thread",
               choices=("text", "markdown"), default="text")),
        codes="Exit codes: 0 an issue, a missing name or argument, or an ordinary mistake matches; 1 nothing matches; "
              "2 the command or a file is wrong."),
    Command("find", "search for any words: a thread, a function, a symptom, versions",
            "jax_stack_compat.check.find.told:find", (
        option("words WORD", 'jax#25190, jnp.median, "segfault jax 0.7.0 equinox"', nargs="+"),), about=
        "Search the documented issues, the confirmed slow-downs and the refuted claims, as the box of the pages does. "
        "Words and versions combine, and a package is a word.",
        codes="Exit codes: 0 something matches; 1 nothing matches; 2 the command is wrong."),
    # It creates an environment, and so needs uv.
    Command("try", "run the cases that concern an unreleased package, in a released stack",
            "jax_stack_compat.check.trial.candidate:attempt", (
        option("candidates NAME=WHAT", "equinox=PATH, equinox=WHEEL, equinox=git+https://…, or a version: "
               "jax==0.13.0rc1; may be repeated; or one library, numpyro=PATH", nargs="+",
               type=named("jax_stack_compat.check.trial.candidate:parse")),
        option("--against CELL", "install it into this stack, such as jax-0.10.2; may be repeated (default: the "
               "newest release of jax)", action="append", default=[]),
        option("--issue ID", "run only this issue; may be repeated", action="append", default=[])),
        codes="Exit codes: 0 nothing breaks; 1 something does; 2 the command is wrong; 3 a case is undecided."),
)
# fmt: on
