"""The requirements that metadata lacks, joined from all rows of stacks."""

import pytest

from laboratory.report.missing_bounds import missing_bounds
from laboratory.report.model import AmendmentRow
from tests.report.test_release_pages import amendment, stack_row


def test_a_bound_is_named_once_whole_and_with_all_its_stacks() -> None:
    """Equal amendments are joined, with the declared part of the requirement and what each rests on."""
    rows = amendment(), amendment(grounds="run", cells=("jax-0.5.0",), evidence=("#2",)), amendment(version="0.6.2")

    joined, older = missing_bounds(map(stack_row, rows))

    assert ("optimistix>=0.0.10,<0.1.0", True) == (joined.requirement, joined.by_run)
    assert (["diffrax#1", "#2"], ["jax-0.4.30", "jax-0.5.0"]) == (joined.evidence, joined.cells)
    assert ("0.6.2", False) == (older.said.version, older.by_run)


@pytest.mark.parametrize(
    ("row", "whole"),
    [
        (amendment(declared=None), "optimistix<0.1.0"),
        (amendment(declared="no specifier"), "optimistixno specifier,<0.1.0"),
        (amendment(package=None, dependency="jaxlib", declared="", specifier="!=0.7.0"), "jaxlib!=0.7.0"),
    ],
)
def test_a_bound_without_a_declared_part_is_whole(row: AmendmentRow, whole: str) -> None:
    """A requirement that is not declared, or that cannot be parsed, gets the missing part."""
    assert [whole] == [bound.requirement for bound in missing_bounds([stack_row(row)])]
