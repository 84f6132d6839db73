"""Walks of releases, and the published names."""

from __future__ import annotations

import json
import zlib

from jsonschema import Draft202012Validator

from suite.names import collect, store
from suite.names.model import FOLDER
from suite.stack import lock, plan


def test_each_release_is_walked_in_one_cell() -> None:
    """All releases of packages that the line moves or holds are walked once and published."""
    walked = [(each, lock.load(cell).pins[each]) for cell, few in collect.wanted().items() for each in few]
    line = [cell for cell in plan.tagged("line") if cell.unavailable is None]
    pins = [(cell.moves, each, version) for cell in line for each, version in lock.load(cell).pins.items()]
    held = {(each, version) for moved, each, version in pins if each in (moved, "jaxlib", "jaxtyping")}
    published = {(each, version) for each in collect.PACKAGES for version in store.load(each).releases}

    assert sorted(held) == sorted(walked)
    assert held <= published


def test_published_names_are_as_their_schema_says() -> None:
    """The schema in the tree is the code's, and all first files validate against it."""
    assert store.schema() == (FOLDER / "names.schema.json").read_text(encoding="utf-8")
    schema = Draft202012Validator(json.loads(store.schema()))
    for package in collect.PACKAGES:
        schema.validate(json.loads((FOLDER / f"{package}.json").read_text(encoding="utf-8")))


def test_names_are_small() -> None:
    """The names that `check` needs are at most 400 kB, compressed."""
    texts = b"".join((FOLDER / f"{package}.json").read_bytes() for package in collect.PACKAGES)

    assert len(zlib.compress(texts, 9)) <= 400_000
