"""The command line `jax-stack-compat`: parsers of the table's commands, and the call of one."""

from __future__ import annotations

import argparse
import inspect
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from pkgutil import resolve_name
from typing import Any, NoReturn

from jax_stack_compat import __version__
from jax_stack_compat.base.address import address
from jax_stack_compat.base.errors import Exit, Failed, guarded
from jax_stack_compat.base.printable import inert
from jax_stack_compat.command_table import COMMANDS, Command

_REST = f"Commands that run the whole suite, such as compat, need a clone: {address('Repository') or 'see the README'}"


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


def add(chosen: Any, command: Command, within: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Add the parsers of a command and of its subcommands (`works`); yield each with its whole name."""
    texts = {"help": command.help, "description": command.description, "epilog": command.codes}
    if command.lines:
        width = shutil.get_terminal_size().columns - 2
        texts["description"] = textwrap.fill(command.description, width)
    formatter = argparse.RawDescriptionHelpFormatter if command.lines else argparse.HelpFormatter
    made = chosen.add_parser(command.name, formatter_class=formatter, **texts)
    if command.carry_out:
        made.set_defaults(carry_out=command.carry_out)
    yield f"{within} {command.name}".strip(), made
    # argparse cannot print the usage of an empty group.
    either = made.add_mutually_exclusive_group() if any(option.either for option in command.options) else made
    for option in command.options:
        (either if option.either else made).add_argument(*option.names, **option.more)
    if command.works:
        works = made.add_subparsers(dest="work", required=True, metavar="WORK")
        for each in command.works:
            yield from add(works, each, command.name)


def call(options: argparse.Namespace) -> Exit:
    """Run a command. Its parameters are named like the options, and it prints to `console`.

    Raises Failed if nothing can be printed.
    """
    if sys.stdout is None:
        raise Failed("standard output is closed: leave it open, or redirect it into a file or /dev/null")
    carry_out = resolve_name(options.carry_out)
    given = {**vars(options), "options": options, "console": resolve_name("jax_stack_compat.base.console:OUT")}
    found = carry_out(**{name: given[name] for name in inspect.signature(carry_out).parameters})
    return Exit.AS_EXPECTED if found is None else Exit(found)


@cache
def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="jax-stack-compat",
        description="Find out what a JAX, Equinox or Diffrax version breaks. Looking it up needs no JAX.",
        epilog=_REST,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    chosen = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        list(add(chosen, command))
    return parser


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line each, whatever the arguments are."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and an error, and exit with code 2."""
        super().error(inert(message))


class _Parser(Parser):
    """A parser whose errors end with a hint at the other commands."""

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}{'.' * (not message.endswith('?'))} {_REST}")
