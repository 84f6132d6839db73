"""`find`, `explain` and upgrades with the published index: what people typed or pasted, and the right answer."""

from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.check.explain import missing
from jax_stack_compat.check.find.index import load
from jax_stack_compat.check.find.ranked import ranked
from jax_stack_compat.check.find.words import SYNONYMS, admits, asked, compared
from tests.check.conftest import Said

FRAME = '  File "/v/lib/python3.12/site-packages/{}", line 9, in <module>\n    {}\n'
TREE_MAP = """Traceback (most recent call last):
  File "fit.py", line 3, in <module>
    p = jax.tree_map(lambda v: v / 2, p)
AttributeError: jax.tree_map was removed in JAX v0.6.0: use jax.tree.map (jax v0.4.25 or newer) or \
jax.tree_util.tree_map (any JAX version).
"""
GSPMD = (
    "AttributeError: jax.sharding.GSPMDSharding was deprecated in JAX v0.6.0 and removed in JAX v0.7.0. Did you mean: "
    "'NamedSharding'?"
)
PP_EQN_RULES = (
    FRAME.format("equinox/internal/_noinline.py", "jax.core.pp_eqn_rules[noinline_p] = _noinline_pretty_print")
    + "AttributeError: jax.core.pp_eqn_rules was removed in JAX v0.4.34.\n"
)
HI_PRIMITIVE = (
    FRAME.format("flax/nnx/variablelib.py", "class NewVariable(hjx.HiPrimitive):")
    + "AttributeError: module 'jax.experimental.hijax' has no attribute 'HiPrimitive'\n"
)
AUTO = (
    "ValueError: The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh. "
    "Got spec=PartitionSpec('rows',) and mesh=AbstractMesh('rows': 2, axis_types=(Explicit,), device_kind=cpu, "
    "num_cores=None). You probably meant to use `reshard` API?"
)
MAKE_MESH = "TypeError: make_mesh() got an unexpected keyword argument 'axis_shapes'"
PSUM = "TypeError: _psum_invariant_abstract_eval() got an unexpected keyword argument 'axis_index_groups'"


def found(text: str) -> list[str]:
    """Return the ids of what the index has for a text, best first."""
    return [result.id for result in ranked(load(), text)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TREE_MAP, ["jax.tree_map exists on jax 0.4.18 (or older) to 0.5.3.", "use jax.tree.map"]),
        (GSPMD, ["jax.sharding.GSPMDSharding exists on jax 0.4.18 (or older) to 0.6.2."]),
        (PP_EQN_RULES, ["stack-smoke", "affects jax>=0.4.34, equinox<0.11.5", "good from equinox 0.11.8"]),
        (HI_PRIMITIVE, ["flax-beside-a-newer-jax", "affects flax<0.12.10, jax>=0.11.2", "good from flax 0.12.10"]),
        (AUTO, ["made-mesh-is-explicit", "affects jax since 0.9.0", "AxisType.Auto"]),
        (MAKE_MESH, ["jax.make_mesh takes axis_shapes on jax 0.4.33 to 0.11.0.", "axis_sizes", "by position"]),
        (
            "jax.errors.UnexpectedTracerError: Encountered an unexpected tracer.",
            ["traced value left", "errors.html#jax.errors.UnexpectedTracerError"],
        ),
        ("jax.errors.ConcretizationTypeError: Abstract tracer value encountered", ["float(x)"]),
    ],
)
def test_an_error_is_explained(text: str, told: list[str], tmp_path: Path, said: Said) -> None:
    """`explain` answers with the releases of a name or argument, the matching rule, or the meaning of a mistake."""
    (tmp_path / "log").write_text(text, encoding="utf-8")
    code, out = said("explain", str(tmp_path / "log"))

    assert Exit.AS_EXPECTED == code
    assert [] == [words for words in told if words not in out]


def test_other_bounds_than_those_of_the_message_are_not_told(tmp_path: Path, said: Said) -> None:
    """The bounds of another message of the same issue, which exclude the versions that showed this one, are left out.

    With versions, they are those of the rule that admits them.
    """
    (tmp_path / "log").write_text(HI_PRIMITIVE, encoding="utf-8")

    assert "flax<0.10.0" not in said("explain", str(tmp_path / "log"))[1]
    (tmp_path / "log").write_text(f"{HI_PRIMITIVE}jax==0.11.2 jaxlib==0.11.2 flax==0.12.9", encoding="utf-8")
    assert "affects flax<0.12.10, jax>=0.11.2" in said("explain", str(tmp_path / "log"))[1]


def test_nothing_is_said_of_a_function_that_nobody_can_call(tmp_path: Path, said: Said) -> None:
    """A private function's refused keyword matches no page of another keyword, and no public function."""
    (tmp_path / "log").write_text(PSUM, encoding="utf-8")

    assert (Exit.UNEXPECTED, []) == (said("explain", str(tmp_path / "log"))[0], found(PSUM))
    assert Exit.UNEXPECTED == said("find", PSUM)[0]


def test_a_name_that_a_guest_used_is_told_with_it() -> None:
    """The libraries whose older releases used a removed name are in the sentence."""
    message = "AttributeError: module 'jax.interpreters.pxla' has no attribute 'xla_pmap_p'"

    assert [] == [each for each in missing.told(message) if "Used by" in each]
    guests = {**load().guests, "jax.tree_map": ("Optax before 0.2.3",)}
    assert [True] == [each.endswith("Used by Optax before 0.2.3.") for each in missing.told(TREE_MAP, guests)]
    assert ("NumPyro before 0.21.0",) == load().guests["jax.interpreters.pxla.xla_pmap_p"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("with_sharding_constraint", "made-mesh-is-explicit"),
        ("#25981", "same-seed-other-numbers"),
        ("jax#25190", "timing-published.Jax25190"),
        ("https://github.com/jax-ml/jax/issues/27829", "wraps-lower-bypass"),
        ("jax 0.4.25 numpy 2", "stack-smoke"),
        ("segfault jax 0.7.0 equinox", "stack-smoke"),
        ("gradient values off in jax 0.5.0", "same-seed-other-numbers"),
        ("slow since jax 0.7.1", "timing-published.Jax31284"),
        ("unhashable type: 'DynamicJaxprTracer'", "tracer-hash-while-loop"),
        ("jnp.quantile keepdims", "quantiles-lose-keepdims"),
        ("make_mesh reshape", "made-mesh-is-explicit"),
    ],
)
def test_words_and_versions_lead_to_a_page(text: str, first: str) -> None:
    """A thread, a function, a part of a message, or words with versions find their page before all others."""
    index = load()
    assert first == next(result.id for result in ranked(index, text) if result.kind in ("issue", "timing"))


@pytest.mark.parametrize("word", SYNONYMS)
def test_a_synonym_finds_something(word: str) -> None:
    """Each of ten words of people finds an issue or a slow-down."""
    assert found(word)


@pytest.mark.parametrize("text", ["got an unexpected keyword argument", "object has no attribute", "xyzzy", "the", "("])
def test_a_phrase_of_python_finds_nothing(text: str, said: Said) -> None:
    """Words that thousands of messages have, and unknown words, find nothing."""
    assert [] == found(text)
    code, out = said("find", text)
    assert (Exit.UNEXPECTED, True) == (code, out.startswith("Nothing documented matches."))


@pytest.mark.parametrize(
    ("text", "terms", "versions"),
    [
        ("slow since jax 0.7.1", ("slow since",), {"jax": "0.7.1"}),
        ("jax 0.4.25 numpy 2", (), {"jax": "0.4.25", "numpy": "2"}),
        ("jax==0.4.33, vmap", ("vmap",), {"jax": "0.4.33"}),
        ("0.4.33", (), {"jax": "0.4.33"}),
        ("python 3.12.4", ("python",), {}),
        ("jax-0.10.0+equinox-0.13.2", (), {"jax": "0.10.0", "equinox": "0.13.2"}),
        ("TypeError: jax 0.7.1", (), {}),
    ],
)
def test_a_question_has_words_and_versions(text: str, terms: tuple[str, ...], versions: dict[str, str]) -> None:
    """Versions are read apart from words; a message that a program printed has neither."""
    index = load()
    question = asked(text, index.packages, index.releases)

    assert (terms, versions) == (question.terms, question.versions)


@pytest.mark.parametrize(
    ("on", "is_met"),
    [
        ("jax<0.4.26 numpy>=2.0", True),
        ("jax<0.4.25 numpy>=2.0", False),
        ("jax==0.4.25", True),
        ("jax!=0.4.25", False),
        ("jax>=0.4,<0.5 equinox<1", False),
    ],
)
def test_requirements_are_met_by_numbers(on: str, is_met: bool) -> None:
    """All requirements must be met, and a package without a version meets none."""
    assert is_met == admits(on, {"jax": "0.4.25", "numpy": "2"})
    assert [-1, 0, 1] == [compared("0.5", other) for other in ("0.5.1", "0.5.0", "0.4.38")]


def test_the_answer_is_short(said: Said) -> None:
    """The most common word fits a screen, and says that there is more."""
    code, out = said("find", "jax.jit", "slow")

    assert Exit.AS_EXPECTED == code
    assert len(out.splitlines()) <= 26


def test_an_upgrade_tells_what_is_measured_to_be_slower(said: Said) -> None:
    """Confirmed slow-downs between two stacks are in the answer, and none that the second no longer has."""
    before = "jax==0.4.31 jaxlib==0.4.31"
    _, slow = said("check", "--from", before, "--to", "jax==0.4.33 jaxlib==0.4.33")
    _, later = said("check", "--from", before, "--to", "jax==0.12.0")

    assert "slower, measured: a while loop that reads an array, 147 times from jax 0.4.33 (jax#25190)\n" in slow
    assert "slower, measured: a simulated neuron, 5.7 times from jax 0.4.33 (jax#26145)\n" in slow
    # Diffrax is not in the stack.
    assert "diffrax#518" not in slow
    assert "slower, measured" not in later
