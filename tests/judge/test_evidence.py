"""Releases on which a rule was run, in words."""

from __future__ import annotations

import pytest

from suite.cell.issue import Rule
from suite.judge.evidence import ran
from suite.judge.rules import Run

BAD, GOOD = Rule("bad", "jax<0.5"), Rule("good")


def runs(**shown: str) -> list[Run]:
    """Return runs on releases of jax, all with one Equinox."""
    return [
        Run(f"jax-{version}", {"jax": version, "equinox": "0.11.0"}, rule)
        for version, rule in ((name.removeprefix("v").replace("_", "."), of) for name, of in shown.items())
    ]


LINE = runs(v0_4_1="bad", v0_4_2="bad", v0_4_3="bad", v0_5="good", v0_6="good")


@pytest.mark.parametrize(
    ("rules", "seen", "told"),
    [
        ([BAD, GOOD], LINE, ["run on 3 releases of jax, 0.4.1 to 0.4.3", "run on jax 0.5 and 0.6"]),
        # Not borne out.
        ([Rule("good", "jax<0.5"), Rule("bad")], LINE, ["", ""]),
        ([Rule("bad", "jax==0.4.2"), GOOD], LINE, ["run on jax 0.4.2", "run on jax 0.5 and 0.6"]),
        # Another rule matches the releases between two ranges.
        (
            [Rule("bad", "jax==0.5"), GOOD],
            runs(v0_4="good", v0_5="bad", v0_6="good", v0_7="good"),
            ["run on jax 0.5", "run on 3 releases of jax: 0.4, 0.6 to 0.7"],
        ),
        (
            [Rule("bad", "jax<0.5 equinox<0.12"), Rule("good", "jax<0.6 equinox>=0.11")],
            LINE,
            ["run on 3 stacks: jax 0.4.1 to 0.4.3, equinox 0.11.0", "run on jax 0.5, equinox 0.11.0"],
        ),
        # The last need of a case is what it is about.
        ([Rule("bad")], LINE, ["run on equinox 0.11.0"]),
    ],
)
def test_a_rule_says_where_it_was_run(rules: list[Rule], seen: list[Run], told: list[str]) -> None:
    """The releases are those of the rule's own packages where it matched first and was borne out."""
    assert told == ran(["jax", "equinox"], rules, seen)


def test_a_case_that_needs_nothing_is_about_jax() -> None:
    """A catch-all rule of a case without needs counts the releases of jax."""
    assert ["run on 3 releases of jax, 0.4.1 to 0.4.3"] == ran([], [Rule("bad")], LINE)
