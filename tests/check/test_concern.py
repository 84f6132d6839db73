"""Which of what bites concerns a source tree."""

from __future__ import annotations

from suite.check.answer import answer
from suite.check.concern import concern, own_names
from suite.check.source.usage import Usage, Use
from tests.check.worlds import issue, knowledge, stack


def usage(*found: Use, untold: tuple[str, ...] = ()) -> Usage:
    """What a source tree was found to use."""
    return Usage(found, (), (), untold, 1)


def test_what_many_issues_touch_is_nobodys_own() -> None:
    """A name that four issues touch says nothing of one; of a function with a keyword, the keyword counts."""
    touched = [issue(f"i{number}", touches=("jax.jit", f"jax.f{number}")) for number in range(4)]
    keyed = issue("keyed", touches=("jax.numpy.pad", "jax.numpy.pad(mode=)", "control flow"))

    names = own_names(knowledge(*touched, keyed))
    assert frozenset({"jax.f0"}) == names["i0"]
    assert frozenset({"jax.numpy.pad(mode=)"}) == names["keyed"]


def test_what_the_code_says_to_ignore_is_no_use() -> None:
    """A use with the issue's id on its line, or with none, is not told; one with another id is."""
    found = answer(knowledge(), stack(jax="0.4.30"))
    names = {"wrong-numbers": frozenset({"jax.numpy.pad"})}

    def at(*ignored: str) -> Use:
        return Use("jax.numpy.pad", "a.py", 1, 1, frozenset(ignored))

    assert ("wrong-numbers",) == concern(found, names, usage(at("wrong-numbers"), at("*"))).unused
    assert [at("other")] == concern(found, names, usage(at("*"), at("other"))).uses["wrong-numbers"]


def test_what_no_source_tells_is_kept() -> None:
    """An issue of which all that is its own can be used without being named is neither used nor unused."""
    found = answer(knowledge(), stack(jax="0.4.30"))
    names = {"wrong-numbers": frozenset({"jax.stages.Wrapped.lower"})}

    told = concern(found, names, usage(untold=("jax.stages.Wrapped.lower",)))
    assert (("wrong-numbers",), ()) == (told.untold, told.unused)
