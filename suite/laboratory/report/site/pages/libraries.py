"""The pages of the libraries: libraries.html, and a page for each library with its releases and its missing bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from jax_stack_compat.libraries import known
from jax_stack_compat.libraries.known import EXCLUDED, WORKS, Beside, KnownLibrary, KnownRelease, last_with
from laboratory.boundaries.libraries import LibraryBound, missing_bounds
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page
from laboratory.report.site.table import minor_of

_JAX = "jax"
# The class of a field's colour, its glyph and its word, by behaviour.
MARKS: Mapping[str, tuple[str, str, str]] = {
    "works": ("supported", "✓", "works"),
    "imports": ("supported", "○", "imports; its task is not for this release"),
    "without-modules": ("excluded", "◐", "without some modules"),
    "task-fails": ("latent", "✗", "its task fails"),
    "does-not-import": ("latent", "✗", "does not import"),
    "crashes": ("latent", "☠", "crashes"),
    "excluded": ("absent", "⊘", "excluded by metadata"),
    "held": ("excluded", "✓", "works, if other packages stay older"),
}


def mark(beside: Beside) -> tuple[str, str, str]:
    """Return the style, glyph and word for what a library does."""
    return MARKS["held" if beside.held else beside.behaviour]


@dataclass(frozen=True)
class InstallerGives:
    """What an installer finds beside a release of jax: the newest admitted release of a library, and what it does.

    `working` is the newest release that works, if that one does not.
    """

    release: str
    beside: Beside
    working: str


@dataclass(frozen=True)
class LibraryRow:
    """A library: what an installer finds beside each release of jax; None where every known release is excluded.

    `known` are the releases of jax of which anything is known.
    """

    name: str
    newest: str
    offered: Sequence[tuple[str, InstallerGives | None]]
    known: frozenset[str]


@dataclass(frozen=True)
class LibrariesView:
    """The view of libraries.html: the releases of jax by minor series, and the libraries."""

    releases: Sequence[tuple[str, str]]
    rows: Sequence[LibraryRow]
    marks: Mapping[str, tuple[str, str, str]]


@dataclass(frozen=True)
class ReleaseRow:
    """A release of a library: its day, what it declares of jax, the releases that work, and what each release shows.

    `own` is the jax of its own day, if that is older than all others.
    """

    version: str
    day: str
    declared: str
    works: str
    shown: Sequence[Beside | None]
    own: Sequence[tuple[str, Beside]]


@dataclass(frozen=True)
class Cause:
    """A failure, on which releases of the library and beside which releases it shows, and what it lacks.

    `had` is the last release with the missing name, and `cured` the next release of the library without the failure.
    """

    releases: Sequence[str]
    beside: Beside
    where: str
    had: str
    cured: str


@dataclass(frozen=True)
class LibraryView:
    """The view of a library's page."""

    name: str
    module: str
    versions: Sequence[str]
    rows: Sequence[ReleaseRow]
    causes: Sequence[Cause]
    bounds: Sequence[LibraryBound]
    others: Mapping[str, Sequence[tuple[str, Mapping[str, Beside]]]]
    marks: Mapping[str, tuple[str, str, str]]
    taken_at: str


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of all libraries, and a page for each; nothing without libraries."""
    if not facts.libraries:
        return
    versions = known.versions(_JAX)
    rows = [_row(name, library, versions) for name, library in facts.libraries.items()]
    view = LibrariesView([(minor_of(version), version) for version in versions], rows, MARKS)
    yield Page("libraries.html", "libraries.html.jinja", "Libraries beside jax", view)
    for name, library in facts.libraries.items():
        yield Page(
            f"libraries/{name}.html", "library.html.jinja", f"{name} beside jax", _library(name, library, versions)
        )


def _row(name: str, library: KnownLibrary, versions: Sequence[str]) -> LibraryRow:
    known_of = frozenset(version for of in library.releases.values() for version in of.beside[_JAX])
    offered = [(version, _offered(library, version)) for version in versions]
    return LibraryRow(name, list(library.releases)[-1], offered, known_of)


def _offered(library: KnownLibrary, version: str) -> InstallerGives | None:
    known = [
        (release, of.beside[_JAX][version]) for release, of in library.releases.items() if version in of.beside[_JAX]
    ]
    admitted = [(release, beside) for release, beside in known if beside.behaviour != EXCLUDED]
    if not admitted:
        return None
    release, beside = admitted[-1]
    working = [other for other, shown in admitted if shown.behaviour == WORKS]
    return InstallerGives(release, beside, "" if beside.behaviour == WORKS else (working or [""])[-1])


def _library(name: str, library: KnownLibrary, versions: Sequence[str]) -> LibraryView:
    newest_first = list(reversed(list(library.releases.items())))
    return LibraryView(
        name=name,
        module=library.module,
        versions=versions,
        rows=[_release(version, of, versions) for version, of in newest_first],
        causes=list(_causes(library, versions)),
        bounds=list(missing_bounds(name, library)),
        others=_others(library),
        marks=MARKS,
        taken_at=known.day(),
    )


def _release(version: str, of: KnownRelease, versions: Sequence[str]) -> ReleaseRow:
    course = of.beside[_JAX]
    working = [other for other, beside in course.items() if beside.behaviour == WORKS]
    works = " to ".join(dict.fromkeys((working[0], working[-1]))) if working else ""
    own = [(other, beside) for other, beside in course.items() if other not in versions]
    shown = [course.get(other) for other in versions]
    return ReleaseRow(version, of.day, of.requires.get(_JAX, ""), works, shown, own)


def _causes(library: KnownLibrary, versions: Sequence[str]) -> Iterator[Cause]:
    """Yield each failure beside jax once for the releases that show it beside the same jax, the newest first."""
    alike: dict[tuple[str, ...], dict[str, list[tuple[str, Beside]]]] = {}
    for release, of in reversed(list(library.releases.items())):
        for version, beside in of.beside[_JAX].items():
            if beside.held or beside.behaviour not in (WORKS, EXCLUDED, "imports"):
                key = (beside.behaviour, beside.needs or beside.error, beside.by)
                alike.setdefault(key, {}).setdefault(release, []).append((version, beside))
    for by_release in alike.values():
        together: dict[tuple[str, ...], list[str]] = {}
        for release, places in by_release.items():
            together.setdefault(tuple(version for version, _ in places), []).append(release)
        for beside_jax, releases in together.items():
            shown = by_release[releases[0]][-1][1]
            had = last_with(shown.needs, beside_jax[-1]) if shown.needs else ""
            cured = _cured(library, releases[0], beside_jax)
            yield Cause(list(reversed(releases)), shown, _spans(beside_jax, versions), had, cured)


def _spans(some: Sequence[str], versions: Sequence[str]) -> str:
    """Return releases in words, adjacent ones as a span: `0.5.3, 0.8.3 to 0.12.0.1`."""
    spans: list[list[str]] = []
    for version in some:
        is_next = bool(spans) and {spans[-1][-1], version} <= {*versions}
        is_next = is_next and versions.index(spans[-1][-1]) + 1 == versions.index(version)
        spans = [*spans[:-1], [*spans[-1], version]] if is_next else [*spans, [version]]
    return ", ".join(" to ".join(dict.fromkeys((span[0], span[-1]))) for span in spans)


def _cured(library: KnownLibrary, release: str, versions: Sequence[str]) -> str:
    """Return the next release of the library that works beside all these releases of jax."""
    later = [other for other in library.releases if Version(other) > Version(release)]
    for other in later:
        course = library.releases[other].beside[_JAX]
        if all(version in course and course[version].behaviour == WORKS for version in versions):
            return other
    return ""


def _others(library: KnownLibrary) -> Mapping[str, Sequence[tuple[str, Mapping[str, Beside]]]]:
    """Return what the releases do beside releases of other packages than jax, by package."""
    found: dict[str, list[tuple[str, Mapping[str, Beside]]]] = {}
    for release, of in reversed(list(library.releases.items())):
        for package, course in of.beside.items():
            if package != _JAX and course:
                found.setdefault(package, []).append((release, course))
    return found
