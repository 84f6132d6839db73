"""Walks and spans: joined walks split again, in any order and in any number of steps."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from suite.names import spans, store
from suite.names.model import Names

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
        for name, text in store.texts(names).items():
            Path(folder, name).write_text(text, encoding="utf-8")
        return store.detailed(store.load(names.package, Path(folder)), Path(folder))


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


@given(walks=WALKS, data=st.data())
@FEW
def test_releases_come_in_any_order(walks: dict[str, Any], data: st.DataObject) -> None:
    """Walks that are written, read and then joined with others make the same files as all at once."""
    ordered = data.draw(st.permutations(list(walks.items())))
    count = data.draw(st.integers(0, len(ordered)))
    known = spans.split(stored(spans.join("p", dict(ordered[:count]))))

    assert store.texts(spans.join("p", walks)) == store.texts(spans.join("p", {**known, **dict(ordered[count:])}))
