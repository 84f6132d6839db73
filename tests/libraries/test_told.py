"""What is told of the libraries in a stack, on a small file of what is known."""

import pytest

from jax_stack_compat.libraries import known
from jax_stack_compat.libraries.known import DECLARED, RUN, Beside, KnownLibrary, KnownRelease
from jax_stack_compat.libraries.told import at_most, told

WORKS = Beside("works", RUN)
LACKS = Beside("does-not-import", RUN, error="AttributeError", needs="jax.core.Effects", place="lib/a.py:1")
PARTS = Beside("without-modules", RUN, error="ImportError", needs="jax.core.Jaxpr", modules=("lib.a", "lib.b", "lib.c"))
OUT = Beside("excluded", DECLARED)


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know one library with three releases."""
    releases = {
        "1.0": KnownRelease("2025-01-01", {"jax": ">=0.4"}, {"jax": {"0.10.2": WORKS, "0.11.2": LACKS}}),
        "1.1": KnownRelease("2026-01-01", {"jax": ">=0.4"}, {"jax": {"0.10.2": WORKS, "0.11.2": PARTS}}),
        "1.2": KnownRelease("2026-06-01", {"jax": ">=0.11"}, {"jax": {"0.10.2": OUT, "0.11.2": WORKS}}),
    }
    monkeypatch.setattr(known, "load", lambda: {"lib": KnownLibrary("lib", "", releases)})


def words(library: str, jax: str) -> list[str]:
    """Return the phrases about a release of the library beside a release of jax."""
    return [one.words for one in told({"lib": library, "jax": jax})]


def test_a_library_that_does_not_import_is_told_with_its_cause() -> None:
    """The sentence has the missing name, the last release that had it, and the nearest releases that work."""
    (one,) = told({"lib": "1.0", "jax": "0.11.2"})
    why = "it needs jax.core.Effects, which jax 0.10.2 had last"
    assert f"lib 1.0 does not import beside jax 0.11.2 (run): {why}" == one.words
    assert ("lib 1.2 (run)", "jax 0.10.2 (run)") == one.instead
    assert one.fails


def test_a_library_without_some_modules_does_not_fail() -> None:
    """A part that does not import is named, and the stack is not called broken for it."""
    (one,) = told({"lib": "1.1", "jax": "0.11.2"})
    assert one.words.startswith("lib 1.1 imports without lib.a, lib.b and 1 more beside jax 0.11.2 (run): it needs")
    assert not one.fails


def test_a_library_that_needs_older_packages_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where other packages held make it work, jax is not blamed, and the failure without that is told."""
    held = Beside("works", RUN, error="AttributeError: no", held=True)
    release = KnownRelease("2026-01-01", {}, {"jax": {"0.11.2": held}})
    monkeypatch.setattr(known, "load", lambda: {"lib": KnownLibrary("lib", "", {"1.0": release})})
    (one,) = told({"lib": "1.0", "jax": "0.11.2"})
    assert "if other packages stay older; with the newest: AttributeError: no" in one.words
    assert not one.fails


def test_a_library_refuses_a_jax_by_its_metadata() -> None:
    """An excluded jax is told as an installer would, also one that was not run."""
    assert ["lib 1.2 requires jax>=0.11, and 0.10.2 is here"] == words("1.2", "0.10.2")
    assert ["lib 1.2 requires jax>=0.11, and 0.9.2 is here"] == words("1.2", "0.9.2")


def test_a_release_that_was_not_run_is_not_told() -> None:
    """Of another release of the library, and without a jax, nothing is known."""
    assert [] == words("1.0.1", "0.10.2")
    assert [] == words("1.0", "")


def test_the_libraries_of_a_lock_limit_jax() -> None:
    """The newest jax that works is told where a newer one was run and does not."""
    (limit,) = at_most({"lib": "1.0"})
    why = "it needs jax.core.Effects, which jax 0.10.2 had last"
    assert f"jax 0.10.2 at most, by lib 1.0: {why}" == limit.words
    assert [] == list(at_most({"lib": "1.2"}))
