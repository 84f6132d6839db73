"""Walks of releases, and questions about the published names, with answers that upstream's changelogs bear out."""

from __future__ import annotations

import json
import zlib

from jsonschema import Draft202012Validator

from suite.names import collect, query, store
from suite.names.collect import PACKAGES
from suite.names.model import FOLDER
from suite.stack import lock, plan

# They warn only when called, or went before the oldest walked release.
UNSEEN = {"equinox.static_field", "diffrax.NewtonNonlinearSolver"}
ENDS = {
    "jax.tree_map": (None, "0.5.3"),
    "jax.tree.map": ("0.4.25", None),
    "jax.sharding.AxisTypes": ("0.5.0", "0.5.2"),
    "jax.core.get_aval": (None, "0.9.2"),
    # A function that becomes a constant exists all along.
    "jax.core.Atom": (None, None),
}


def test_a_name_has_a_life() -> None:
    """The oldest and the newest walked release are limits of knowledge, not ends."""
    known = query.names("jax").releases
    lives = {each: query.Life(((ends[0] or known[0], ends[1] or known[-1]),), *ends) for each, ends in ENDS.items()}

    assert lives == {each: query.life(each) for each in ENDS}


def test_a_module_has_a_life() -> None:
    """A module that does not import exists all the same; one that no release has does not."""
    known = query.names("jax").releases

    assert query.Life(((known[0], "0.4.30"),), None, "0.4.30") == query.module_life("jax.experimental.maps")
    assert query.Life(((known[0], known[-1]),), None, None) == query.module_life("jax.experimental.jax2tf")
    assert query.module_life("jax.nowhere") is query.life("jax.nowhere") is None


def test_what_nobody_asked_is_unknown() -> None:
    """A name is unknown on a release that was not walked, or whose module needs a package the cell lacks."""
    assert [None, True, False] == [query.has("jax.tree_map", version) for version in ("0.4.17", "0.5.3", "0.6.0")]
    assert query.has("jax.experimental.jax2tf.convert", "0.5.3") is None


def test_a_replacement_is_there() -> None:
    """A replacement exists on the release in question, and those in the table exist on some release."""
    assert ("jax.tree_util.tree_map",) == query.replacements("jax.tree_map", "0.4.20")
    assert ("jax.tree.map", "jax.tree_util.tree_map") == query.replacements("jax.tree_map", "0.6.0")
    told = {each for few in query._table().values() for each in few}
    assert not {each for each in told if not (query.life(each) or query.module_life(each))}


def test_what_is_replaced_is_gone_or_deprecated() -> None:
    """Names in the table are gone from the newest release, or upstream warns about them."""
    lives = {each: query.life(each) or query.module_life(each) for each in query._table()}

    assert UNSEEN == {each for each, life in lives.items() if not (life and life.until) and not query.words(each)}


def test_deprecated_names_have_words() -> None:
    """Deprecated names carry upstream's words; removed names keep the last ones."""
    modules = [(of, module) for each in PACKAGES for of, module in query.names(each).modules.items()]
    warn = [f"{of}.{name}" for of, module in modules for name, told in module.names.items() if told.warns]

    assert warn
    assert all(map(query.words, warn))
    assert "jax.ArrayRef was removed in JAX v0.9.0; use jax.Ref instead." == query.words("jax.ArrayRef")


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
