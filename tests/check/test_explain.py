"""Issues that match a traceback, or what somebody remembers of it."""

import pytest

from jax_stack_compat.cell.issue import Signature
from jax_stack_compat.check.explain import matching
from jax_stack_compat.check.explain.raised import raised
from tests.check.worlds import index, indexed

RAISED = """Traceback (most recent call last):
  File "/home/x/site-packages/jax/_src/core.py", line 7, in f
TypeError: unhashable type: 'DynamicJaxprTracer'
"""


def found(text: str, *signatures: Signature) -> list[str]:
    """Return the ids of the issues that a text matches, if issue one has these signatures."""
    issues = [indexed("one", *signatures)] if signatures else index().issues
    return [match.issue.id for match in matching.matches(issues, text)]


COLOURED = RAISED.replace("TypeError", "\x1b[0;31mTypeError\x1b[0m").replace("Jaxpr", "\x1b[1mJaxpr\x1b[0m")


@pytest.mark.parametrize(
    "text",
    [
        RAISED,
        "TypeError: unhashable type: \u2018DynamicJaxprTracer\u2019",
        RAISED.replace("type: ", "type:\n  "),
        "\n".join(f"E   {line}" for line in RAISED.splitlines()),
        COLOURED,
        COLOURED.replace("\x1b", ""),
    ],
)
def test_a_text_finds_its_issue(text: str) -> None:
    """A signature matches however the text is quoted, wrapped, coloured or cut."""
    assert ["wrong-numbers"] == found(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "TypeError", "TypeError: unhashable type: 'list'", "TypeError: Tracer' unhashable type"),
        *("unhashable type: 'JitTracer'", "ValueError: unhashable type: 'JitTracer'"),
        "except TypeError: unhashable type: 'JitTracer'",
    ],
)
def test_another_text_finds_nothing(text: str) -> None:
    """A class or a message alone, another class, or pieces in another order do not match."""
    assert [] == found(text)


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        *(
            (RAISED.replace("unhashable", f"{word} unhashable"), Signature("TypeError", word, "jax._src.core"))
            for word in ("0", "float0", "shape", "norm", "")
        ),
        # Unspecific classes of XLA and Equinox match by their message.
        *((kind, Signature(kind, "no thunks")) for kind in ("XlaRuntimeError", "EquinoxRuntimeError", "RuntimeError")),
    ],
)
def test_a_word_or_a_common_class_is_no_signature(text: str, signature: Signature) -> None:
    """One of Python's classes with less than two words does not match, wherever it was raised."""
    assert [] == found(text, signature)


@pytest.mark.parametrize("name", ["get_aval", "MainTrace"])
def test_a_name_has_the_words_that_it_is_made_of(name: str) -> None:
    """If the signature names a module, the exception must come through it."""
    signature = Signature("AttributeError", name, "jax._src.core")

    assert ["one"] == found(RAISED.replace("TypeError: unhashable", f"AttributeError: no {name}"), signature)
    assert [] == found(f"AttributeError: no {name}", signature)


@pytest.mark.parametrize("text", ["jax.errors.ShardingTypeError", "x\njax._src.core.ShardingTypeError: an escape"])
def test_a_class_of_its_own_is_a_signature(text: str) -> None:
    """A specific class of upstream matches without a message, and beside its own message."""
    assert ["one"] == found(text, Signature("ShardingTypeError", "escape" if ":" in text else "an escape"))
    assert [] == found("ShardingTypeError: of another kind", Signature("ShardingTypeError", "an escape"))


@pytest.mark.parametrize("type", ["ConcretizationTypeError", "TracerBoolConversionError", "UnexpectedTracerError"])
def test_an_ordinary_mistake_needs_more_evidence(type: str) -> None:
    """A class that ordinary mistakes raise matches an issue only if its text names a function of the issue."""
    rare = indexed("one", Signature(type, "Encountered a tracer"), names=("jax.numpy.unwrap",))
    said = f"jax.errors.{type}: Encountered a tracer"

    assert [] == matching.matches([rare], said)
    assert ["one"] == [match.issue.id for match in matching.matches([rare], f"{said}\n in unwrap")]


@pytest.mark.parametrize(("call", "ids"), [("pad", ["one"]), ("psum", []), ("", [])])
def test_a_refused_keyword_matches_by_its_function(call: str, ids: list[str]) -> None:
    """Python's phrase about keywords matches an issue only if the issue concerns the function."""
    one = indexed("one", Signature("TypeError", "got an unexpected keyword argument"), names=("jax.numpy.pad",))
    said = f"TypeError: {call}() got an unexpected keyword argument 'mode'"

    assert ids == [match.issue.id for match in matching.matches([one], said)]


def test_the_most_telling_stands_first() -> None:
    """Of two matching issues, the one with the better match comes first."""
    short = indexed("short", Signature("TypeError", "unhashable type"))
    long = indexed("long", Signature("TypeError", "unhashable type: '…Tracer'"))

    assert ["long", "short"] == [match.issue.id for match in matching.matches([short, long], RAISED)]


def test_versions_are_read_from_a_text() -> None:
    """Versions are read as pip, uv and people write them, and nothing else."""
    text = "jax==0.4.35\nequinox 0.11.10, diffrax-0.6.0 and numpy 2.0; jax_cuda12 9.9; pyjax 1.0"

    assert {"jax": "0.4.35", "equinox": "0.11.10", "diffrax": "0.6.0"} == matching.versions(text)


def test_a_long_text_is_looked_through_at_its_ends() -> None:
    """An error after ten megabytes is found."""
    assert ["wrong-numbers"] == found("x" * 10_000_000 + "\n" + RAISED)


def test_one_exception_thousands_of_times() -> None:
    """A log that repeats its exceptions is read quickly, and each counts once."""
    many = "".join(f"TypeError: {number % 3}\n" for number in range(30_000))
    assert {"0", "1", "2"} == {each.message for each in raised(many)}
    assert 10 > len(raised(many))
    different = "".join(f"TypeError: {number}\n" for number in range(30_000))
    assert 200 == len(raised(different))
