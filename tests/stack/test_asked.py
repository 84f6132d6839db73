"""Tests of a stack in somebody's words: whole names, real versions, and a sentence for what was not understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.stack.asked import read

KNOWN = {
    "jax": ("0.4.30", "0.6.2", "0.10.0", "0.10.2", "0.12.0.1"),
    "jaxlib": ("0.4.30",),
    "jaxtyping": ("0.2.1",),
    "equinox": ("0.12.2", "0.13.0"),
    "diffrax": ("0.6.0", "0.7.0", "0.7.2"),
}


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("jax 0.4.30", {"jax": "0.4.30"}),
        ("0.6.2", {"jax": "0.6.2"}),
        ("0.10", {"jax": "0.10.2"}),
        ("newest", {"jax": "0.12.0.1"}),
        ("jax newest diffrax 0.7", {"jax": "0.12.0.1", "diffrax": "0.7.2"}),
        ("jax 0.12.0.1 equinox 0.13.0", {"jax": "0.12.0.1", "equinox": "0.13.0"}),
        ("jax==0.12.0.1, equinox==0.13.0", {"jax": "0.12.0.1", "equinox": "0.13.0"}),
        ("jax-0.4.30+diffrax-0.6.0", {"jax": "0.4.30", "diffrax": "0.6.0"}),
        ("jax[cpu]==0.6.2 ; python_version > '3.9'", {"jax": "0.6.2"}),
        ("jax==0.4.30+cuda12", {"jax": "0.4.30"}),
        ("jax==0.10.*", {"jax": "0.10.2"}),
        ("diffrax>=0.7,<0.7.2", {"diffrax": "0.7.0"}),
        ("Jax 0.6.2", {"jax": "0.6.2"}),
        ("jax 0.6.2 diffrax==0.6.0 equinox newest", {"jax": "0.6.2", "diffrax": "0.6.0", "equinox": "0.13.0"}),
        ("jax=0.6.2", {"jax": "0.6.2"}),
        ("jax\u00a00.6.2", {"jax": "0.6.2"}),
    ],
)
def test_what_people_type_names_versions(text: str, versions: dict[str, str]) -> None:
    """A release, a minor, `newest`, requirement lines and a cell's id mean what they say."""
    assert versions == read(text, KNOWN).versions


def test_a_pasted_pip_freeze_is_read_by_whole_names() -> None:
    """jaxtyping is not jax: each package has its own version, and what is not of the stack is counted."""
    asked = read("absl-py==2.0.0\njax==0.4.30\njaxlib==0.4.30\njaxtyping==0.2.1\nzipp==3.1\n", KNOWN)

    assert {"jax": "0.4.30", "jaxlib": "0.4.30", "jaxtyping": "0.2.1"} == asked.versions
    assert ("Not of the stack, and ignored: absl-py, zipp.",) == asked.notes


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("flax==0.10", "Not of the stack, and ignored: flax."),
        ("equinox", "equinox has no version beside it, and is ignored."),
        ("jax 99.1", "There is no jax 99.1 here: what follows of it is by rule."),
        ("jax, diffrax==0.7.0", "jax has no version beside it, and is ignored."),
        ("jax @ https://x/y==1", "jax has no version beside it, and is ignored."),
        ("jax>=0.6", "jax>=0.6 is taken as its newest, 0.12.0.1."),
        ("jax>=99", "No release here is jax>=99."),
        ("jax==not-a-version", "“jax==not-a-version” is no requirement."),
    ],
)
def test_what_is_not_taken_as_it_stands_is_said(text: str, note: str) -> None:
    """Nothing is guessed in silence."""
    assert (note,) == read(text, KNOWN).notes


@given(st.text())
def test_any_text_gives_versions_or_a_note(text: str) -> None:
    """Whatever is pasted, the answer names packages of the stack alone, and only with versions."""
    asked = read(text, KNOWN)

    assert set(asked.versions) <= set(KNOWN)
    assert all(asked.versions.values())


VERSIONS = st.lists(st.integers(0, 300), min_size=3, max_size=4).map(lambda parts: ".".join(map(str, parts)))


@given(st.dictionaries(st.sampled_from(list(KNOWN)), VERSIONS))
def test_a_lock_is_read_as_it_stands(pins: dict[str, str]) -> None:
    """A file of exact pins comes back as these pins, planned or not."""
    assert pins == read("".join(f"{name}=={version}\n" for name, version in pins.items()), KNOWN).versions
