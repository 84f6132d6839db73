"""Findings: lines that a release cannot run or warns about, by the names in its data."""

import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_stack_compat.check.explain import missing
from jax_stack_compat.check.finding import Finding
from jax_stack_compat.check.source.conditions import All, AnyOf, Condition, Holds, Not, holds
from jax_stack_compat.check.source.lacks import findings
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.names import presence

HEAD = "import jax\nfrom importlib.metadata import version\nfrom packaging.version import Version, parse\n"


def found(tmp_path: Path, code: str, jax: str = "0.6.2") -> tuple[Finding, ...]:
    """Return the findings in a file on a release of jax."""
    (tmp_path / "a.py").write_text(textwrap.dedent(code), encoding="utf-8")
    return findings(usage(tmp_path).uses, {"jax": jax})


def names(of: tuple[Finding, ...], *, guarded: bool = False) -> list[tuple[str, str]]:
    """Return the levels and names of findings that are guarded, or that are not."""
    return [(each.level, each.name) for each in of if each.guarded == guarded]


def test_what_a_star_brings_is_missing_where_it_was_once(tmp_path: Path) -> None:
    """Unbound names count if some release has them; print is Python's own."""
    code = "from jax import *\nfrom jax.numpy import *\nprint(tree_map(abs, sum([1])), trapz(1))\nelsewhere()\n"
    assert [("certain", "jax.tree_map"), ("certain", "jax.numpy.trapz")] == names(found(tmp_path, code))
    assert not [each for each in found(tmp_path, code, "0.4.23") if each.level == "certain"]
    assert not found(tmp_path, f"from numpy import *\n{code}")


@pytest.mark.parametrize("own", ["jax.py", "jax/__init__.py", "src/jax/__init__.py"])
def test_the_projects_own_module_is_not_the_installed_one(tmp_path: Path, own: str) -> None:
    """A project's own jax shadows the installed one: its names are not looked up, and the answer says so."""
    (tmp_path / own).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / own).write_text("", encoding="utf-8")
    assert not found(tmp_path, "import jax\njax.tree_map(1)\n")
    (unread,) = usage(tmp_path).unread
    assert unread.path.endswith(own)
    assert "it is the project's own jax" in unread.why


def test_a_package_of_a_package_is_not_the_projects_own_jax(tmp_path: Path) -> None:
    """In a package's own folder, the installed jax is looked up beside its subpackage `jax`."""
    for name in ("__init__.py", "jax/__init__.py"):
        tmp_path.joinpath(name).parent.mkdir(exist_ok=True)
        tmp_path.joinpath(name).write_text("")
    tmp_path.joinpath("a.py").write_text("import jax\njax.tree_map\n")

    found = usage(tmp_path)

    assert ((), {"jax.tree_map"}) == (found.unread, set(found.names) & {"jax.tree_map"})


def test_what_was_not_listed_is_not_missing() -> None:
    """A walk sees only loaded modules below a folder without `__init__.py`; mhlo exists on 0.10.2."""
    assert presence.lacks("jaxlib.mlir.dialects.mhlo", "0.10.2") is None
    assert not list(missing.told("No module named 'jaxlib.mlir.dialects.mhlo'"))
    assert presence.lacks("jaxlib.no_such_module", "0.10.2") == "jaxlib.no_such_module"


@pytest.mark.parametrize(
    ("code", "jax", "name", "says"),
    [
        ("import jax\njax.tree_map(f, x)", "0.6.0", "jax.tree_map", "removed in jax 0.6.0"),
        ("from jax import tree_map", "0.6.0", "jax.tree_map", "removed in jax 0.6.0"),
        ("import jax\njax.tree.map(f, x)", "0.4.24", "jax.tree", "added in jax 0.4.25"),
        # A later argument, or a release whose module is unknown, does not change a name's release.
        (
            *("import jax\njax.tree.leaves_with_path(x, is_leaf_takes_path=True)", "0.4.35"),
            *("jax.tree.leaves_with_path", "added in jax 0.4.38"),
        ),
        (
            *("from jax.experimental.pallas import triton\ntriton.load(x)", "0.4.35"),
            *("jax.experimental.pallas.triton.load", "added in jax 0.7.1"),
        ),
        ("import jax.experimental.maps as m", "0.4.31", "jax.experimental.maps", "removed in jax 0.4.31"),
        ("from jax.config import config", "0.4.30", "jax.config", "removed in jax 0.4.29"),
        ("from jax import nowhere", "0.6.2", "jax.nowhere", "in no release of jax from 0.4.18 to"),
        ("import jax\njax.nn.softmax(x, initial=0)", "0.6.0", "jax.nn.softmax(initial=)", "no argument initial since"),
        ("import jax\njax.jit(static_argnums=0)", "0.8.0", "jax.jit(…)", "missing a required argument: 'fun'"),
        ("import jax\njax.numpy.pad(1, 2, 3, 4)", "0.6.2", "jax.numpy.pad(…)", "too many positional arguments"),
    ],
)
def test_what_a_release_lacks_is_certain(tmp_path: Path, code: str, jax: str, name: str, says: str) -> None:
    """A missing name, module, keyword or position is reported with the release that removed or added it."""
    [told] = found(tmp_path, code, jax)
    assert ("certain", name, False) == (told.level, told.name, told.guarded)
    assert told.says.startswith(says)


@pytest.mark.parametrize(
    "code",
    [
        "import jax\njax.tree_util.tree_map(f, x)",
        "import jax\njax.config.update('jax_enable_x64', True)",
        "import jax.numpy as jnp\njnp.ndarray.nothing",
        "import jax\njax.__nothing__",
        "import jax\njax.jit(*f, **k)",
        "import jax\njax.numpy.pad(*x)",
        "from functools import partial\nimport jax\npartial(jax.numpy.pad, mode='edge')",
        "import jax.experimental.jax2tf as t\nt.convert(f)",
        "import jax\njax.tree_map = 1\njax.tree_map(f)",
        "import jax\nsetattr(jax, 'tree_map', 1)\njax.tree_map(f)",
        "import numpy as jax\njax.tree_map(f)",
        "import jax\nif x:\n    jax = y\njax.tree_map(f)",
    ],
)
def test_what_is_there_or_not_known_is_silent(tmp_path: Path, code: str) -> None:
    """Existing names, members of objects, unknown modules and assigned names have no finding."""
    assert [] == names(tuple(each for each in found(tmp_path, code) if each.level == "certain"))


@pytest.mark.parametrize(("shape", "says"), [("-1", ""), ("(2,)", "; jax 0.6.1 takes it")])
def test_a_release_takes_a_call_if_it_refuses_no_literal(tmp_path: Path, shape: str, says: str) -> None:
    """A release that accepts the number of arguments, but not the shape -1, is not said to take the call."""
    [told] = found(tmp_path, f"import jax\njax.random.bernoulli(k, p, {shape}, m)", "0.6.0")
    assert f"too many positional arguments{says}" == told.says


def test_a_release_that_was_not_walked_says_nothing(tmp_path: Path) -> None:
    """Unknown is never missing: 0.4.32 was yanked and is not in the data."""
    assert (
        () == found(tmp_path, "import jax\njax.nowhere", "0.4.32") == found(tmp_path, "import jax\njax.nowhere", "99")
    )


def test_a_deprecated_name_is_no_missing_one(tmp_path: Path) -> None:
    """A deprecated name exists and warns; the release that removes it is named if known."""
    [told] = found(tmp_path, "import jax\njax.tree_map(f, x)", "0.5.3")
    assert ("deprecated", "jax.tree_map", "deprecated; removed in jax 0.6.0") == (told.level, told.name, told.says)
    assert "jax.tree.map or jax.tree_util.tree_map" == told.do


def test_a_missing_import_is_missing_where_it_is_used(tmp_path: Path) -> None:
    """All lines that use a removed module are reported; another file's import does not count."""
    (tmp_path / "b.py").write_text("lu = 1\nlu.wrap_init")
    of = found(tmp_path, "from jax import linear_util as lu\nlu.wrap_init(f)")
    assert [1, 2] == [each.place.line for each in of]
    assert {"jax.linear_util"} == {each.name for each in of}


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    jax.tree_map(f)\nexcept AttributeError:\n    pass",
        "try:\n    from jax import tree_map\nexcept ImportError:\n    tree_map = None",
        "try:\n    from jax import tree_map\nexcept Exception:\n    tree_map = None",
        "try:\n    jax.shard_map\nexcept AttributeError:\n    jax.tree_map(f)",
        "import contextlib\nwith contextlib.suppress(AttributeError):\n    jax.tree_map(f)",
        "if hasattr(jax, 'tree_map'):\n    jax.tree_map(f)",
        "if not hasattr(jax, 'tree_map'):\n    pass\nelse:\n    jax.tree_map(f)",
        "g = jax.tree_map if hasattr(jax, 'tree_map') else None",
        "hasattr(jax, 'tree_map') and jax.tree_map(f)",
        "if jax.__version_info__ < (0, 6):\n    jax.tree_map(f)",
        "if Version(jax.__version__) >= Version('0.6'):\n    pass\nelse:\n    jax.tree_map(f)",
        "if parse(version('jax')) < parse('0.6.0'):\n    jax.tree_map(f)",
        "V = tuple(map(int, jax.__version__.split('.')))\nOLD = V < (0, 6)\nif OLD:\n    jax.tree_map(f)",
        "def g():\n    if jax.__version_info__ >= (0, 6):\n        return 1\n    return jax.tree_map(f)",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from jax import tree_map",
        "import pytest\n@pytest.mark.skipif(jax.__version__ > '0.5', reason='')\ndef test():\n    jax.tree_map(f)",
        "def is_old():\n    return jax.__version__ < '0.6'\nif is_old():\n    jax.tree_map(f)",
        "def g(x):\n    y: jax.tree_map = x",
        "try:\n    from jax import shard_map\nexcept ImportError:\n    OLD = True\nif OLD:\n    jax.tree_map(f)",
    ],
)
def test_what_asks_for_the_release_is_guarded(tmp_path: Path, code: str) -> None:
    """Code that a release does not run, or that catches an absent name, is guarded."""
    of = found(tmp_path, HEAD + code)
    assert ([("certain", "jax.tree_map")], []) == (names(of, guarded=True), names(of))


@pytest.mark.parametrize(
    "code",
    [
        "def g(name):\n    try:\n        h = __import__('jax.' + name)\n    except AttributeError:\n        h = None\n"
        "    if h is None:\n        jax.tree_map(f)",
        "def g(h):\n    try:\n        y = h(1)\n    except AttributeError:\n        jax.tree_map(f)",
        "def g():\n    for m in (jax, jax.experimental):\n        try:\n            h = m.shard_map\n"
        "        except AttributeError:\n            jax.tree_map(f)",
        "import importlib\ntry:\n    s = importlib.import_module('jax.sharding')\nexcept ImportError:\n    s = None\n"
        "if s is None:\n    jax.tree_map(f)",
        "def new():\n    return jax.tree.map\ntry:\n    m = new()\nexcept AttributeError:\n    jax.tree_map(f)",
        "import importlib\ndef g(name):\n    try:\n        h = importlib.import_module(name)\n"
        "    except ImportError:\n        h = None\n    if h is None:\n        jax.tree_map(f)",
        "def g():\n    global H\n    m = jax\n    try:\n        H = m.shard_map\n    except AttributeError:\n"
        "        H = None\ndef h():\n    if H is None:\n        jax.tree_map(f)",
        "try:\n    import flax\nexcept ImportError:\n    flax = None\nif flax:\n    jax.tree_map(f)",
        "from importlib.util import find_spec\nif find_spec('jax.shard_map'):\n    jax.tree_map(f)",
        "if version('numpy') < '2':\n    jax.tree_map(f)",
        "if version(name) < '2':\n    jax.tree_map(f)",
        "import inspect\nif 'x' in inspect.signature(h).parameters:\n    jax.tree_map(f)",
    ],
)
def test_what_may_ask_for_the_release_is_guarded(tmp_path: Path, code: str) -> None:
    """A test that is not followed, and may depend on a release of the stack, guards."""
    of = found(tmp_path, HEAD + code)
    assert ([("certain", "jax.tree_map")], []) == (names(of, guarded=True), names(of))


def test_annotations_that_nothing_evaluates_are_guarded(tmp_path: Path) -> None:
    """Under `from __future__ import annotations` a missing name in an annotation is harmless; without it, it is not."""
    code = "import jax\ndef f(x: jax.tree_map): ..."
    assert [True] == [each.guarded for each in found(tmp_path, f"from __future__ import annotations\n{code}")]
    assert [False] == [each.guarded for each in found(tmp_path, code)]


OPTIONAL = "try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\n"


@pytest.mark.parametrize(
    "code",
    [
        f"{OPTIONAL}def g():\n    if tf is None:\n        raise ImportError('no tensorflow')\n"
        "    return jax.tree_map(tf.constant, f)",
        f"{OPTIONAL}def g(x):\n    if not tf:\n        return x\n    return jax.tree_map(f)",
        f"{OPTIONAL}import functools\n@functools.partial(jax.jit, out_shardings=tf)\ndef g(x):\n"
        "    return jax.tree_map(f)",
        f"{OPTIONAL}import pytest\n@pytest.mark.skipif(tf is None, reason='')\ndef test():\n    jax.tree_map(f)",
        "def g(cfg):\n    try:\n        k = cfg.model\n    except AttributeError:\n        k = None\n"
        "    if k:\n        return jax.tree_map(f)",
        "try:\n    import tensorflow\nexcept ImportError:\n    jax.tree_map(f)",
        "try:\n    import tensorflow\nexcept ImportError:\n    pass\nelse:\n    jax.tree_map(f)",
        "import importlib\ntry:\n    tf = importlib.import_module('tensorflow')\nexcept ImportError:\n    tf = None\n"
        "if tf:\n    jax.tree_map(f)",
        "try:\n    from functools import cache\nexcept ImportError:\n    cache = None\nif cache:\n    jax.tree_map(f)",
        "from importlib.util import find_spec\nHAS = find_spec('tensorflow') is not None\nif HAS:\n    jax.tree_map(f)",
        "if Version(version('tensorflow')) < Version('2'):\n    jax.tree_map(f)",
        "import functools\nOLD = jax.__version_info__ < (0, 5)\n@functools.partial(jax.jit, inline=OLD)\ndef g(x):\n"
        "    return jax.tree_map(f)",
    ],
)
def test_what_asks_for_no_release_guards_nothing(tmp_path: Path, code: str) -> None:
    """An optional import of another package, an attribute of an argument, and an argument of jit guard nothing."""
    of = found(tmp_path, HEAD + code)
    assert ([], [("certain", "jax.tree_map")]) == (names(of, guarded=True), names(of))


def test_an_optional_import_of_another_module_guards_nothing(tmp_path: Path) -> None:
    """An optional import of another package in a module of the project does not guard code in another module."""
    (tmp_path / "optional.py").write_text(OPTIONAL)
    (tmp_path / "__init__.py").touch()
    code = "import jax\nfrom .optional import tf\nif tf:\n    jax.tree_map(f)"
    assert [False] == [each.guarded for each in found(tmp_path, code)]


@pytest.mark.parametrize(
    ("code", "jax"),
    [
        ("import jax.extend.linear_util as lu\n@lu.transformation\ndef f(*args):\n    yield args, {}", "0.6.0"),
        ("import jax.extend.linear_util as lu\n@lu.transformation_with_aux2\ndef f(g, store): ...", "0.12.0.1"),
        ("from jax import linear_util as lu\n@lu.transformation_with_aux\ndef f(*args):\n    yield args", "0.4.20"),
        ("from jax.extend.core import jaxpr_as_fun\njaxpr_as_fun(closed)(1.0, 2.0)", "0.7.0"),
        ("import jax\njax.remat(f, concrete=False)", "0.7.1"),
        ("import jax\njax.checkpoint(f, concrete=False)", "0.4.18"),
        ("import diffrax\ndiffrax.PIDController(rtol=1e-3, atol=1e-3, jump_ts=None)", "0.7.1"),
    ],
)
def test_a_signature_that_misleads_is_not_used(tmp_path: Path, code: str, jax: str) -> None:
    """Calls of curried and wrapped functions, whose signature is another function's, have no finding."""
    assert [] == [each for each in found(tmp_path, code, jax) if each.level == "certain"]


def test_a_signature_counts_since_it_is_the_functions_own(tmp_path: Path) -> None:
    """`jax.checkpoint` has been its own function since jax 0.8.2, and lost `concrete` in 0.11.0."""
    (told,) = found(tmp_path, "import jax\njax.checkpoint(f, concrete=False)", "0.12.0.1")
    assert ("certain", "no argument concrete since jax 0.11.0") == (told.level, told.says)


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    jax.tree_map(f)\nexcept Exception:\n    pass",
        "try:\n    pass\nexcept ImportError:\n    pass\nfinally:\n    jax.tree_map(f)",
        "if hasattr(jax, 'jit'):\n    jax.tree_map(f)",
        "if not hasattr(jax, 'tree_map'):\n    jax.tree_map(f)",
        "if hasattr(self, 'tree_map'):\n    jax.tree_map(f)",
        "if jax.__version_info__ >= (0, 6):\n    jax.tree_map(f)",
        "if Version(jax.__version__) > Version('0.4.1') or x:\n    jax.tree_map(f)",
        "import sys\nif sys.version_info > (3, 11):\n    jax.tree_map(f)",
        "if jax.__version_info__ < (0, 6):\n    x = 1\njax.tree_map(f)",
        "import functools\n@functools.partial(jax.jit, static_argnums=0)\ndef g(x):\n    return jax.tree_map(x)",
    ],
)
def test_other_conditions_guard_nothing(tmp_path: Path, code: str) -> None:
    """A clause for all errors, or a test that this release passes, does not guard a missing name."""
    of = found(tmp_path, HEAD + code)
    assert ([], [("certain", "jax.tree_map")]) == (names(of, guarded=True), names(of))


def test_a_condition_of_another_module_guards(tmp_path: Path) -> None:
    """A condition in one module guards code in another."""
    (tmp_path / "compat.py").write_text("import jax\nOLD = jax.__version_info__ < (0, 6)\nJAX_OLD = OLD")
    (tmp_path / "__init__.py").touch()
    code = "import jax\nfrom .compat import JAX_OLD\nif JAX_OLD:\n    jax.tree_map(f)"
    assert [True] == [each.guarded for each in found(tmp_path, code)]
    assert [False] == [each.guarded for each in found(tmp_path, code.replace("if", "if not"))]


CONDITIONS = st.recursive(
    st.sampled_from(Holds),
    lambda inner: st.one_of(inner.map(Not), st.tuples(inner, inner).map(All), st.tuples(inner, inner).map(AnyOf)),
    max_leaves=8,
)


@given(CONDITIONS)
def test_what_is_unknown_stays_so(condition: Condition) -> None:
    """A condition has a value if its unknown and free parts cannot change it; else it is unknown or free."""

    def filled(of: Condition, unknown: bool, free: bool) -> bool:
        match of:
            case Holds():
                return {Holds.YES: True, Holds.NO: False, Holds.FREE: free}.get(of, unknown)
            case Not(inner):
                return not filled(inner, unknown, free)
            case All(inner):
                return all(filled(each, unknown, free) for each in inner)
            case AnyOf(inner):
                return any(filled(each, unknown, free) for each in inner)
        raise AssertionError(of)

    told = holds(condition, {})
    if told in (Holds.YES, Holds.NO):
        assert {told.value} == {filled(condition, one, two) for one in (True, False) for two in (True, False)}
