"""The default plan, computed from the published report; and the cost of a case."""

from hypothesis import given, settings
from hypothesis import strategies as st

from jax_stack_compat.stack import chosen
from jax_stack_compat.stack.chosen import Chosen
from laboratory.report.model import Report
from laboratory.upkeep import choose
from laboratory.upkeep.choose import ENOUGH, Pair

NOTHING = Chosen(rows={})


def test_the_default_plan_is_what_the_published_report_gives(published: Report) -> None:
    """default.json is what `nox -s rebuild` would write: its releases show enough pairs, and fix its rows."""
    pairs, wheels, kept = choose.shown(published), choose.bytes_of(), chosen.load()

    assert kept == choose.choose(pairs, wheels, kept)


VERSIONS = [f"0.{minor}.0" for minor in range(1, 8)]
PAIRS = st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from(["right", "wrong", "refused"])), min_size=1)
SHOWN = st.fixed_dictionaries(dict.fromkeys(VERSIONS, PAIRS))
WHEELS = st.fixed_dictionaries(
    {version: st.dictionaries(st.sampled_from("xyz"), st.integers(1, 9), max_size=3) for version in VERSIONS}
)


@settings(max_examples=40, deadline=None)
@given(pairs=SHOWN, wheels=WHEELS)
def test_each_pair_that_is_shown_has_one_row(pairs: dict[str, set[Pair]], wheels: dict[str, dict[str, int]]) -> None:
    """Pairs on the newest release need no other row, every other pair has one, and the result is deterministic."""
    made = choose.choose(pairs, wheels, NOTHING)

    assert made == choose.choose(pairs, wheels, NOTHING)
    told = [(issue, version) for version, issues in made.rows.items() for issue in issues]
    assert len(told) == len(set(told))
    seen = set(pairs["0.7.0"])
    for version in sorted(made.rows, reverse=True):
        assert {issue for issue, _ in pairs[version] - seen} == set(made.rows[version])
        seen |= pairs[version]


@settings(max_examples=40, deadline=None)
@given(pairs=SHOWN, wheels=WHEELS, new=SHOWN)
def test_a_choice_stays_while_it_shows_enough(
    pairs: dict[str, set[Pair]], wheels: dict[str, dict[str, int]], new: dict[str, set[Pair]]
) -> None:
    """The releases stay the same while they show 99% of the best choice's pairs."""
    before = choose.choose(pairs, wheels, NOTHING)
    after = choose.choose(new, wheels, before)

    def count(of: Chosen) -> int:
        return len(new["0.7.0"].union(*(new[version] for version in of.rows)))

    best = choose.choose(new, {version: {} for version in VERSIONS}, NOTHING)
    if count(before) >= ENOUGH * count(best):
        assert before.rows.keys() == after.rows.keys()
    assert count(after) >= ENOUGH * count(best)
