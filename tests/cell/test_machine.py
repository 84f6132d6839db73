"""What a machine has, and what a case asks of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from suite.cell import machine

VERSIONS = st.tuples(st.just(3), st.integers(9, 15), st.integers(0, 3))
CLAUSES = st.builds(
    lambda sign, version, length: sign + ".".join(map(str, version[:length])),
    st.sampled_from([">=", "<=", ">", "<", "==", "!="]),
    VERSIONS,
    st.integers(1, 3),
) | st.builds(lambda sign, minor: f"{sign}3.{minor}.*", st.sampled_from(["==", "!="]), st.integers(9, 15))


@given(clauses=st.lists(CLAUSES, max_size=3), version=VERSIONS)
def test_a_range_of_pythons_is_read_as_packaging_reads_it(clauses: list[str], version: tuple[int, int, int]) -> None:
    """The cell side has no packaging, and agrees with it on every specifier that it can read."""
    specifier = ", ".join(clauses)

    expected = SpecifierSet(specifier).contains(".".join(map(str, version)))

    assert expected == machine.python_is(specifier, version)


@pytest.mark.parametrize("specifier", ["3.11", "~=3.11", ">=three", ">=3.11 <3.13"])
def test_what_is_no_range_of_pythons_is_refused(specifier: str) -> None:
    """A specifier that cannot be read is not taken for one that is met."""
    with pytest.raises(ValueError):  # noqa: PT011
        machine.python_is(specifier, (3, 12, 0))


@given(needed=st.sets(st.sampled_from("abc")), there=st.sets(st.sampled_from("abc")))
def test_a_cpu_lacks_what_it_has_not(needed: set[str], there: set[str]) -> None:
    """A CPU lacks nothing exactly where it has all that is needed; where that is not known, it lacks whatever is."""
    assert (needed <= there) == (machine.cpu_lacks(needed, there) is None)
    assert (not needed) == (machine.cpu_lacks(needed, None) is None)


def test_a_cpu_that_cannot_be_read_is_told() -> None:
    """That nobody knows what a CPU has is not told as if it lacked it."""
    assert ("it needs a CPU with avx2, and this one's features cannot be read", "it needs a CPU with avx2, fma") == (
        machine.cpu_lacks(["avx2"], None),
        machine.cpu_lacks(["sse", "avx2", "fma"], {"sse"}),
    )


def test_a_record_has_the_vector_features() -> None:
    """Of what Linux says of the CPU, a record has what changes how numbers are computed."""
    there = machine.cpu_features() or frozenset()
    recorded = machine.describe([])["cpu_features"]

    assert sorted(recorded) == recorded
    assert there & {"avx", "avx2", "fma", "f16c", "sse2", "asimd", "sve"} <= set(recorded) <= there
    assert not {"fpu", "msr", "smep", "hypervisor"} & set(recorded)
