"""The bounds that a library's metadata lacks, and their entries for conda-forge's repodata patches."""

from fnmatch import fnmatch
from typing import Any

import yaml

from jax_stack_compat.libraries.known import RUN, Beside, KnownLibrary, KnownRelease
from laboratory.boundaries.libraries import LibraryBound, missing_bounds

WORKS = Beside("works", RUN)
LACKS = Beside("does-not-import", RUN, error="AttributeError", needs="jax.core.Effects", place="lib/a.py:1")
FAILS = Beside("does-not-import", RUN, error="TypeError: no")


def bounds(**beside: Beside) -> list[LibraryBound]:
    """Return the missing bounds of a release that ran beside these releases of jax, such as `v0_7_2`."""
    course = {version[1:].replace("_", "."): shown for version, shown in beside.items()}
    release = KnownRelease("2026-01-01", {"jax": ">=0.4"}, {"jax": course})
    return list(missing_bounds("lib", KnownLibrary("lib", "", {"1.0": release})))


def test_a_missing_bound_is_exact_by_a_name() -> None:
    """The bound is the first release without the name, not the first that was run."""
    (bound,) = bounds(v0_10_2=WORKS, v0_11_2=LACKS)
    assert ("0.11.0", True) == (bound.below, bound.exact)
    assert "jax>=0.4,<0.11.0" == bound.requirement


def test_without_a_name_the_bound_is_the_first_that_failed() -> None:
    """Between the two that ran, nothing is known, and the bound says so."""
    (bound,) = bounds(v0_10_2=WORKS, v0_11_2=FAILS)
    assert ("0.11.2", False) == (bound.below, bound.exact)


def test_a_bound_that_metadata_has_is_not_missing() -> None:
    """A release that excludes the newer jax lacks no bound, and neither does one that works beside it."""
    assert [] == bounds(v0_10_2=WORKS, v0_11_2=Beside("excluded", "declared"))
    assert [] == bounds(v0_10_2=FAILS, v0_11_2=WORKS)


def test_a_name_of_another_package_is_no_bound_on_jax() -> None:
    """Where another package lacks a name, jax is not bounded for it."""
    other = Beside("does-not-import", RUN, error="ImportError", needs="flax.core.x", place="lib/a.py:1")
    assert [] == bounds(v0_10_2=WORKS, v0_11_2=other)


def patched(entry: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Return a package's record with an entry of the patches applied, as their specification says."""
    wanted = dict(entry["if"])
    until = wanted.pop("timestamp_lt")
    if record["timestamp"] >= until or any(not fnmatch(record[name], of) for name, of in wanted.items()):
        return record
    depends = list(record["depends"])
    for change in entry["then"]:
        asked = change["tighten_depends"]
        for place, line in enumerate(depends):
            if line.partition(" ")[0] == asked["name"]:
                depends[place] = f"{line},<{asked['upper_bound']}" if " " in line else f"{line} <{asked['upper_bound']}"
    return {**record, "depends": depends}


def test_an_entry_for_conda_tightens_the_dependency_on_jax() -> None:
    """The entry concerns this release alone, and no package that is built later."""
    (bound,) = bounds(v0_10_2=WORKS, v0_11_2=LACKS)
    entry = yaml.safe_load(bound.patch_yaml("2026-11-28"))
    record = {"name": "lib", "version": "1.0", "timestamp": 1700000000000, "depends": ["jax >=0.4", "jaxlib", "numpy"]}

    assert ["jax >=0.4,<0.11.0", "jaxlib", "numpy"] == patched(entry, record)["depends"]
    assert record == patched(entry, {**record, "version": "1.1"}) | {"version": "1.0"}
    later = {**record, "timestamp": 1800000000000}
    assert later == patched(entry, later)
