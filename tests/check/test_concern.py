"""Cases of a stack that concern a source tree, and their levels."""

from pathlib import Path

import pytest

from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check.answer import Answer, answer
from jax_stack_compat.check.finding import Finding
from jax_stack_compat.check.findings import of_source, of_stack, ordered
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.source.touched import is_untold, meets, methods, touch
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.issues.transforms import static_argnums_out_of_order
from jax_stack_compat.names.libraries import matters
from tests.check.worlds import case, issue, knowledge, stack

ROUND = "jax.numpy.round(a, decimals) if decimals >= 38"
METHOD = "jax.Array.round(decimals) if decimals >= 38"
BOOL = "jax.numpy.sum(a, axis, dtype) if dtype in ('builtins.bool', 'numpy.bool_')"
PARTIAL = "from functools import partial\n@jax.custom_jvp\ndef f(x): return x\n@partial"
SYMBOLIC = "jax.custom_jvp.defjvp(jvp, symbolic_zeros) if symbolic_zeros == True"
GUARD = "jax.numpy.log(a) if a == 0 and not within('jax.numpy.where')"
ZERO = "jax.numpy.log(a) if a == 0"
ARANGE = "jax.numpy.arange(start, stop, step) if given(step) or (given(stop) and start != 0)"
SEEN = "jax.numpy.array(object) if seen(None in object)"
STATIC = "jax.jit(fun, static_argnums) if type(static_argnums) == 'tuple' and sorted(static_argnums) != static_argnums"


OLD = {"jax": "0.4.35", "equinox": "0.11.10", "diffrax": "0.6.0"}
NEW = {"jax": "0.12.0.1", "equinox": "0.13.8", "diffrax": "0.7.2"}


MENDED = (Rule("wrong", "jax<0.7.0", "run"), Rule("right", "", "run"))


OUT_OF_ORDER = tuple(text for case in static_argnums_out_of_order.ISSUE.cases for text in case.touches)


def found(
    tmp_path: Path, code: str, *touches: str, rules: tuple[Rule, ...] = MENDED, workaround: str = "Do not."
) -> list[Finding]:
    """Return the findings in a text; the world's case touches these names, and is wrong up to jax 0.6.0 by default."""
    (tmp_path / "a.py").write_text(f"import jax\nimport jax.numpy as jnp\n{code}\n")
    wrong = case("one", *rules, touches=touches, workaround=workaround)
    world = knowledge(issue("some-issue", wrong))
    findings, _, _ = of_source(answer(world, stack(jax="0.6.0")), world, usage(tmp_path, methods(world)))
    return [finding for finding in findings if finding.id]


@pytest.mark.parametrize(
    ("wanted", "code", "levels"),
    [
        (ROUND, "jnp.round(x, 3)", []),
        (ROUND, "jnp.round(x, 39)", ["likely"]),
        (ROUND, "jnp.round(x, n)", ["possible"]),
        (ROUND, "jnp.round(x, **more)", ["possible"]),
        (ROUND, "map(jnp.round, x)", ["possible"]),
        (ROUND, "from functools import partial\npartial(jnp.round, decimals=3)", []),
        (ARANGE, "jnp.arange(0, 50)", []),
        (ARANGE, "jnp.arange(1, 50)", ["likely"]),
        (ARANGE, "jnp.arange(0, 50, 2)", ["likely"]),
        (ARANGE, "jnp.arange(*n)", ["possible"]),
        (STATIC, "jax.jit(f, static_argnums=(0,))", []),
        (STATIC, "jax.jit(f, static_argnums=(1, 0))", ["likely"]),
        (STATIC, "jax.jit(f, static_argnums=(n, 0))", ["possible"]),
        (STATIC, "@jax.jit\ndef f(x): ...", []),
        ("jax.jit(inline=)", "jax.jit(f, inline=True)", ["possible"]),
        ("jax.vmap", "jax.vmap(f)", ["possible"]),
        ("jax.vmap if uses('jax.new_ref')", "jax.vmap(f)", []),
        ("jax.vmap if uses('jax.new_ref')", "jax.vmap(f)\njax.new_ref(0)", ["possible"]),
        ("jax.vmap if uses('jax_enable_x64')", "jax.vmap(f)\njax.config.update('jax_enable_x64', True)", ["possible"]),
        ("jax.nn.relu if string_annotations", "jax.nn.relu(x)", []),
        ("jax.numpy.sum(a, dtype) if dtype == 'jax.numpy.float16'", "jnp.sum(x, dtype=jnp.float16)", ["likely"]),
        ("jax.numpy.clip(a, min) if min < 2**31", "jnp.clip(a, 2**30)", ["likely"]),
        ("jax.numpy.clip(a, min) if min < 2**31", "jnp.clip(a, 'x')", ["possible"]),
        # A builtin type and a scalar type of NumPy are texts.
        (BOOL, "jnp.sum(x, None, bool)", ["likely"]),
        (BOOL, "import numpy as np\njnp.sum(x, dtype=np.bool_)", ["likely"]),
        (BOOL, "jnp.sum(x, dtype=jnp.float32)", []),
        (BOOL, "jnp.sum(x, dtype='bool')", []),
        # The class of x is unknown, so the condition has to be met.
        (METHOD, "x.round(38)", ["possible"]),
        (METHOD, "f(x)[0].round(decimals=39)", ["possible"]),
        (METHOD, "x.round(3)", []),
        (METHOD, "x.round(n)", []),
        (METHOD, "import numpy as np\nnp.round(38)", []),
        (METHOD, "import numpy as np\nx = np.array(1)\nx.round(38)", []),
        (METHOD, "import numpy as np\nx = jnp.array(1)\nx.round(38)", ["possible"]),
        (METHOD, "import numpy as np\nnp.zeros(3).round(38)", []),
        (METHOD, "jnp.zeros(3).round(38)", ["possible"]),
        # The code around a use.
        (GUARD, "jnp.log(0)", ["likely"]),
        (GUARD, "jnp.where(x > 0, jnp.log(0), 1)", []),
        (GUARD, "def f(): return jnp.log(0)", ["likely"]),
        (GUARD, "def f(): return jnp.log(0)\njnp.where(x, y, z)", ["possible"]),
        ("jax.numpy.exp if within('jax.jit')", "jnp.exp(x)", []),
        ("jax.numpy.exp if within('[int]')", "jnp.exp(x)[0]", ["likely"]),
        ("jax.numpy.exp if within('jax.disable_jit')", "with jax.disable_jit():\n  jnp.exp(x)", ["likely"]),
        ("jax.numpy.exp if within('jax.disable_jit')", "with jax.disable_jit():\n  x = 1\njnp.exp(x)", []),
        (SYMBOLIC, "@jax.custom_jvp\ndef f(x): return x\nf.defjvp(g, symbolic_zeros=True)", ["possible"]),
        (SYMBOLIC, f"{PARTIAL}(f.defjvp, symbolic_zeros=True)\ndef g(p, t): return p", ["possible"]),
        (SYMBOLIC, "def f(x): return x\nf.defjvp(g, symbolic_zeros=True)", []),
        ("jax.vmap if within('jax.jit')", "@jax.jit\n@jax.vmap\ndef f(x): return x", ["likely"]),
        ("jax.vmap if within('jax.jit')", "@jax.vmap\n@jax.jit\ndef f(x): return x", []),
        ("jax.numpy.exp if within('[int]')", "jnp.exp(x)['a'], jnp.exp(x)[i]", []),
        ("jax.numpy.exp if within('jax.jit')", "@jax.jit\ndef f(x): return jnp.exp(x)", ["likely"]),
        ("jax.numpy.exp if within('jax.jit')", "def f(x): return jnp.exp(x)\njax.jit(f)", ["likely"]),
        ("jax.numpy.exp if within('jax.jit')", "jax.jit(lambda x: jnp.exp(x))", ["likely"]),
        ("jax.numpy.exp if within('jax.jit')", "def f(x): return jnp.exp(x)\njax.jit(g)", ["possible"]),
        # The form of an argument.
        ("jax.numpy.sum(a, where) if form(where) not in ('compare', 'astype')", "jnp.sum(x, where=x > 0)", []),
        ("jax.numpy.sum(a, where) if form(where) not in ('compare', 'astype')", "jnp.sum(x, x.astype(bool))", []),
        ("jax.numpy.sum(a, where) if form(where) not in ('compare', 'astype')", "jnp.sum(x, where=y)", ["likely"]),
        ("jax.numpy.log(a) if form(a) != 'jax.numpy.where'", "jnp.log(jnp.where(x, y, z))", []),
        ("jax.numpy.log(a) if form(a) == '*'", "y = 0.7 * x\njnp.log(y)", ["likely"]),
        ("jax.numpy.log(a) if form(a) == '*'", "jnp.log(2 * 3)", []),
        (SEEN, "jnp.array([x, None])", ["likely"]),
        (SEEN, "jnp.array([x, 1.0])", []),
        (SEEN, "jnp.array(x)", []),
        # A variable with one literal, and an array of literals: one element decides.
        (ZERO, "x = 0\njnp.log(x)", ["likely"]),
        (ZERO, "x = 1\njnp.log(x)", []),
        (ZERO, "x = 1\nx += y\njnp.log(x)", ["possible"]),
        (ZERO, "jnp.log(jnp.array([[1.0], [0.0]]))", ["likely"]),
        (ZERO, "x = jnp.asarray((0.5, -2))\njnp.log(x)", []),
        (ZERO, "jnp.log(jnp.array([1.0, y]))", ["possible"]),
        (ZERO, "jnp.log(jnp.array([0.5, 1.5], jnp.int32))", ["possible"]),
        (ZERO, "jnp.log(jnp.array([0.5, 1.5], dtype='float16'))", []),
        (ZERO, "jnp.log(jnp.array([0, 1], dtype=jnp.int8))", ["likely"]),
        (ZERO, "jnp.log(jnp.zeros(n))", ["likely"]),
        (ZERO, "jnp.log(jnp.ones((2, 3)))", []),
        (ZERO, "import numpy as np\njnp.log(np.array([0.5]))", []),
        (ZERO, "import numpy as np\nx = np.array([0.5])\nx[0] = y\njnp.log(x)", ["possible"]),
        ("jax.numpy.power(x, y) if x == 0 and y < 0", "jnp.power(jnp.zeros(2), jnp.array([1, -1]))", ["likely"]),
        ("jax.numpy.power(x, y) if x == 0 and y < 0", "jnp.power(jnp.array([0, 1]), jnp.array([1, -1]))", []),
        ("jax.numpy.power(x, y) if x == 0 and y < 0", "jnp.power(jnp.array([0, 1]), -jnp.ones(3))", ["possible"]),
        ("jax.numpy.sum(a, where) if where not in (True, None)", "jnp.sum(x, where=jnp.array([1, 1]))", ["likely"]),
        ("jax.numpy.sum(a, where) if where not in (True, None)", "jnp.sum(x, where=jnp.array([True]))", []),
        ("jax.numpy.log(a) if type(a) == 'float'", "jnp.log(jnp.array([1.0]))", ["possible"]),
        ("jax.Array.__pow__(n) if n == 0", "x ** 0", ["possible"]),
        ("jax.Array.__pow__(n) if n == 0", "x ** 2", []),
        ("jax.Array.__pow__(n) if n == 0", "x * 0", []),
        ("jax.numpy.log if without('jax.numpy.exp')", "jnp.log(x)", ["likely"]),
        ("jax.numpy.log if without('jax.numpy.exp')", "jnp.log(x)\njnp.exp(x)", []),
        # A library, and a function of one.
        ("import flax.nnx", "from flax import nnx", ["certain"]),
        ("import flax.nnx", "import flax.nnx.helpers as h", ["certain"]),
        ("import flax.nnx", "from flax import linen", []),
        ("import flax.nnx if shows('wrong')", "from flax import nnx", ["certain"]),
        ("import flax.nnx if shows('right')", "from flax import nnx", []),
        ("flax.nnx.jit if shows('wrong')", "from flax import nnx\nnnx.jit(f)", ["likely"]),
    ],
)
def test_a_condition_is_literal(tmp_path: Path, wanted: str, code: str, levels: list[str]) -> None:
    """A contradicted condition is silent, a met one likely, and an invisible one possible."""
    assert levels == [each.level for each in found(tmp_path, code, wanted)]


@pytest.mark.parametrize(
    ("code", "levels"),
    [
        ("@partial(jax.jit, inline=True)\ndef f(x):\n    return x", []),
        ("@jax.jit\ndef f(x):\n    return x", []),
        ("inlined = partial(jax.jit, inline=True)", []),
        ("jitted = list(map(jax.jit, functions))", []),
        ("@partial(jax.custom_jvp)\ndef f(x):\n    return x", []),
        ("partial(jax.make_jaxpr, return_shape=True)(f)", []),
        ("@partial(jax.jit, static_argnums=(0, 1))\ndef f(x, y, z):\n    return z", []),
        ("@partial(jax.jit, static_argnums=(1, 0))\ndef f(x, y, z):\n    return z", ["likely"]),
        ("@partial(jax.custom_jvp, nondiff_argnums=(1, 0))\ndef f(x, y, z):\n    return z", ["likely"]),
        ("@partial(jax.jit, static_argnums=numbers)\ndef f(x, y, z):\n    return z", ["possible"]),
        ("ordered = partial(jax.jit, static_argnums=(1, 0))", ["likely"]),
    ],
)
def test_the_order_of_static_arguments_needs_static_arguments(tmp_path: Path, code: str, levels: list[str]) -> None:
    """Code that gives no static arguments is not concerned; a decorator that is a partial is a whole call."""
    of = found(tmp_path, f"from functools import partial\n{code}", *OUT_OF_ORDER)
    assert levels == [each.level for each in of]


@pytest.mark.parametrize(
    ("wanted", "code", "is_narrowed"),
    [
        ("jax.numpy.round(a, decimals) if decimals >= 38 and type(a) == 'float'", "jnp.round(x, 39)", True),
        ("jax.numpy.round(a, decimals) if decimals >= 38 and type(a) == 'float'", "jnp.round(x, n)", False),
        ("jax.numpy.round(a, decimals) if decimals >= 38 or type(a) == 'float'", "jnp.round(x, n)", False),
        ("jax.numpy.round(a, decimals) if a != 0 and decimals >= 38", "jnp.round(1.5, n)", False),
        ("jax.numpy.round(a) if (uses('absent') and a > 0) or unseen", "jnp.round(x)", False),
        ("jax.numpy.round(a) if seen(a > 1) and unseen", "jnp.round(jnp.array([1.0, 2.0]))", True),
        ("jax.numpy.round(a, decimals) if not given(decimals) and unseen", "jnp.round(x)", False),
        ("jax.numpy.round(a, decimals) if given(decimals) and unseen", "jnp.round(x, n)", False),
        ("jax.numpy.round(a) if form(a) in ('', 'min') and unseen", "jnp.round(x)", False),
        ("jax.numpy.round(a) if form(a) in ('', 'min') and unseen", "jnp.round(min(x, 1))", True),
        ("jax.numpy.round if within('jax.jit') and unseen", "jax.jit(lambda x: jnp.round(x))", True),
        ("jax.vmap if uses('jax.new_ref')", "jax.vmap(f)\njax.new_ref(0)", True),
        ("jax.vmap(f) if uses('jax.new_ref') and f == 0", "jax.vmap(f)\njax.new_ref(0)", False),
        ("jax.jit(inline=)", "jax.jit(f, inline=True)", True),
        ("jax.vmap", "jax.vmap(f)", False),
        (METHOD, "x.round(38)", True),
    ],
)
def test_a_possible_line_shows_a_part_of_the_condition(
    tmp_path: Path, wanted: str, code: str, is_narrowed: bool
) -> None:
    """A visible value, a keyword's touch, a form or a surrounding call narrows; an unseen argument does not."""
    (told,) = found(tmp_path, code, wanted)
    assert ("possible", is_narrowed) == (told.level, told.narrowed)


def test_a_place_is_narrowed_if_one_case_is(tmp_path: Path) -> None:
    """A finding of several cases is narrowed by the case of which the code shows the most."""
    wanted = ("jax.numpy.round", "jax.numpy.round(a) if form(a) == 'min' and unseen")
    (told,) = found(tmp_path, "jnp.round(min(x, 1), n)", *wanted)
    assert told.narrowed


@pytest.mark.parametrize("text", ["jax.jit(fun) if other > 1", "jax.jit(fun) if fun >", "jax.jit if x"])
def test_a_condition_names_its_parameters(text: str) -> None:
    """Undeclared parameters and invalid expressions are refused."""
    with pytest.raises(ValueError, match=r"jax\.jit"):
        touch(text)


@pytest.fixture(scope="module", params=[OLD, NEW], ids=["old", "new"])
def answered(request: pytest.FixtureRequest, published: Knowledge) -> Answer:
    """Return what is published of a stack."""
    return answer(published, stack(**request.param))


@pytest.mark.parametrize(
    "code",
    [
        "jnp.round(x, 3)",
        "jnp.arange(50)",
        "jax.jit(f, static_argnums=(0,))",
        # A class may accept more than its signature shows.
        "diffrax.PIDController(rtol=1e-3, atol=1e-3, jump_ts=None)",
        "class A(eqx.Module):\n    x: eqx.AbstractVar[int]",
        "jax.vmap(f)",
    ],
)
def test_what_is_published_is_silent_of_other_code(
    tmp_path: Path, code: str, published: Knowledge, answered: Answer
) -> None:
    """Code that contradicts all cases of its function, or lacks what they need, has no finding."""
    (tmp_path / "a.py").write_text(
        f"import diffrax\nimport equinox as eqx\nimport jax\nimport jax.numpy as jnp\n{code}\n"
    )
    findings, read, _ = of_source(answered, published, usage(tmp_path))
    assert ([], 1) == ([finding.what for finding in findings if finding.level != "chronic"], read.files)


def test_what_does_not_run_is_one_finding(tmp_path: Path) -> None:
    """A certain line has one finding, also if an issue concerns its function."""
    (told,) = found(tmp_path, "jax.tree_map(f, x)", "jax.tree_map")
    assert ("certain", "some-issue", ("one",)) == (told.level, told.id, told.cases)


def test_row_zero_comes_first() -> None:
    """A stack that does not work at all is told before numbers that are silently wrong."""
    world = knowledge(issue("numbers", case("one", *MENDED)), issue("solves", case("one", *MENDED), row_zero=True))
    found = ordered(of_stack(answer(world, stack(jax="0.6.0")), world), world)
    assert ["solves", "numbers"] == [finding.id for finding in found]


def test_what_many_use_comes_first() -> None:
    """Within a kind, issues of functions that more libraries use come first."""
    world = knowledge(
        issue("a-corner", case("one", *MENDED, touches=("jax.numpy.packbits",))),
        issue("everyday", case("one", *MENDED, touches=("jax.vmap",))),
        issue("nobodys", case("one", *MENDED, touches=("jax.no_such_name",))),
    )
    found = ordered(of_stack(answer(world, stack(jax="0.6.0")), world), world)
    assert ["everyday", "a-corner", "nobodys"] == [each.id for each in found]
    assert ["everyday", "corner", "corner"] == [matters(each.users) for each in found]


def test_likely_needs_something_to_do(tmp_path: Path) -> None:
    """An issue without a good release and a workaround is counted, and does not require action."""
    rules = (Rule("wrong", "", "run"),)
    assert ["likely"] == [each.level for each in found(tmp_path, "jnp.round(x, 39)", ROUND, rules=rules)]
    without = found(tmp_path, "jnp.round(x, 39)", ROUND, rules=rules, workaround="")
    assert ["chronic"] == [each.level for each in without]


def test_a_touch_of_a_place_is_told_once(tmp_path: Path) -> None:
    """Cases of an issue in one place are one finding, which names them."""
    (told,) = found(tmp_path, "jnp.round(x, 39)", ROUND, "jax.numpy.round")
    assert (("one",), "likely") == (told.cases, told.level)


def test_what_the_code_says_to_ignore_is_no_finding(tmp_path: Path) -> None:
    """A comment ignores the issue with its id, or all issues without an id, but no other issue."""
    assert not found(tmp_path, "jax.vmap(f)  # compat: ignore[some-issue]", "jax.vmap")
    assert not found(tmp_path, "jax.vmap(f)  # compat: ignore", "jax.vmap")
    assert found(tmp_path, "jax.vmap(f)  # compat: ignore[other]", "jax.vmap")


def test_what_no_source_tells_is_untold() -> None:
    """Source code cannot show a case of an area, a private name or a member of a class."""
    hidden = ["control flow", "jax.core.Tracer.__hash__", "jax._src.mlir.f", "jax.stages.Wrapped.lower", "jax_flag"]
    for names in (*((each,) for each in hidden), ("jax.stages.Wrapped.lower", "jax.jit")):
        assert is_untold(case("one", touches=names))
    for names in (("jax.jit", "jit cache"), ("jax.jit(static_argnums=)",), ("jax.memory.Space.Device",)):
        assert not is_untold(case("one", touches=names))


def test_another_function_is_not_met(tmp_path: Path) -> None:
    """A condition on a call does not apply to a use of its result."""
    (tmp_path / "a.py").write_text("import jax.numpy as jnp\njnp.round.lower(39)\n")
    (use,) = [each for each in usage(tmp_path).uses if each.how == "name"]
    assert meets(touch(ROUND), use, ()) is None
