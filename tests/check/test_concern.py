"""Which of what bites concerns a source tree."""

from __future__ import annotations

from suite.check.answer import answer
from suite.check.concern import Place, concern, own_names
from suite.check.source.project import Thing
from suite.check.source.usage import Use
from tests.check.worlds import issue, knowledge, stack


def test_an_area_is_no_name_in_a_source() -> None:
    """What is looked for are functions; of a function with a keyword, the keyword counts."""
    plain = issue("plain", touches=("jax.jit", "jit cache"))
    keyed = issue("keyed", touches=("jax.numpy.pad", "jax.numpy.pad(mode=)", "control flow"))

    names = own_names(knowledge(plain, keyed))
    assert frozenset({"jax.jit"}) == names["plain"]
    assert frozenset({"jax.numpy.pad(mode=)"}) == names["keyed"]


def test_what_the_code_says_to_ignore_is_no_use() -> None:
    """A use with the issue's id on its line, or with none, is not told; one with another id is."""
    found = answer(knowledge(), stack(jax="0.4.30"))
    names = {"wrong-numbers": frozenset({"jax.numpy.pad"})}

    def at(*ignored: str) -> Use:
        return Use((Thing("jax.numpy.pad", 2),), "name", "a.py", 1, 1, 1, 9, ignored=frozenset(ignored))

    assert ("wrong-numbers",) == concern(found, names, [at("wrong-numbers"), at("*")]).unused
    assert [Place("jax.numpy.pad", "a.py", 1, 1)] == concern(found, names, [at("*"), at("other")]).places[
        "wrong-numbers"
    ]


def test_what_no_source_tells_is_kept() -> None:
    """An issue that code can meet without naming it is neither used nor unused, and so is one of an area alone."""
    found = answer(knowledge(), stack(jax="0.4.30"))
    names = {"wrong-numbers": frozenset({"jax.stages.Wrapped.lower", "jax.jit"})}

    for of in (names, {"wrong-numbers": frozenset[str]()}):
        told = concern(found, of, [])
        assert (("wrong-numbers",), ()) == (told.untold, told.unused)
