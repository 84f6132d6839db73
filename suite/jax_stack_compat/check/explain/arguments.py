"""Arguments of the stack's functions that an error message refuses, and the releases that take them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jax_stack_compat.check.explain.raised import plain
from jax_stack_compat.names import presence, query
from jax_stack_compat.names.model import Name, Parameters
from jax_stack_compat.packages import WALKED

_REFUSED = re.compile(r"\b(?P<function>\w++)(?:\.__init__)?\(\) got an unexpected keyword argument '(?P<keyword>\w+)'")
_MOST_FUNCTIONS = 2


@dataclass(frozen=True)
class Argument:
    """A keyword that some releases of a function take and others do not; `instead` is its new name, if any."""

    function: str
    keyword: str
    spans: tuple[tuple[int, int], ...]
    instead: str = ""


def told(message: str) -> Iterator[str]:
    """Yield a sentence for each argument in a message that some releases take and others refuse. Raises BadFile."""
    yield from (sentence for _, sentence in named(message))


def named(message: str) -> Iterator[tuple[str, str]]:
    """Yield `jax.make_mesh(axis_shapes=)` and a sentence for each argument that a message refuses. Raises BadFile."""
    for function, keyword in dict.fromkeys(_refused(message)):
        found = by_name().get((function, keyword), ())
        for argument in found:
            yield f"{argument.function}({keyword}=)", sentence(argument)


def sentence(argument: Argument) -> str:
    """Return the releases that take an argument, and what to write on the newest. Raises BadFile."""
    package = argument.function.partition(".")[0]
    releases = query.names(package).releases
    life = tuple((releases[first], releases[last]) for first, last in argument.spans)
    text = f"{argument.function} takes {argument.keyword} on {package} {query.told(argument.function, life)}."
    if argument.instead:
        text += f" On {releases[-1]} it is {argument.instead}; give it by position to support both."
    return text


def known(package: str) -> Iterator[Argument]:
    """Yield the arguments of a package's functions that some releases take and others do not. Raises BadFile."""
    releases = query.names(package).releases
    for module, of in query.names(package).modules.items():
        for name, public in of.names.items():
            every = _arguments(f"{module}.{name}", public, len(releases) - 1)
            yield from (argument for argument in every if _is_shown(argument, releases))


def _refused(message: str) -> Iterator[tuple[str, str]]:
    for found in _REFUSED.finditer(plain(message)):
        yield found["function"], found["keyword"]


@cache
def by_name() -> Mapping[tuple[str, str], tuple[Argument, ...]]:
    """Return the arguments by a function's last part and keyword; an alias counts once, by its shortest name."""
    every: dict[tuple[str, str], list[Argument]] = {}
    for package in filter(query.is_known, WALKED):
        for argument in known(package):
            every.setdefault((argument.function.rpartition(".")[2], argument.keyword), []).append(argument)
    return {key: tuple(distinct(of)[:_MOST_FUNCTIONS]) for key, of in every.items()}


def distinct(arguments: Sequence[Argument]) -> list[Argument]:
    """Return the arguments without aliases, which have the same life in one package; the shortest name is kept."""
    stable = [each for each in arguments if ".experimental." not in each.function] or arguments
    ordered = sorted(stable, key=lambda each: (each.function.count("."), len(each.function), each.function))
    alike: dict[tuple[object, ...], Argument] = {}
    for argument in ordered:
        alike.setdefault((argument.function.partition(".")[0], argument.spans, argument.instead), argument)
    return list(alike.values())


def _arguments(function: str, public: Name, last: int) -> Iterator[Argument]:
    """Yield the arguments of a function that not all releases take whose parameters are known."""
    closed = [(first, end, of) for first, end, of in public.parameters if of is not None and not _takes_all(of)]
    taken: dict[str, list[tuple[int, int]]] = {}
    for first, end, of in closed:
        for parameter in of or ():
            if not parameter[0].startswith(("/", "*")):
                _extend(taken.setdefault(parameter[0].removeprefix("="), []), first, end)
    whole: list[tuple[int, int]] = []
    for first, end, _ in closed:
        _extend(whole, first, end)
    for keyword, spans in taken.items():
        if spans != whole:
            instead = _renamed(keyword, closed) if spans[-1][1] < last else ""
            yield Argument(function, keyword, tuple(spans), instead)


def _is_shown(argument: Argument, releases: Sequence[str]) -> bool:
    """Return True if the releases before the first that takes an argument are known not to take it."""
    last = presence.MISLEADING.get(argument.function)
    return last is None or (last in releases and argument.spans[0][0] > releases.index(last) + 1)


def _takes_all(of: Parameters) -> bool:
    return any(parameter[0].startswith("**") for parameter in of)


def _extend(spans: list[tuple[int, int]], first: int, last: int) -> None:
    """Add a span, joined to the one before if they are adjacent."""
    if spans and spans[-1][1] == first - 1:
        spans[-1] = spans[-1][0], last
    else:
        spans.append((first, last))


def _renamed(keyword: str, closed: Sequence[tuple[int, int, Parameters | None]]) -> str:
    """Return the newest name of an argument that stayed in its place; or ""."""
    before = next(_positional(of) for _, _, of in reversed(closed) if keyword in _keywords(of))
    now = _positional(closed[-1][2])
    if keyword not in before or before.index(keyword) >= len(now):
        return ""
    name = now[before.index(keyword)]
    return "" if name in before else name


def _keywords(of: Parameters | None) -> list[str]:
    return [parameter[0].removeprefix("=") for parameter in of or () if not parameter[0].startswith(("/", "*"))]


def _positional(of: Parameters | None) -> list[str]:
    return [parameter[0].removeprefix("/") for parameter in of or () if not parameter[0].startswith(("=", "*"))]
