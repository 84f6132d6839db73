"""Answers about a stack: the issues, the evidence and the good releases."""

from typing import Any

import pytest

from jax_stack_compat import command_table
from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.finding import KINDS
from jax_stack_compat.check.knowledge import load
from jax_stack_compat.check.output import text as output
from jax_stack_compat.check.output.machine import FORMATS
from tests.check.worlds import case, issue, knowledge, stack


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        # Silently different numbers come before slowness.
        (
            {"jax": "0.6.0"},
            [
                ("wrong-numbers/loud", "run", "no longer silent from jax 0.7.0"),
                ("slow-thing/back", "run", "good up to jax 0.5.0, and on no later release"),
            ],
        ),
        # Good and loudly refused cases are not listed.
        ({"jax": "0.7.0"}, [("slow-thing/back", "run", "good up to jax 0.5.0, and on no later release")]),
        # A release between two runs under one rule is answered by that rule.
        (
            {"jax": "0.4.33"},
            [
                ("wrong-numbers/mended", "by rule", "good from jax 0.5.0"),
                ("wrong-numbers/loud", "by rule", "no longer silent from jax 0.7.0"),
            ],
        ),
        # A fix in Diffrax is good from a release of Diffrax, with the other versions kept.
        (
            {"jax": "0.5.0", "equinox": "0.12.0", "diffrax": "0.6.0"},
            [
                ("wrong-numbers/loud", "run", "no longer silent from jax 0.7.0"),
                ("solve-is-off/solves", "run", "good from diffrax 0.7.1"),
            ],
        ),
    ],
)
def test_what_affects_a_stack(versions: dict[str, str], told: list[tuple[str, str, str]]) -> None:
    """Issues stand in order, worst first, with how they are known and the good releases."""
    found = answer(knowledge(), stack(**versions)).effects
    assert told == [("/".join(effect.name), effect.known.how, effect.good) for effect in found]


@pytest.mark.parametrize(
    ("rule", "named", "stops", "blocked", "good"),
    [
        ("jax>=0.6.0 equinox<0.13", "jax==0.6.0 equinox==0.12.0", "equinox 0.12.0", 1, "good up to jax 0.4.36"),
        ("jax<0.5.0 numpy>=2.4", "jax==0.4.36 numpy==2.5.0 equinox==0.12.0", "jax 0.4.36", 2, "good from jax 0.6.0"),
        ("jax<0.5.0 numpy>=2.4", "jax==0.4.36 numpy==2.5.0", "jax 0.4.36", 1, "good from jax 0.6.0"),
    ],
)
def test_row_zero_tells_of_a_part_of_the_stack(rule: str, named: str, stops: str, blocked: int, good: str) -> None:
    """Without Diffrax, row zero names the package that does not import and its good releases, or nothing.

    A NumPy that is too new stops JAX, and its version is named.
    """
    versions = dict(each.split("==") for each in named.split())
    stopped, fails = Rule("import-error", rule, "run"), Rule("wrong", "jax==0.5.0", "what imports does not solve")
    whole = case("works", stopped, fails, Rule("right", "", "run"), needs=("jax", "equinox", "diffrax"))
    wrong = Rule("wrong", "", "run")
    known = knowledge(
        issue("row-zero", whole, row_zero=True, kind="crash"),
        issue("of-jax", case("one", wrong)),
        issue("of-equinox", case("two", wrong, needs=("jax", "equinox"))),
    )

    found = answer(known, stack(**versions))

    assert f"This stack does not work: {stops} does not import beside " in found.works.sentence
    assert (stops,) == found.stops
    assert blocked == len(found.blocked)
    assert all(f"{name} {version}" in output.named(found) for name, version in versions.items())
    (told,) = [effect for effect in found.effects if effect.issue.id == "row-zero"]
    assert ("by rule", True) == (told.known.how, told.good.startswith(good))
    healthy = answer(known, stack(jax="0.5.0", equinox="0.12.0"))
    assert ((), (), 1) == (healthy.stops, healthy.blocked, healthy.elsewhere)


@pytest.mark.parametrize(
    ("versions", "line"),
    [
        ({"jax": "0.7.0"}, "3 run on exactly these versions. 2 more cases need packages that this stack lacks."),
        ({"jax": "0.7.9"}, "Newer than this data, so predicted by rules: jax 0.7.9 (the newest here is 0.7.0)"),
        ({"jax": "0.7.0", "equinox": "0.12.0"}, "1 more case needs packages that this stack lacks."),
    ],
)
def test_the_last_line_says_what_it_rests_on(versions: dict[str, str], line: str) -> None:
    """Cases that were run, cases that lack packages and versions newer than the data are counted."""
    assert line in answer(knowledge(), stack(**versions)).last_line


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        ({"jax": "0.1.0"}, "jax 0.1.0 is older than this data, which begins with 0.4.30."),
        # Later releases of its series were run.
        ({"jax": "0.4.14"}, "jax 0.4.14 is older than this data, which begins with 0.4.30."),
        ({"jax": "0.8.0"}, "jax 0.8.0 is newer than this data, which ends with 0.7.0, 2026-11-22."),
        ({"jax": "0.4.999"}, "jax 0.4.999 is not a release in this data."),
    ],
)
def test_what_was_not_run_is_not_answered(versions: dict[str, str], told: str) -> None:
    """Rules do not extend to another minor series, or to a release that never existed; the answer says so first."""
    found = answer(knowledge(), stack(**versions))
    assert ((told,), False, "Nothing is known about this stack.") == (found.unsure, found.is_known, found.first_line)


def test_a_plugin_of_a_device_is_told() -> None:
    """The data are from CPUs; a stack with another device gets advice to try it."""
    (told,) = answer(knowledge(), stack(**{"jax": "0.6.0", "jax-cuda12-plugin": "0.6.0"})).unsure
    assert "`check --python .venv --confirm` runs the cases" in told


def test_unknown_is_never_clean() -> None:
    """A case without a matching rule or neighbour is named and counted."""
    found = answer(knowledge(issue("one", case("dark"))), stack(jax="0.4.33"))

    assert (("one/dark",), "1 not known.") == (found.unknown, found.last_line[-12:])
    assert "No known issue affects this stack." == found.first_line


@pytest.mark.parametrize(
    ("helped", "fails", "verified", "words"),
    [
        ({"jax-0.4.30": "holds"}, (), True, "verified on these versions"),
        ({"jax-0.4.30": "holds"}, (), False, "tried on these versions, on the example alone"),
        ({"jax-0.4.30": "fails"}, (), True, "it did not help where it was run"),
        ({}, (), True, "not verified here"),
        ({"jax-0.4.30": "holds"}, ("jax<0.5",), True, "known not to help here"),
    ],
)
def test_a_workaround_is_told_with_what_is_known_of_it(helped: Any, fails: Any, verified: bool, words: str) -> None:
    """The answer says if the workaround ran on these versions, if also elsewhere, or if it is known not to help."""
    bad = case("bad", Rule("wrong", "", "run"), helped=helped, fails=fails, verified=verified)

    (effect,) = answer(knowledge(issue("one", bad)), stack(jax="0.4.30")).effects
    assert words == effect.helps


def test_the_words_are_those_of_the_tables() -> None:
    """The command line's kinds and formats are the answer's own."""
    assert tuple(KINDS) == command_table.KINDS
    assert ("text", *FORMATS, "constraints") == command_table.FORMATS


@pytest.mark.parametrize(("jaxlib", "good"), [("0.4.28", "good with jaxlib 0.4.29"), ("0.4.29", None), ("", None)])
def test_a_mixed_pair_is_answered_by_its_jaxlib(jaxlib: str, good: str | None) -> None:
    """A fault that jaxlib 0.4.29 fixed shows beside jax 0.4.29 with an older jaxlib."""
    pins = {"jax": "0.4.29", **({"jaxlib": jaxlib} if jaxlib else {})}
    found = answer(load(), stack(**pins)).effects

    assert good == next((each.good for each in found if each.name == ("logsumexp-of-scaled-scores", "softmax")), None)
