"""A Python text → the statements of it in which something wanted can be.

LibCST takes a minute for 100,000 lines, and deeply nested brackets end its process. `ast` takes a second, and such
brackets it refuses. So it reads first; what it leaves is more than is wanted, never less.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from suite.check.source.sources import parsed
from suite.check.source.wanted import Wanted

# LibCST takes a second for 30,000 letters, and the square of how deep they are nested, and how often a name is bound.
_MOST = 300_000
_DEEPEST = 100
_OFTEN = 1000
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
    hot = _hot(code, body, lines, wanted)
    if not hot:
        return None
    left: list[str | None] = [*lines]
    _drop(body, left, hot)
    found = Sieved(
        "\n".join(line for line in left if line is not None) + "\n",
        [number for number, line in enumerate(left, 1) if line is not None],
    )
    if len(found.code) > _MOST:
        raise ValueError("too much of it concerns the stack")
    level, depth = list[ast.AST](parsed(found.code).body), 0
    while level:
        level, depth = [each for node in level for each in ast.iter_child_nodes(node)], depth + 1
        if depth > _DEEPEST:
            raise RecursionError
    return found


def _hot(code: str, body: Sequence[ast.stmt], lines: Sequence[str], wanted: Wanted) -> list[int]:
    """The lines in which something wanted may begin, or a name gets bound that it is reached by; none without such."""
    # Of the names in the text: what leads to something wanted, as what; what is that; what tells of a release.
    roots, alone, telling = defaultdict[str, set[str]](set), set[str](), set(_TELLING)
    hot = list[int]()
    for node in _statements(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            hot.append(node.lineno)
            above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                name = above + alias.name if above or alias.asname else alias.name.partition(".")[0]
                if alias.name == "*" and above[:-1] in wanted.above:
                    alone |= wanted.parts
                elif wanted.within(name):
                    alone.add(alias.asname or alias.name)
                elif name in wanted.above:
                    roots[alias.asname or alias.name.partition(".")[0]].add(name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                first, *rest = _dotted(node.value) or [""]
                names = {".".join([root, *rest]) for root in roots.get(first, ())}
                if first in alone or names:
                    hot.append(node.lineno)
                if first in alone or any(map(wanted.within, names)):
                    alone.add(target.id)
                elif names & wanted.above:
                    roots[target.id] |= names
                elif not telling.isdisjoint(_WORD.findall("\n".join(lines[node.lineno - 1 : node.end_lineno]))):
                    telling.add(target.id)
    if len(hot) > _OFTEN:
        raise ValueError("it binds names of the stack too often")
    starts = [0, *(match.end() for match in re.finditer("\n", code))]
    is_there = False
    for match in _CHAIN.finditer(code):
        first, *rest = _WORD.findall(match[0]) if "." in match[0] else [match[0]]
        is_hot = first in alone or first in telling
        if first in roots:
            names = {".".join([root, *rest]) for root in roots[first]}
            # With nothing behind it, a name is bound; a module by itself may get another one.
            is_hot |= not rest or not telling.isdisjoint(rest) or not wanted.above.isdisjoint(names)
            if not wanted.words.isdisjoint(rest) and any(map(wanted.within, names)):
                is_hot = is_there = True
        # Past a remark, the rest of a name stands by itself, or behind the last word of that.
        is_there |= first in alone or first in wanted.words or ("\n" in match[0] and not wanted.words.isdisjoint(rest))
        if is_hot:
            hot.append(bisect_right(starts, match.start()))
    return sorted(hot) if is_there else []


def _dotted(node: ast.expr | None) -> list[str]:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def _drop(body: Sequence[ast.stmt], lines: list[str | None], hot: Sequence[int]) -> None:
    """Leave of the statements those with a hot line in them, and what shares its line."""
    dropped = []
    for node, after in zip(body, [*body[1:], None], strict=False):
        first, last = _first(node), node.end_lineno or node.lineno
        before = (lines[first - 1] or "")[: node.col_offset]
        at = bisect_left(hot, first)
        if at < len(hot) and hot[at] <= last:
            for block in _blocks(node):
                _drop(block, lines, hot)
        elif not (before.strip() or (after and after.lineno <= last)):
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
