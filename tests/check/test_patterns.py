"""No pattern of `check`, `needs`, `explain` and `find` takes quadratic time over a user's text."""

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator

import pytest

import jax_stack_compat.check
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.check.explain import missing
from jax_stack_compat.check.explain.raised import raised
from jax_stack_compat.check.find import words

_CALLS = "search|match|fullmatch|sub|findall|finditer|split"
# The length of the shorter text. A quadratic pattern takes a thousand times as long on it as a linear one.
_CHARS = 6_000
# A shorter measurement is noise.
_QUICK_S = 0.008
# fmt: off
_UNITS = (
    *"aA0_.- \t\n=([]#/\\'\":?!,;$", "a.", "A.", "a-", "0.", "a b ", " =", "a=", "a,", "/a", "a/", "a::", "#\n",
    "[a", "(a==", "#a\n", "a\n", " \n", "jax ", "jax==0", "Error", "AError: ", "a_", "==", "~0.", "^0", "a0",
    "'a'", "\x1b[", "\x1b]", "-- ", "//a@", "?a=0", "# compat: ignore[", "module 'jax", "f() got an ", "class a, ",
    "name: a\n", "\x1b[0;", "[0;", "%%time ", "a.py ",
)
# The beginnings of texts with which a pattern gets to its repetitions.
_BEGINNINGS = {
    "_EDITABLE": ("# Editable ", "# Editable (a=="), "_EXACT": ("=", "=1", "==1", "[version=1"),
    "_WORDS": ("a::", "a "), "_TILDE": ("~1.1",), "_CARET": ("^1",), "_MAGIC": ("x", " "),
    "_IGNORE": ("# compat: ignore[",), "_CLASS": ("AError", "A."), "_OPTION": ("-r ",), "_PIN": ("jax 1",),
    "MISSING": ("module 'jax", "cannot import name 'a' from 'a", "jax."), "_FILE": ("/a",), "_INSTALLED": ("/a",),
    "_YAML": ("name: ",), "_BUILD": ("jax 1",), "_THREAD": ("a",), "_CELL": ("a-1",), "_PINNED": ("a==1",),
    "_SPOKEN": ("jax ", "1"), "_PLACE_NAME": ("a",),
}
# fmt: on
# `_MAGIC` replaces only in a line that it matches as a whole; `_SOURCE` looks at the 200 characters before a class.
_BOUNDED = {("_MAGIC", "sub"), ("_SOURCE", "search")}
Applied = Callable[[str], object]


def _named(name: str) -> Iterator[tuple[str, Applied]]:
    """Yield the module's own patterns with each method that it calls on them."""
    module = importlib.import_module(name)
    source = inspect.getsource(module)
    for pattern, of in vars(module).items():
        is_own = re.search(rf"^(?:\w+, )?{pattern}\b.* = ", source, re.MULTILINE)
        if isinstance(of, re.Pattern) and is_own:
            called = set(re.findall(rf"\b{pattern}\.({_CALLS})\(", source)) or {"search"}
            methods = sorted(method for method in called if (pattern, method) not in _BOUNDED)
            yield from ((f"{name}.{pattern}.{method}", _applied(of, method)) for method in methods)


def _inline(name: str) -> Iterator[tuple[str, Applied]]:
    """Yield the patterns that are written where they are used."""
    for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(name)))):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str(pattern)), *_]) if method in _CALLS:
                yield f"{name}.{node.lineno}.{method}", _applied(re.compile(pattern), method)


def _applied(pattern: re.Pattern[str], method: str) -> Applied:
    match method:
        case "sub":
            return lambda text: pattern.sub("", text)
        case "finditer":
            return lambda text: list(pattern.finditer(text))
    return getattr(pattern, method)  # type: ignore[no-any-return]


_PACKAGE = jax_stack_compat.check
MODULES = [found.name for found in pkgutil.walk_packages(_PACKAGE.__path__, f"{_PACKAGE.__name__}.")]
PATTERNS = dict(pair for name in MODULES for pair in (*_named(name), *_inline(name)))


def slow(of: Applied, *beginnings: str) -> list[str]:
    """Return the texts, by beginning and unit, on which twice the length takes much more than twice the time."""
    starts = ("", *beginnings)
    return [f"{start!r} {unit!r}" for start in starts for unit in _UNITS if _is_quadratic(of, start, unit)]


def _is_quadratic(of: Applied, start: str, unit: str) -> bool:
    texts = [f"{start}{unit * (count // len(unit))}\x00\n" for count in (_CHARS, 2 * _CHARS)]
    if _seconds(of, texts[1]) < _QUICK_S:
        return False
    short, long = (min(_seconds(of, text) for _ in range(3)) for text in texts)
    return long > _QUICK_S and long > 3 * short


def _seconds(of: Applied, text: str) -> float:
    began = time.process_time()
    of(text)
    return time.process_time() - began


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_linear_time(name: str) -> None:
    """On its worst text among many, a pattern takes twice the time for twice the length."""
    assert slow(PATTERNS[name], *_BEGINNINGS.get(name.split(".")[-2], ())) == []


def test_what_identifies_an_issue_takes_linear_time() -> None:
    """The patterns that issues are known by are searched in tracebacks of any length."""
    told = {entry.issue.known_by for entry in catalogue.entries() if entry.issue.known_by}

    assert {pattern: found for pattern in told if (found := slow(re.compile(pattern).search))} == {}


@pytest.mark.parametrize(
    ("pattern", "start", "unit"),
    [(r"# Editable .*\(([\w.-]+)==\S+\)", "# Editable ", "(a=="), (r"(\w+)\(\) got an", "", "a")],
)
def test_a_quadratic_pattern_is_found(pattern: str, start: str, unit: str) -> None:
    """The measurement recognises patterns that took quadratic time."""
    assert _is_quadratic(re.compile(pattern).search, start, unit)


LOGS = ("XlaRuntimeError: x\n", "AError:  ", "AError:\n", "During handling of the above\n", "/a/b.py ")


@pytest.mark.parametrize("unit", LOGS)
def test_exceptions_are_read_in_linear_time(unit: str) -> None:
    """A log of thousands of exceptions, or of one with thousands of files, is read in linear time."""
    short, long = (f"{unit * (count // len(unit))}\nTypeError: x" for count in (20_000, 40_000))
    times = [min(_seconds(raised, text) for _ in range(3)) for text in (short, long)]

    assert times[1] < max(3 * times[0], 0.3)


def test_threads_are_found_in_linear_time() -> None:
    """A question may be a text of any length."""
    short, long = ("a-" * count for count in (10_000, 20_000))
    times = [min(_seconds(words.threads, text) for _ in range(3)) for text in (short, long)]

    assert times[1] < max(3 * times[0], 0.5)


NAMES = (
    "module 'jax{}' has no attribute 'x'",
    "cannot import name 'x' from 'jax{}'",
    "No module named 'jax{}'",
    "jax{} was removed",
)


@pytest.mark.parametrize("message", NAMES)
def test_names_of_any_length_are_looked_up_in_linear_time(message: str) -> None:
    """A message may name a module with thousands of parts."""
    short, long = (message.format(".jax" * count) for count in (20_000, 40_000))
    times = [min(_seconds(lambda text: list(missing.told(text)), text) for _ in range(3)) for text in (short, long)]

    assert times[1] < max(3 * times[0], 0.3)
