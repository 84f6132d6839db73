"""A Python text → the statements of it in which something wanted can be.

LibCST takes a minute for 100,000 lines, and deeply nested brackets end its process. `ast` takes a second, and such
brackets it refuses. So it reads first; what it leaves is more than is wanted, never less.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from suite.check.source.sources import parsed
from suite.check.source.wanted import Wanted

# LibCST recurses, and takes the square of this.
DEEPEST = 200
_WORD = re.compile(r"[^\W\d]\w*")
_CHAIN = re.compile(r"[^\W\d]\w*(?:[\s\\]*\.[\s\\]*[^\W\d]\w*)*")
# A condition on the release is told by them.
_TELLING = frozenset({"hasattr", "Version", "version", "__version__", "__version_info__"})


class Sieved(NamedTuple):
    """What is left of a text, and which of its lines each line of that was."""

    code: str
    numbers: list[int]


def sieved(code: str, wanted: Wanted) -> Sieved | None:
    """What is left of a text, or nothing. Raises one of `sources.BEYOND`."""
    present = set(_WORD.findall(code))
    if wanted.words.isdisjoint(present) or wanted.packages.isdisjoint(present):
        return None
    body, lines = parsed(code).body, code.split("\n")
    left: list[str | None] = [*lines]
    _drop(body, left, _hot(code, body, lines, wanted))
    found = Sieved(
        "\n".join(line for line in left if line is not None) + "\n",
        [number for number, line in enumerate(left, 1) if line is not None],
    )
    level, depth = list[ast.AST](parsed(found.code).body), 0
    while level:
        level, depth = [each for node in level for each in ast.iter_child_nodes(node)], depth + 1
        if depth > DEEPEST:
            raise RecursionError
    return found


def _hot(code: str, body: Sequence[ast.stmt], lines: Sequence[str], wanted: Wanted) -> list[int]:
    """The numbers of the lines in which something wanted may begin, or a name gets bound that it is reached by."""
    # Of the names in the text: what leads to something wanted, and what by itself is that, or tells of a release.
    roots, alone, words = set[str](), set[str](), wanted.words | _TELLING
    telling = set(_TELLING)
    for node in _statements(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                if (above + alias.name).partition(".")[0] not in wanted.packages:
                    continue
                roots.add(alias.asname or alias.name.partition(".")[0])
                if alias.name == "*":
                    alone |= wanted.parts
                elif (alias.asname or above) and wanted.within(above + alias.name):
                    alone.add(alias.asname or alias.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                first, *rest = _dotted(node.value) or [""]
                if first in alone or (first in roots and not words.isdisjoint(rest)):
                    alone.add(target.id)
                elif first in roots:
                    roots.add(target.id)
                elif not telling.isdisjoint(_WORD.findall("\n".join(lines[node.lineno - 1 : node.end_lineno]))):
                    telling.add(target.id)
    alone |= telling
    starts = [0, *(match.end() for match in re.finditer("\n", code))]
    hot = []
    for match in _CHAIN.finditer(code):
        first, *rest = _WORD.findall(match[0]) if "." in match[0] else [match[0]]
        # With nothing behind it, it is bound; a module alone may get another name.
        reached = not rest or rest[-1] in wanted.parts or not words.isdisjoint(rest)
        if first in alone or (first in roots and reached):
            hot.append(bisect_right(starts, match.start()))
    return hot


def _dotted(node: ast.expr | None) -> list[str]:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def _drop(body: Sequence[ast.stmt], lines: list[str | None], hot: Sequence[int]) -> None:
    """Leave of the statements those with a hot line in them, what is imported, and what shares its line."""
    dropped = []
    for node, after in zip(body, [*body[1:], None], strict=False):
        first, last = _first(node), node.end_lineno or node.lineno
        before = (lines[first - 1] or "")[: node.col_offset]
        at = bisect_left(hot, first)
        if at < len(hot) and hot[at] <= last:
            for block in _blocks(node):
                _drop(block, lines, hot)
        elif not (isinstance(node, ast.Import | ast.ImportFrom) or before.strip() or (after and after.lineno <= last)):
            dropped.append((first, before))
            lines[first - 1 : last] = [None] * (last - first + 1)
        # Between statements stand comments, for LibCST as much work as code.
        if after and _first(after) > last and not (lines[last - 1] or "").endswith("\\"):
            lines[last : _first(after) - 1] = [None] * (_first(after) - 1 - last)
    if dropped and len(dropped) == len(body):
        first, before = dropped[0]
        lines[first - 1] = before + "pass"


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    ahead = [*reversed(body)]
    while ahead:
        node = ahead.pop()
        yield node
        ahead += reversed([each for block in _blocks(node) for each in block])


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    yield from (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
    yield from (each.body for name in ("handlers", "cases") for each in getattr(node, name, []))
