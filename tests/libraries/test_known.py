"""What is known of a library beside a release that was not run."""

from dataclasses import replace

from jax_stack_compat.libraries import known
from jax_stack_compat.libraries.known import BETWEEN, BY_NAMES, RUN, Beside, KnownRelease
from laboratory.libraries import records, table

WORKS = Beside("works", RUN)
LACKS = Beside("does-not-import", RUN, error="AttributeError", needs="jax.core.Effects", place="lib/a.py:1")


def release(**beside: Beside) -> KnownRelease:
    """Return a release of a library that ran beside these releases of jax, such as `v0_7_2`."""
    course = {version[1:].replace("_", "."): shown for version, shown in beside.items()}
    return KnownRelease("2026-01-01", {"jax": ">=0.4"}, {"jax": course})


def test_a_release_between_two_that_work_works() -> None:
    """Between two runs that agree, a release works, and the answer says how that is known."""
    found = known.found(release(v0_6_2=WORKS, v0_7_2=WORKS), "jax", "0.7.0")
    assert found == Beside("works", BETWEEN)


def test_a_name_decides_between_two_that_differ() -> None:
    """Between a release that works and one that lacks a name, the release lacks the name, or works."""
    course = release(v0_10_2=WORKS, v0_11_2=LACKS)
    assert known.found(course, "jax", "0.11.0") == replace(LACKS, how=BY_NAMES)
    assert known.found(course, "jax", "0.10.1") is None


def test_a_newer_release_without_the_name_does_not_import() -> None:
    """Beyond the runs, a name that is still missing decides; nothing else does."""
    assert known.found(release(v0_11_2=LACKS), "jax", "0.12.0") == replace(LACKS, how=BY_NAMES)
    assert known.found(release(v0_11_2=WORKS), "jax", "0.12.0") is None


def test_what_fails_without_a_name_decides_nothing_beside_it() -> None:
    """Between a release that works and one that fails for another reason, nothing is known."""
    fails = Beside("task-fails", RUN, error="TypeError")
    assert known.found(release(v0_10_2=WORKS, v0_11_2=fails), "jax", "0.11.0") is None


def test_no_published_error_names_a_place_of_one_machine() -> None:
    """Paths in errors are relative to the installed packages."""
    errors = [failure.error + failure.place for record in records.load() for failure in record.failures]
    assert errors
    assert [] == [error for error in errors if "site-packages" in error]


def test_each_task_works_somewhere() -> None:
    """A library that imports somewhere has a task that works somewhere; else the task is wrong."""
    shown = {
        name: {beside.behaviour for of in library.releases.values() for beside in of.beside["jax"].values()}
        for name, library in known.load().items()
    }
    assert [] == [name for name, behaviours in shown.items() if "imports" in behaviours and "works" not in behaviours]


def test_the_published_file_is_whole() -> None:
    """Each library of the table is published, with its import name."""
    published = known.load()
    assert {name: table.module(name) for name in table.load()} == {name: of.module for name, of in published.items()}
