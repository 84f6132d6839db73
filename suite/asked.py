"""What nox was called with: its sessions, and the words of `python -m suite` that each of them stands for.

The standard library and nox alone: what cannot work is said before any other package is asked for.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from nox.manifest import keyword_match

from suite.command_table import SESSIONS
from suite.errors import Misused

CALLED = {each.name: each for each in SESSIONS}


def asked(argv: Sequence[str], variables: Mapping[str, str], root: Path) -> tuple[list[str], list[str]]:
    """Return the sessions that are named, and what follows `--`. Raises Misused for folders that nox cannot use."""
    end = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(add_help=False)
    named = [name for name in variables.get("NOXSESSION", "").split(",") if name]
    parser.add_argument("-s", "-e", "--sessions", "--session", nargs="*", default=named)
    parser.add_argument("-t", "--tags", nargs="*")
    parser.add_argument("-k", "--keywords")
    parser.add_argument("--envdir", default=".nox")
    ours, _ = parser.parse_known_args(argv[:end])
    if os.pathsep in str(root / ours.envdir):
        told = "PATH cannot name a folder with a colon, and nox's are in here: add `--envdir FOLDER`, one without"
        raise Misused(f"{root}: {told}")
    if (state := variables.get("SUITE_STATE", "")) and not Path(state).is_absolute():
        raise Misused(f"SUITE_STATE={state}: nox hides the folder that it was started in: give an absolute path")
    sessions = list(ours.sessions or ([] if ours.tags else ["compat"]))
    if ours.keywords:
        sessions = [name for name in CALLED if keyword_match(ours.keywords, [name])]
    return sessions, list(argv[end + 1 :])


def called(session: str, sessions: Sequence[str]) -> list[str]:
    """Return the words of one of these sessions, without what follows `--`; none if it is not a command."""
    if match := re.fullmatch(r"cell\((.+)\)", session):
        return ["record", match[1]]
    cells = [name[5:-1] for name in sessions if session == "report" and name.startswith("cell(")]
    return [*CALLED[session].words, *cells] if session in CALLED else []
