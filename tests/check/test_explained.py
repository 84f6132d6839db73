"""The output of `explain`: short, in the words for people, and fit to paste."""

from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.markdown import sentence
from jax_stack_compat.cell.issue import Rule, Signature
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.explain import matching, missing
from jax_stack_compat.check.explain import told as explained
from jax_stack_compat.check.find.index import load
from jax_stack_compat.check.findings import of_stack
from jax_stack_compat.check.knowledge import Knowledge
from tests.check.conftest import Said
from tests.check.worlds import case, indexed, knowledge, stack

TITLE = "one does it"
THREAD = "https://github.com/jax-ml/jax/issues/1"


def found(*rules: Rule, behaviour: str = "wrong", seen: tuple[str, ...] = (), **changes: Any) -> explained.Found:
    """Return a match of issue one, whose case has these rules; `seen` are those of the stacks with its signature."""
    of = case("case", *rules, **changes)
    signature = Signature("TypeError", "no such thing")
    match = matching.Match(indexed("one"), ("case",), behaviour, signature, 1.0, seen)
    return explained.Found(match, THREAD, (of,))


WELL = Rule("right", "", "")


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ([Rule("wrong", "jax<0.5.0", ""), WELL], "jax 0.4.30 (or older) until 0.4.36, fixed in 0.5.0"),
        ([Rule("right", "jax<0.5.0", ""), Rule("wrong", "", "")], "jax since 0.5.0"),
        ([Rule("wrong", "jax==0.5.0", ""), WELL], "jax 0.5.0, fixed in 0.6.0"),
        ([Rule("wrong", "jax>=0.4.36,<0.6", ""), WELL], "jax since 0.4.36 until 0.5.0, fixed in 0.6.0"),
        (
            [Rule("wrong", "jax==0.4.36", ""), Rule("wrong", "jax==0.6.0", ""), WELL],
            "jax since 0.4.36 until 0.6.0, fixed in 0.7.0 (not on every release between)",
        ),
        (
            [Rule("wrong", "jax<0.5", ""), Rule("raises", "", "")],
            "jax 0.4.30 (or older) until 0.4.36, changed in 0.5.0",
        ),
        ([Rule("wrong", "", "")], "every release of jax that was run, 0.4.30 to 0.7.0"),
        ([Rule("wrong", "jax<0.5 equinox<0.13", ""), WELL], "jax<0.5, equinox<0.13"),
    ],
)
def test_since_and_until_are_told_by_the_runs(rules: list[Rule], told: str) -> None:
    """ "Fixed" needs a clear release. If two packages decide, the rule is shown instead of releases."""
    assert f"affects {told}" == explained.since(found(*rules), {})


def test_markdown_is_a_line_to_paste() -> None:
    """A line has the title, the thread if pages have no address, the first release and the workaround."""
    told = explained.markdown(found(Rule("wrong", "jax==0.5.0", ""), WELL), stack())

    assert told == f"- [{TITLE}]({THREAD}). Affects jax 0.5.0, fixed in 0.6.0. Workaround: Do not."


def test_a_page_with_an_address_is_what_is_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's address replaces upstream's thread."""
    monkeypatch.setattr(
        explained, "address", lambda label: "https://example.org/stack/" if label == "Homepage" else None
    )

    assert explained.link(found()) == "https://example.org/stack/issues/one.html"


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_an_answer_is_short(format: str, published: Knowledge, tmp_path: Path, said: Said) -> None:
    """An answer has at most three issues and 25 lines, even for a text with all signatures and names."""
    signatures = [signed.signature for each in load().issues for signed in each.signed]
    everything = "\n".join(f"{signature.type}: {signature.message.replace('…', ' x ')}" for signature in signatures)
    everything += "\njax==0.4.35 equinox==0.11.10 diffrax==0.6.0\n"
    everything += "\n".join(f"AttributeError: module 'jax.core' has no attribute '{name}'" for name in NAMES)
    (tmp_path / "log").write_text(everything, encoding="utf-8")
    lines = said("explain", str(tmp_path / "log"), "--format", format)[1].splitlines()

    assert len(matching.matches(load().issues, everything)) > 20
    assert len([*missing.told(everything)]) > 5
    assert len(lines) <= 25
    heads = {
        f"{each.id}  {each.title}" if format == "text" else f"- [{sentence(each.title)}]" for each in published.issues
    }
    assert 3 == sum(line.startswith(tuple(heads)) for line in lines)


NAMES = ("Shape", "ConcreteArray", "Jaxpr", "JaxprEqn", "get_aval", "Tracer", "Primitive", "Var", "Literal", "DropVar")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("TypeError: JAX arrays are immutable. jax==0.12.0", "    affects jax 0.12.0, by its rules\n"),
        (
            "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: CpuExecutable has no thunks. jax==0.9.0",
            "    not known to affect jax 0.9.0\n",
        ),
    ],
)
def test_what_is_by_design_is_said_to_affect_a_stack(text: str, told: str, tmp_path: Path, said: Said) -> None:
    """A matching issue by design affects a stack on which it shows; a matching issue that is good there does not."""
    (tmp_path / "log").write_text(text)
    assert told in said("explain", str(tmp_path / "log"))[1]


def test_the_good_releases_are_those_of_the_issue() -> None:
    """A match of one case names the releases on which its whole issue is good, as `check` does."""
    world = knowledge()
    signature = Signature("TypeError", "no such thing")
    match = matching.Match(indexed("wrong-numbers"), ("mended",), "wrong", signature, 1.0)
    on = answer(world, stack(jax="0.4.30", jaxlib="0.4.30", numpy="2.0.0"))

    assert "no longer silent from jax 0.7.0" == explained.found_of(world, match, on).good
    assert ["no longer silent from jax 0.7.0"] == [
        finding.good_from for finding in of_stack(on, world) if finding.id == "wrong-numbers"
    ]
