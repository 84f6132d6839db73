"""What is known of the libraries in a stack, in words: whether each works, and the nearest releases that do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from packaging.version import Version

from jax_stack_compat.libraries import known
from jax_stack_compat.libraries.known import DECLARED, EXCLUDED, WORKS, Beside, KnownLibrary

# The package beside which a stack's libraries are looked up.
_PACKAGE = "jax"
_VERBS: Mapping[str, str] = {"does-not-import": "does not import", "task-fails": "fails", "crashes": "crashes"}
_MOST_MODULES = 2


@dataclass(frozen=True)
class Told:
    """What a library in a stack does: a phrase, and the nearest releases that work if it fails.

    `well` is True if it works; `words` are then its name alone, unless some of its modules do not import. `refused` is
    True if its own metadata excludes the stack.
    """

    library: str
    release: str
    words: str
    how: str
    well: bool = False
    refused: bool = False
    instead: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """True if the library is known not to import or run there."""
        return not self.well and not self.refused


def told(versions: Mapping[str, str], names: Iterable[str] | None = None) -> Iterator[Told]:
    """Yield what is known of each library in a stack, or of those in `names`; of others, nothing. Raises BadFile."""
    libraries = known.load()
    jax = versions.get(_PACKAGE, "")
    for name in libraries if names is None else names:
        release = known.spelled(name, versions.get(name, ""))
        beside = known.found(libraries[name].releases[release], _PACKAGE, jax) if release and jax else None
        if beside is not None:
            yield _told(name, release, jax, beside, libraries[name])


def cause(name: str, version: str, jax: str) -> str:
    """Return the name that a release of a library lacks beside a jax, in words; empty if no lack is known."""
    release = known.spelled(name, version)
    beside = known.found(known.load()[name].releases[release], _PACKAGE, jax) if release and jax else None
    return _why(beside, jax) if beside and beside.needs else ""


def _told(name: str, release: str, jax: str, beside: Beside, library: KnownLibrary) -> Told:
    subject, there = f"{name} {release}", f"beside {_PACKAGE} {jax} ({beside.how})"
    if beside.behaviour == WORKS and beside.held:
        held = f"{subject} imports and runs {there} if other packages stay older; with the newest: {beside.error}"
        return Told(name, release, held, beside.how, well=True)
    if beside.behaviour == WORKS:
        return Told(name, release, subject, beside.how, well=True)
    if beside.behaviour == "imports":
        return Told(name, release, f"{subject} imports {there}", beside.how, well=True)
    instead = tuple(_nearest(name, release, jax, library))
    if beside.behaviour == EXCLUDED:
        requires = library.releases[release].requires.get(_PACKAGE, "")
        refused = f"{subject} requires {_PACKAGE}{requires}, and {jax} is here"
        if beside.how != DECLARED:
            refused = f"{subject} does not install beside {_PACKAGE} {jax}: {beside.error}"
        return Told(name, release, refused, beside.how, refused=True, instead=instead)
    why = _why(beside, jax)
    if beside.behaviour == "without-modules":
        more = f" and {len(beside.modules) - _MOST_MODULES} more" * (len(beside.modules) > _MOST_MODULES)
        modules = ", ".join(beside.modules[:_MOST_MODULES]) + more
        return Told(name, release, f"{subject} imports without {modules} {there}: {why}", beside.how, well=True)
    words = f"{subject} {_VERBS[beside.behaviour]} {there}{why and f': {why}'}"
    return Told(name, release, words, beside.how, instead=instead)


def _why(beside: Beside, jax: str) -> str:
    """Return the name that is missing, with the last release that had it, or else the error."""
    if not beside.needs:
        return beside.error
    last = known.last_with(beside.needs, jax)
    had = f", which {last} had last" if last else ""
    return f"{beside.by or 'it'} needs {beside.needs}{had}"


def _nearest(name: str, release: str, jax: str, library: KnownLibrary) -> Iterator[str]:
    """Yield the nearest other release of the library, and of jax, with which the pair is known to work by a run."""
    here = Version(release)
    working = [other for other, of in library.releases.items() if _works(of.beside.get(_PACKAGE, {}).get(jax))]
    newer = [other for other in working if Version(other) > here]
    older = [other for other in working if Version(other) < here]
    for other in newer[:1] or older[-1:]:
        yield f"{name} {other} ({library.releases[other].beside[_PACKAGE][jax].how})"
    course = library.releases[release].beside.get(_PACKAGE, {})
    below = [other for other, beside in course.items() if _works(beside) and Version(other) < Version(jax)]
    above = [other for other, beside in course.items() if _works(beside) and Version(other) > Version(jax)]
    for other in below[-1:] or above[:1]:
        yield f"{_PACKAGE} {other} ({course[other].how})"


def _works(beside: Beside | None) -> bool:
    return beside is not None and beside.behaviour == WORKS


@dataclass(frozen=True)
class AtMost:
    """The newest jax beside which a library in a stack is known to work, if it does not reach the newest that ran."""

    library: str
    release: str
    last: str
    why: str

    @property
    def words(self) -> str:
        """The limit, in words."""
        return f"{_PACKAGE} {self.last} at most, by {self.library} {self.release}: {self.why}"


def at_most(versions: Mapping[str, str]) -> Iterator[AtMost]:
    """Yield the limits that the libraries in a stack set on jax, the lowest first. Raises BadFile."""
    limits = []
    for name, library in known.load().items():
        release = known.spelled(name, versions.get(name, ""))
        course = library.releases[release].beside.get(_PACKAGE, {}) if release else {}
        working = [version for version, beside in course.items() if _works(beside)]
        after = [version for version in course if working and Version(version) > Version(working[-1])]
        if after:
            beside = course[after[0]]
            requires = f"it requires {_PACKAGE}{library.releases[release].requires.get(_PACKAGE, '')}"
            declared = requires if beside.how == DECLARED else beside.error
            why = declared if beside.behaviour == EXCLUDED else _why(beside, after[0])
            limits.append(AtMost(name, release, working[-1], why))
    yield from sorted(limits, key=lambda limit: Version(limit.last))
