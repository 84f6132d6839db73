"""The generated blocks of the README and the documents, and the picture; a test checks them."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import Version
from rich.console import Console

from jax_stack_compat.base.address import address
from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.base.files import PACKAGES, ROOT
from jax_stack_compat.catalogue.catalogue import entries
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.judge.verdict_table import TABLE
from laboratory.cli.command_line import explained
from laboratory.cli.command_table import help_of
from laboratory.cli.sessions import SESSIONS
from laboratory.report.formats import terminal
from laboratory.report.formats.strip_svg import sentence, strip_svg
from laboratory.report.model import Report

DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md")
PICTURE = ROOT / "docs" / "strip.svg"
# The most lines of each list; a document shows fewer than a report.
_MOST = 4


@dataclass(frozen=True)
class Example:
    """A command, and the input and files that it reads; `lines` limits a long answer."""

    words: str
    asked: str = ""
    lines: int = 0
    files: Mapping[str, str] = field(default_factory=dict)


CHECK = Example('check --from "jax==0.4.35 equinox==0.11.10 diffrax==0.6.0"', lines=4)
NEEDS = Example(
    "needs --source .",
    files={
        "src/qr.py": "import jax\n\n\ndef solve(a, taus, c):\n    return jax.lax.linalg.ormqr(a, taus, c)\n",
        "src/ops.py": "import jax\n\n\ndef absolute(tree):\n    return jax.tree_map(abs, tree)\n",
        "pyproject.toml": "[project]\nname = 'p'\nversion = '1'\ndependencies = ['jax>=0.4.35']\n",
    },
)
EXPLAIN = Example("explain", lines=4, asked="TypeError: unhashable type: 'DynamicJaxprTracer'")


def renew(published: Report) -> None:
    """Write the picture, and each generated block of the documents. Raises BadFile, Failed."""
    for path, text in renewed(published).items():
        write(path, text)


def renewed(report: Report) -> Mapping[Path, str]:
    """Return the picture and the documents as the published report makes them. Raises Failed."""
    made = {name: f"\n{block(report)}\n\n" for name, block in BLOCKS.items()}
    return {PICTURE: strip_svg(report, *_pictured()), **{path: _with_blocks(path, made) for path in DOCUMENTS}}


def runner() -> str:
    """Return the command that runs `jax-stack-compat` without an installation."""
    if address("Package"):
        return "uvx jax-stack-compat"
    repository = address("Repository")
    return f"uvx --from git+{repository} jax-stack-compat" if repository else "uvx --from . jax-stack-compat"


def answer(example: Example) -> str:
    """Return a command's output, run in a temporary folder. Raises Failed if the command fails."""
    with TemporaryDirectory() as folder:
        for name, text in example.files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        ran = subprocess.run(
            [
                sys.executable,
                "-c",
                "from jax_stack_compat.command_line import main; main()",
                *shlex.split(example.words),
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(PACKAGES), "COLUMNS": "110", "NO_COLOR": "1", "PYTHONUTF8": "1"},
            input=example.asked,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    if ran.returncode not in (Exit.AS_EXPECTED, Exit.UNEXPECTED):
        raise Failed(f"jax-stack-compat {example.words}: {ran.stderr.strip()}")
    return ran.stdout


def _pictured() -> tuple[str, str]:
    """Return the issue and the case that the picture shows."""
    return next((of.issue.id, case.id) for of in entries() for case in of.issue.cases if case.pictured)


def _console(example: Example) -> str:
    lines = answer(example).rstrip().splitlines()
    if example.lines:
        lines = [*lines[: example.lines], f"… {len(lines) - example.lines} lines more"]
    command = f"$ {runner()} {example.words}"
    if example.asked:
        command = f'$ echo "{example.asked}" | {runner()} {example.words}'
    return "\n".join(["```console", command, *lines, "```"])


def _covers(report: Report) -> str:
    """Return the coverage: the number of issues, the releases and the machine."""
    seen = {row.cell for row in report.observations if row.verdict != "unavailable"}
    line = [cell for cell in report.cells if cell.kind == "line" and cell.id in seen]
    counts = Counter(cell.moves for cell in line)
    versions = sorted((cell.holds["jax"] for cell in line if cell.moves == "jax"), key=Version)
    others = ", ".join(f"{count} of {name.title()}" for name, count in counts.items() if name != "jax")
    on = report.platform
    return (
        f"- **Covered:** {len(report.issues)} chosen issues; {counts['jax']} releases of jax, {versions[0]} to "
        f"{versions[-1]}, {others}, and {len(seen) - len(line)} other stacks; CPython "
        f"{line[0].python}, {on.system} {on.machine}, on the {on.device.upper()}. Run {report.generated_at:%Y-%m-%d}."
    )


def _excerpt(report: Report) -> str:
    """Return the terminal's view of the report, with shorter lists."""
    screen = StringIO()
    console = Console(file=screen, width=106, color_system=None, force_terminal=False)
    terminal.show(report, console, most=_MOST)
    lines = [line.rstrip() for line in screen.getvalue().strip().splitlines()]
    return "```text\n" + "\n".join(lines) + "\n```"


def _verdicts(report: Report) -> str:
    rows = [f"| {each.glyph} | {each.name} | {each.meaning} |" for each in TABLE]
    return "\n".join(["| | verdict | |", "|---|---|---|", *rows])


def _sessions(document: str, _: Report) -> str:
    """Return a document's table of sessions, each with its description, or with the help of its first option."""
    rows = ["| Session | What it does |", "|---|---|"]
    for of in SESSIONS:
        for words in of.examples if of.document == document else ():
            told = of.about or help_of(of.words, words) or explained()[of.name].partition("\n")[0]
            rows.append(f"| `nox -s {of.name}{' -- ' * bool(words)}{words}` | {told} |")
    return "\n".join(rows)


def _rooms(_: Report) -> str:
    """Return the table of both packages' rooms, each with the first line of its docstring."""
    rows = ["| Room | What it does |", "|---|---|"]
    for path in sorted(PACKAGES.glob("*/*/__init__.py")):
        told = str(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))).partition("\n")[0]
        rows.append(f"| `{path.parent.relative_to(PACKAGES).as_posix()}` | {told} |")
    return "\n".join(rows)


BLOCKS: Mapping[str, Callable[[Report], str]] = {
    "picture": lambda report: f"![{sentence(report, *_pictured())}](docs/{PICTURE.name})",
    "check": lambda _: _console(CHECK),
    "needs": lambda _: _console(NEEDS),
    "explain": lambda _: _console(EXPLAIN),
    "covers": _covers,
    "excerpt": _excerpt,
    "verdicts": _verdicts,
    "rooms": _rooms,
    **{name: partial(_sessions, name) for name in ("running", "timings", "upkeep")},
}


def _with_blocks(path: Path, made: Mapping[str, str]) -> str:
    marked = re.compile(r"(<!-- (\w+): written by `nox -s rebuild` -->\n).*?(?=<!-- end -->)", re.DOTALL)
    return marked.sub(lambda found: f"{found[1]}{made[found[2]]}", path.read_text(encoding="utf-8"))
