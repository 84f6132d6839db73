"""Which records an earlier probe's change moves."""

import pytest

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.catalogue import catalogue
from laboratory.records import keys
from laboratory.upkeep import rekey

ENTRY = catalogue.entries()[0]
NOW = keys.key(ENTRY, ENTRY.issue.cases[0], "1" * 64, "3.12")
BEFORE = "2" * 64


@pytest.mark.parametrize(
    ("changed", "moves"),
    [
        ({"probe": BEFORE}, True),
        ({"probe": BEFORE, "issue": "3" * 64}, False),
        ({"probe": BEFORE, "lock": "3" * 64}, False),
        ({"probe": "3" * 64}, False),
    ],
)
def test_a_record_of_the_earlier_probe_moves_if_nothing_else_differs(changed: dict[str, str], moves: bool) -> None:
    """A record moves if its case's code is this tree's; a record of other code stays as it is."""
    assert moves == (rekey.standing(NOW.model_copy(update=changed), NOW, BEFORE) == rekey.MOVED)


def test_the_probe_of_a_commit_is_read_from_git() -> None:
    """HEAD's probe is found without a checkout, and a commit that git lacks is named."""
    assert 64 == len(rekey.earlier_probe("HEAD"))
    with pytest.raises(Failed, match="git cannot show the probe of nowhere"):
        rekey.earlier_probe("nowhere")
