"""A retired id leads to a sentence, wherever somebody still has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.catalogue import catalogue
from suite.catalogue.retired import retired
from suite.check import ignored
from suite.errors import Misused
from suite.names import query
from suite.report.compare.diff import diff
from tests.report.test_report import observation, report

ID = "names-gone-from-jax"


def test_an_id_that_is_asked_for_is_refused_with_its_names() -> None:
    """`--issue` says that the issue was retired, and which names it was about."""
    with pytest.raises(Misused, match=rf"{ID} was retired: .*jax\.tree_map"):
        catalogue.identified(ID)


def test_an_entry_of_an_ignore_file_is_no_fault(tmp_path: Path) -> None:
    """A file that ignores a retired issue is read."""
    path = tmp_path / "jax-stack-compat.toml"
    path.write_text(f'[[ignore]]\nid = "{ID}"\nreason = "we know"\n', encoding="utf-8")

    assert [ID] == [each.id for each in ignored.load(path, set())]


def test_a_report_that_still_has_it_is_compared() -> None:
    """What differs between two reports names the retired issue before it counts its cases as gone."""
    now = report(observation())
    before = now.model_copy(update={"issues": [*now.issues, now.issues[0].model_copy(update={"id": ID})]})

    assert [(ID, "recorded as names of each release")] == [
        (each.before, each.now) for each in diff(before, now).premises if each.what == "retired issues"
    ]


def test_each_name_is_of_a_package_that_was_asked() -> None:
    """No retired issue is still one, and each case has a name of a package whose releases were asked."""
    names = [name for cases in retired().values() for name in cases.values()]

    assert not retired().keys() & {each.issue.id for each in catalogue.entries()}
    assert all(query.is_known(name.partition(".")[0]) for name in names)
