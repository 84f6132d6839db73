"""What the packages' own metadata says of a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from suite.stack import releases
from suite.stack.releases import Packages, Release

PINS = {"jax": "0.4.30", "jaxlib": "0.4.30", "equinox": "0.11.4", "diffrax": "0.5.1", "ml-dtypes": "0.4.0"}


def offered(requires: Mapping[str, Sequence[str]]) -> Packages:
    """Releases at the versions of PINS, with these requirements."""
    return {
        name: {
            PINS[name]: Release.model_validate(
                {
                    **{"uploaded": "2024-06-18T00:00:00Z", "requires_python": "", "yanked": None, "wheels": {}},
                    "requires_dist": texts,
                }
            )
        }
        for name, texts in requires.items()
    }


@pytest.mark.parametrize(
    ("requires", "because"),
    [
        ({}, None),
        ({"diffrax": ["jax>=0.4"]}, None),
        ({"diffrax": ["jax>=0.5"]}, "diffrax 0.5.1 requires jax>=0.5, and 0.4.30 is here"),
        ({"diffrax": ["jax>=0.4"], "equinox": ["jax<0.4"]}, "equinox 0.11.4 requires jax<0.4, and 0.4.30 is here"),
        ({"diffrax": ["not-in-the-cell>=5"]}, None),
        ({"jax": ["jaxlib==0.4.29; extra == 'cpu'"]}, "jax 0.4.30 requires jaxlib==0.4.29, and 0.4.30 is here"),
        ({"jax": ["jaxlib==0.4.29; extra == 'minimum-jaxlib'"]}, None),
        ({"jax": ["jaxlib>=0.4.30.dev1"]}, None),
        ({"jax": ["ml_dtypes>=0.5"]}, "jax 0.4.30 requires ml_dtypes>=0.5, and 0.4.0 is here"),
        ({"jax": ["ML-dtypes>=0.5"]}, "jax 0.4.30 requires ML-dtypes>=0.5, and 0.4.0 is here"),
    ],
)
def test_metadata_excludes(requires: Mapping[str, Sequence[str]], because: str | None) -> None:
    """A stack is excluded by the requirement that applies to it and is not met, however its name is spelt."""
    assert because == releases.exclusion(PINS, offered(requires), "3.12")


@pytest.mark.parametrize(("marker", "excludes"), [(">= '3.12'", True), ("< '3.12'", False)])
def test_metadata_is_read_for_the_interpreter_of_the_cells(marker: str, excludes: bool) -> None:
    """A marker is evaluated for the cells' CPython 3.12, not for the interpreter that the driver runs on."""
    requires = {"jax": [f"ml-dtypes>=0.5; python_version {marker}"]}

    assert excludes == (releases.exclusion(PINS, offered(requires), "3.12") is not None)
