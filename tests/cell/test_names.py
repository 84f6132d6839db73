"""The walk of a package's names, on a small package with everything that can go wrong."""

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from jax_stack_compat.base.files import PACKAGES, replace_all
from tests.worlds import pretend

# Each module has two seconds, which is enough even on a busy machine.
WALK = "import sys; from laboratory.cell.names import walk; walk._SECONDS = 2; sys.exit(walk.main(sys.argv[1:]))"
DEPRECATIONS = """
import functools, warnings
def answers(module, table):
    @functools.cache
    def answer(name):
        words, value = table.get(name, (f"module {module!r} has no attribute {name!r}", None))
        if value is None:
            raise AttributeError(words)
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        return value
    return answer
__getattr__ = answers(__name__, {"old": ("old is deprecated", len), "older": ("older was removed; use old", None)})
__all__, there, _own = ["nowhere", "there"], 1, 1
"""
ASKED = """
from warnings import warn as _warn
def answers(): "Answers."
def __getattr__(name):
    if name == "renamed":
        _warn("renamed is called new", UserWarning, stacklevel=2)
        return 1
    if name in ("one", "two") or name in {"three"}:
        return answers
    if name == "broken":
        raise RuntimeError("no device")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
"""
SIGNATURES = """
class Thing: pass
def function(a, /, b=Thing(), c=Thing, *d, e={"x", "y", "z"}, **f): pass
class Class(Exception):
    attribute = _hidden = 1
    def __init__(self, size=0): pass
    def method(self, x): pass
    @classmethod
    def made(cls): pass
"""
FILES = {
    "upstream/__init__": "print('hello')",
    "upstream/_private": "public = _own = __dunder__ = 1",
    "upstream/asked": ASKED,
    "upstream/deprecations": DEPRECATIONS,
    "upstream/inner/__init__": "",
    "upstream/inner/leaf": "from upstream.signatures import Class",
    "upstream/outer": "import upstream.inner.leaf",
    "upstream/_whole": "import upstream.inner.leaf",
    "upstream/stands_for_inner": "import sys, upstream.inner\nsys.modules[__name__] = upstream.inner",
    "upstream/signatures": SIGNATURES,
    "upstream/tests/__init__": "def public(): pass",
    "threads/__init__": "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
    "threads/stays": "x = 1",
}
# The text of a file that does not import, and the reason in the result.
FAILS = {
    "refuses/__init__": ("import absent", "needs absent"),
    "threads/quits": ("import os\nos._exit(5)", "ends the interpreter with 5"),
    "upstream/_half": ("import upstream.raises", "raises ImportError: …"),
    "upstream/_quits": ("import os\nos._exit(4)", "ends the interpreter with 4"),
    "upstream/crashes": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "ends with SIGSEGV"),
    "upstream/ends": ("import os\nos._exit(3)", "ends the interpreter with 3"),
    "upstream/hangs": ("import time\ntime.sleep(600)", "hangs as it is imported"),
    "upstream/lacks": ("import absent.part", "needs absent"),
    "upstream/raises": ("import sys\nraise ImportError(f'{sys.prefix} at 0x7f\\nor so')", "raises ImportError: …"),
}


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Return the output of two walks that differ in hash seed, home, locale and number of cores."""
    folder = tmp_path_factory.mktemp("packages")
    pretend(folder, dict.fromkeys(("upstream", "refuses", "threads"), "1.0"))
    texts = {**FILES, **{module: text for module, (text, _) in FAILS.items()}}
    replace_all(folder, {f"{module}.py": text for module, text in texts.items()})
    command = [sys.executable, "-W", "ignore", "-c", WALK, "upstream", "refuses", "threads"]
    alone = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if shutil.which("taskset") else []
    found = {**os.environ, "PYTHONPATH": f"{PACKAGES}{os.pathsep}{folder}", "PYTHONDONTWRITEBYTECODE": "1"}
    one = (command, {**found, "PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8"})
    other = ([*alone, *command], {**found, "PYTHONHASHSEED": "2", "LC_ALL": "C", "HOME": str(folder)})
    # Run both walks at the same time, since each waits for a module that hangs.
    both = [subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE) for words, env in (one, other)]
    printed = [each.communicate(timeout=60)[0] for each in both]
    assert [0, 0] == [each.returncode for each in both]
    return printed


@pytest.fixture(scope="module")
def modules(walks: list[bytes]) -> dict[str, Any]:
    """The modules of all packages in a walk's result; a package that does not import appears as a failed module."""
    told = json.loads(walks[0])
    return {**told, **{name: each for package in told.values() for name, each in package["modules"].items()}}


def test_a_walk_is_repeatable(walks: list[bytes]) -> None:
    """Hash seed, home, locale and cores do not change the result, and it contains no output of modules."""
    assert walks[0] == walks[1]
    assert b"hello" not in walks[0]


def test_what_does_not_import_says_why(modules: dict[str, Any]) -> None:
    """If a module does not import, the result has the first line of the error, without folders and addresses."""
    fails = {module.removesuffix("/__init__").replace("/", "."): told for module, (_, told) in FAILS.items()}

    assert fails == {name: told["fails"] for name, told in modules.items() if "fails" in told}


def test_names_that_a_table_answers_to_are_found(modules: dict[str, Any]) -> None:
    """A deprecated name behind a cached `__getattr__` has its warning, and a removed one its words."""
    told = modules["upstream.deprecations"]
    old = {"kind": "function", "warns": ["DeprecationWarning", "old is deprecated"], "home": "builtins.len"}

    assert old.items() <= told["names"]["old"].items()
    assert {"older": "older was removed; use old"} == told["gone"]
    assert ({"answers", "functools", "old", "there", "warnings"}, ["_own"]) == (set(told["names"]), told["private"])


def test_names_that_only_code_answers_to_are_found(modules: dict[str, Any]) -> None:
    """Names that a `__getattr__` compares with are accessed; the result has any warning or error message."""
    names = modules["upstream.asked"]["names"]

    assert {"kind": "constant", "warns": ["UserWarning", "renamed is called new"]} == names["renamed"]
    assert {"kind": "raises", "says": "raises RuntimeError: no device"} == names["broken"]
    assert {"answers", "broken", "one", "renamed", "three", "two"} == set(names)
    assert names["one"] == {**names["answers"], "home": "upstream.asked.answers"}


def test_a_signature_is_the_same_in_each_process(modules: dict[str, Any]) -> None:
    """Each parameter has its kind and its default: sets in order, objects without addresses, classes by name."""
    b, c = "<upstream.signatures.Thing object>", "upstream.signatures.Thing"
    told = modules["upstream.signatures"]["names"]["function"]["parameters"]

    assert [["/a"], ["b", b], ["c", c], ["*d"], ["=e", "{'x', 'y', 'z'}"], ["**f"]] == told


def test_a_class_has_its_members(modules: dict[str, Any]) -> None:
    """The result lists public members, and the parameters of functions, without members of Python's own classes."""
    told = modules["upstream.signatures"]["names"]["Class"]
    members = {"attribute": None, "made": [["cls"]], "method": [["self"], ["x"]]}

    assert {"kind": "class", "parameters": [["size", "0"]], "members": members} == told
    assert {**told, "home": "upstream.signatures.Class"} == modules["upstream.inner.leaf"]["names"]["Class"]


@pytest.mark.parametrize(
    ("module", "told"),
    [
        # For private modules and tests, only names are listed, even if a neighbouring module ends the interpreter.
        ("upstream._private", {"private": ["_own", "public"]}),
        ("upstream.tests", {"private": ["public"]}),
        # A failed import does not make the next one fail.
        ("upstream._whole", {"private": ["upstream"]}),
        # A submodule is an attribute only of a package that imports it, even if a package starts threads.
        *((each, {"names": {}, "private": [], "gone": {}}) for each in ("upstream", "upstream.inner")),
        ("upstream.outer", {"names": {"upstream": {"kind": "module"}}, "private": [], "gone": {}}),
        ("threads.stays", {"names": {"x": {"kind": "constant"}}, "private": [], "gone": {}}),
    ],
)
def test_a_module_has_its_own_names(modules: dict[str, Any], module: str, told: dict[str, Any]) -> None:
    """A module's names do not include names that another import adds."""
    assert told == modules[module]


def test_a_module_that_stands_for_another_has_what_is_below_that(modules: dict[str, Any]) -> None:
    """A module that is replaced on import has the replacement's submodules below it."""
    assert "Class" in modules["upstream.stands_for_inner.leaf"]["names"]
