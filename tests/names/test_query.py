"""Published names: walks of releases, joined and split again, and questions that changelogs bear out."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from packaging.version import Version

from jax_stack_compat.base.files import replace_all
from jax_stack_compat.names import query, spans, store
from jax_stack_compat.names.model import FOLDER, Names
from jax_stack_compat.packages import WALKED
from jax_stack_compat.stack import lock, plan
from laboratory.collect import names as collect
from laboratory.collect import needed
from laboratory.collect.needed import Needed

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
    """A name's life has the first and the last release of each span, of those that were walked."""
    known = query.names("jax").releases
    lives = {each: ((ends[0] or known[0], ends[1] or known[-1]),) for each, ends in ENDS.items()}

    assert lives == {each: query.life(each) for each in ENDS}


def test_a_module_has_a_life() -> None:
    """A module that does not import exists all the same; one that no release has does not."""
    known = query.names("jax").releases

    assert ((known[0], "0.4.30"),) == query.module_life("jax.experimental.maps")
    assert ((known[0], known[-1]),) == query.module_life("jax.experimental.jax2tf")
    assert () == query.module_life("jax.nowhere") == query.life("jax.nowhere")


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

    def is_there(name: str) -> bool:
        spans = query.life(name) or query.module_life(name)
        return not spans or spans[-1][1] == query.names(name.partition(".")[0]).releases[-1]

    assert UNSEEN == {each for each in query._table() if is_there(each) and not query.words(each)}


def test_deprecated_names_have_words() -> None:
    """Deprecated names carry upstream's words; removed names keep the last ones."""
    modules = [(of, module) for each in WALKED for of, module in query.names(each).modules.items()]
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
    published = {(each, version) for each in WALKED for version in store.load(each).releases}

    assert sorted(held) == sorted(walked)
    assert held <= published


def test_published_names_are_as_their_schema_says() -> None:
    """The file of each package validates against the schema."""
    schema = Draft202012Validator(json.loads(store.schema()))
    for package in WALKED:
        schema.validate(json.loads((FOLDER / f"{package}.json").read_text(encoding="utf-8")))


FEW = settings(deadline=None, max_examples=40)
# In order of their days: 0.8.3 came after 0.9.0.
RELEASES = st.sampled_from(("0.4.9", "0.4.10", "0.8.2", "0.9.0", "0.8.3", "0.9.0.1", "0.12.0"))
WORDS = st.text(alphabet='a "\n\\…', min_size=1, max_size=4)
PUBLIC, PRIVATE = st.sampled_from("fgh"), st.sampled_from(("_a", "_b", "_c"))
PARAMETERS = st.lists(st.lists(st.sampled_from(("x", "/x", "*y", "=z", "")), min_size=1, max_size=2), max_size=2)
SAID: dict[str, st.SearchStrategy[Any]] = {"warns": st.lists(WORDS, min_size=2, max_size=2)}
TOLD: dict[str, st.SearchStrategy[Any]] = {**SAID, "home": WORDS, "doc": WORDS, "parameters": PARAMETERS}
MEMBERS = st.dictionaries(PUBLIC, st.none() | PARAMETERS, max_size=2)
NAMES = st.one_of(
    st.fixed_dictionaries({"kind": st.just("raises"), "says": WORDS}),
    st.fixed_dictionaries({"kind": st.sampled_from(("module", "constant"))}, optional=SAID),
    st.fixed_dictionaries({"kind": st.just("function")}, optional=TOLD),
    st.fixed_dictionaries({"kind": st.just("class"), "members": MEMBERS}, optional=TOLD),
)
PARTS = {"names": st.dictionaries(PUBLIC, NAMES, max_size=2), "gone": st.dictionaries(PUBLIC, WORDS, max_size=1)}
FULL = st.fixed_dictionaries({**PARTS, "private": st.lists(PRIVATE, unique=True).map(sorted)})
# Without empty parts.
HELD = FULL.map(lambda module: {part: told for part, told in module.items() if told})
MODULES = st.fixed_dictionaries({"fails": WORDS}) | HELD
WALK = st.fixed_dictionaries({"modules": st.dictionaries(st.sampled_from(("p", "p.m", "p._n")), MODULES, max_size=3)})
# In any order; some are repeated.
WALKS = st.lists(WALK, min_size=1, max_size=3).flatmap(lambda few: st.dictionaries(RELEASES, st.sampled_from(few)))


def stored(names: Names) -> Names:
    """Return the names after writing and reading them."""
    with tempfile.TemporaryDirectory() as folder:
        replace_all(Path(folder), store.files([names]))
        return store.detailed(Path(folder))[names.package]


@pytest.mark.parametrize(
    ("declared", "lacks"), [("==0.4.20", False), ("<=0.4.20", True), (">=0.4.20", True), (None, True)]
)
def test_a_need_may_be_undeclared(declared: str | None, *, lacks: bool) -> None:
    """A need is undeclared if the declared requirement admits a release before its first, or after its last."""
    need = Needed(package="jax", declared=declared, since="0.4.20", until="0.4.20")

    assert lacks == needed.is_undeclared(need)


@given(values=st.lists(st.none() | st.integers(0, 2)))
@FEW
def test_spans_say_what_holds_at_a_place(values: list[int | None]) -> None:
    """The spans of a list have the list's values in their places, and nothing beyond."""
    tracked = spans.track(values)

    assert [*values, None] == [spans.at(tracked, place) for place in range(len(values) + 1)]


@given(walks=WALKS)
@FEW
def test_what_is_joined_is_split_again(walks: dict[str, Any]) -> None:
    """The spans of walks, also from files, contain all walks, with releases in version order."""
    names = spans.join("p", walks)

    assert walks == spans.split(names) == spans.split(stored(names))
    assert sorted(walks, key=Version) == list(names.releases)
