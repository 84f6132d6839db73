"""Stacks in a person's words: all words have a meaning, or are refused."""

import pytest

from jax_stack_compat.check.inputs.spoken import versions

RELEASES = {"jax": ["0.4.1", "0.10.0", "0.10.2", "0.12.0", "0.12.0.1"], "diffrax": ["0.6.0", "0.7.0", "0.7.2"]}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("newest", {"jax": "0.12.0.1", "diffrax": "0.7.2"}),
        ("jax newest", {"jax": "0.12.0.1"}),
        ("v0.10.0", {"jax": "0.10.0"}),
        ("JAX 0.1", {"jax": "0.1"}),
        ("diffrax 0.7", {"diffrax": "0.7.2"}),
        ("jax 0.12.0 Diffrax==0.7.0", {"jax": "0.12.0", "diffrax": "0.7.0"}),
        ("jax==0.10 diffrax latest", {"jax": "0.10", "diffrax": "0.7.2"}),
        ("jax==0.10.0+cuda12", {"jax": "0.10.0"}),
    ],
)
def test_words_name_versions(words: str, meant: dict[str, str]) -> None:
    """A version without a name is jax's, a prefix means its newest release, and `==` means that public version."""
    assert meant == versions(words, RELEASES, RELEASES)


@pytest.mark.parametrize(
    "words", ["", "jax", "jax>=0.4", "jax==0.4.*", "jax 0.4 jax 0.10", "lineax newest", "old.lock", "jax===main"]
)
def test_what_names_no_one_version_is_refused(words: str) -> None:
    """Ranges, two versions of a package, and releases of unknown packages are refused."""
    with pytest.raises(ValueError, match=r"one version of each|lineax has no release|Invalid version: 'main'"):
        versions(words, RELEASES, RELEASES)
