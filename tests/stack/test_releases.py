"""What the packages' own metadata says of a stack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from suite import files
from suite.errors import BadFile
from suite.stack import plan, releases
from suite.stack.matrix import PATH as plan_path
from suite.stack.matrix import Matrix
from suite.stack.releases import HELD, PYTHONS, Packages, Release, Snapshot

DAY = datetime(2024, 6, 18, tzinfo=UTC)
PINS = {"jax": "0.4.30", "jaxlib": "0.4.30", "equinox": "0.11.4", "diffrax": "0.5.1", "ml-dtypes": "0.4.0"}


def built(wheels: Mapping[str, tuple[int, Sequence[str]]], **said: Any) -> Release:
    """A release with wheels for these interpreters: so many days after DAY, for these platforms."""
    made = {"uploaded": DAY, "requires_python": "", "requires_dist": [], "yanked": None}
    of = {tag: {"newest": DAY + timedelta(days), "platforms": each} for tag, (days, each) in wheels.items()}
    return Release.model_validate({**made, **said, "wheels": of})


def offered(requires: Mapping[str, Sequence[str]]) -> Packages:
    """Releases at the versions of PINS, with these requirements."""
    return {name: {PINS[name]: built({}, requires_dist=texts)} for name, texts in requires.items()}


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
        # A marker is evaluated for the cells' CPython 3.12, not for the interpreter that the driver runs on.
        ({"jax": ["ml-dtypes>=0.5; python_version < '3.12'"]}, None),
        (
            {"jax": ["ml-dtypes>=0.5; python_version >= '3.12'"]},
            "jax 0.4.30 requires ml-dtypes>=0.5, and 0.4.0 is here",
        ),
    ],
)
def test_metadata_excludes(requires: Mapping[str, Sequence[str]], because: str | None) -> None:
    """A stack is excluded by the requirement that applies to it and is not met, however its name is spelt."""
    assert because == releases.exclusion(PINS, offered(requires), "3.12")


@given(
    days=st.dictionaries(st.sampled_from(["py3", *map(releases.tag_of, PYTHONS)]), st.integers(0, 99)),
    python=st.sampled_from(PYTHONS),
)
def test_the_newest_wheel_is_of_the_interpreter_that_is_asked_about(days: Mapping[str, int], python: str) -> None:
    """What another interpreter's wheels are, and when they came, says nothing; one for any interpreter counts."""
    release = built({tag: (each, ["any"]) for tag, each in days.items()})
    mine = [each for tag, each in days.items() if tag in ("py3", releases.tag_of(python))]

    assert (DAY + timedelta(max(mine)) if mine else None) == release.newest_wheel(python)
    assert bool(mine) == release.installs_here(python)


def test_a_wheel_of_another_machine_does_not_install_here() -> None:
    """A release whose wheels are all for other platforms has a newest wheel, the same everywhere, and none for here."""
    release = built({"cp312": (3, ["amiga_68k"])})

    assert DAY + timedelta(3) == release.newest_wheel("3.12")
    assert not release.installs_here("3.12")


@given(first=st.sampled_from(PYTHONS), end=st.sampled_from(PYTHONS), python=st.sampled_from(PYTHONS))
def test_a_release_allows_the_interpreters_that_it_says(first: str, end: str, python: str) -> None:
    """Requires-Python is read as a range of versions, in which 3.9 comes before 3.10."""
    release = built({}, requires_python=f">={first},<{end}")

    assert (Version(first) <= Version(python) < Version(end)) == release.allows(python)
    assert built({}, requires_python=">=3.9").allows(python)


def test_the_snapshot_has_what_the_table_names() -> None:
    """releases.json has the table's packages, none older than it says, and no address: a user's own index serves."""
    known = releases.load()
    oldest = {name: min(map(Version, known.packages[name])) for name in known.packages}

    assert [*HELD] == [*known.packages]
    assert [] == [name for name, version in oldest.items() if version < Version(HELD[name].oldest)]
    assert "://" not in releases.PATH.read_text(encoding="utf-8")


GOOD = built({}).model_dump(mode="json")


@pytest.mark.parametrize(
    ("version", "odd", "key", "told"),
    [
        ("banana", {}, "banana.[key]", "'banana' is not a version"),
        ("1.0/../..", {}, "1.0/../...[key]", "'1.0/../..' is not a version"),
        ("1" * 5000, {}, "", "is not a version"),
        ("1.0", {"requires_dist": ["!!!"]}, "1.0.requires_dist.0", "'!!!' is not a requirement: Expected"),
        ("1.0", {"requires_dist": ["jax; os_name ~= '!'"]}, "1.0.requires_dist.0", "is not a requirement: Undefined"),
        ("1.0", {"requires_python": "banana"}, "1.0.requires_python", "'banana' is not a specifier"),
        ("1.0", {"wheels": {"x.whl": {"newest": GOOD["uploaded"], "platforms": []}}}, "1.0.wheels.x.whl", "pattern"),
        ("1.0", {"uploaded": "2024-06-18T00:00:00"}, "1.0.uploaded", "timezone"),
        ("1.0", {"uploaded": "9999-12-31T23:59:59Z"}, "1.0.uploaded", "9999-12-31 is no day between 2000 and 2200"),
    ],
)
def test_what_no_release_can_be_is_told(version: str, odd: dict[str, Any], key: str, told: str) -> None:
    """A release that could not be planned with is told by its key where the snapshot is read."""
    said = {"schema_version": 2, "taken_at": GOOD["uploaded"], "packages": {"jax": {version: {**GOOD, **odd}}}}

    with pytest.raises(BadFile) as caught:
        files.parse(Snapshot, json.dumps(said), releases.PATH)

    (fault,) = caught.value.faults
    assert fault.key.startswith(f"packages.jax.{key}")
    assert told in fault.message


def test_a_package_that_the_snapshot_lacks_is_told() -> None:
    """Without a package of the stack nothing is planned; the next snapshot can still be made from this one."""
    known = releases.load()
    less = known.model_copy(update={"packages": {name: known.packages[name] for name in HELD if name != "jaxlib"}})

    with pytest.raises(BadFile, match=r"releases\.json: packages\.jaxlib: is missing: `python -m suite snapshot`"):
        plan.plan(files.read(Matrix, plan_path), less)
    assert less == files.parse(Snapshot, less.model_dump_json(), releases.PATH)


def test_versions_stand_in_order_and_less_what_was_yanked() -> None:
    """What there is of an axis, packages and Python, is told in version order; what was yanked, only on demand."""
    known = releases.load()
    yanked = {version for version, release in known.packages["jax"].items() if release.yanked is not None}

    for axis in releases.AXES:
        assert sorted(known.versions(axis), key=Version) == [*known.versions(axis)], axis
    assert yanked == {*known.versions("jax", yanked=True)} - {*known.versions("jax")}
    assert "0.4.32" in yanked
