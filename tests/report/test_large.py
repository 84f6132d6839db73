"""A catalogue of the size that is meant: a hundred issues with three hundred cases, written as anybody writes them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from suite.report import compact
from suite.report.model import Report
from suite.run import catalogue
from suite.stack import plan
from tests.worlds import as_known

ISSUES = 100
MODULE = '''"""What is number {number} does what it should not on some releases of jax and of Equinox.

A story of a few sentences, as long as one of those that there are: who met it, what they saw, where it comes from and
what became of it since. It names the internals that changed, the release in which they did, and what upstream says.
"""

from suite.cell import Case, Issue, Rule, Upstream, Workaround


def headline() -> tuple[str, str]:
    """Does it happen at once?"""
    import jax
    import jax.numpy as jnp

    return ("bad" if jax.jit(jnp.sum)(jnp.ones({number})) else "good"), "it was number {number}"


def under_jit() -> tuple[str, str]:
    """Does it happen under eqx.filter_jit?"""
    import equinox as eqx
    import jax.numpy as jnp

    return ("bad" if eqx.filter_jit(jnp.sum)(jnp.ones({number})) else "good"), "it was number {number}, and compiled"


def in_a_solve() -> tuple[str, str]:
    """Does it happen in a solve?"""
    import diffrax

    return ("bad" if diffrax.Tsit5() else "good"), "it was number {number}, in a solve"


def instead() -> None:
    """Do it otherwise."""


def _case(reproducer, first, *needs):
    on = "jax<0.8 equinox>=0.11.4" if needs else "jax<0.8"
    rules = (
        Rule("good", f"jax<{{first}}", "run on every release before it"),
        Rule("bad", on, "run on every release since"),
        Rule("good", "", "run on every release since it was mended"),
    )
    workaround = Workaround("Do it otherwise.", instead)
    return Case(reproducer, instead, {{"bad": "affected", "good": "clear"}}, rules, workaround, needs=("jax", *needs))


ISSUE = Issue(
    "silent-change",
    (Upstream("jax-ml/jax#{number}", "report"), Upstream("jax-ml/jax#9{number}", "fix")),
    (_case(headline, "{first}"), _case(under_jit, "{first}", "equinox"), _case(in_a_solve, "{first}", "diffrax")),
)
'''


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    """The report on them, each as its rules have it, over every release of the line."""
    folder = tmp_path_factory.mktemp("large") / "large_catalogue"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for number in range(1, ISSUES + 1):
        text = MODULE.format(number=number, first=f"0.4.{20 + number % 15}")
        (folder / f"issue_{number:03}.py").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(folder.parent))
        row_zero = tuple(each for each in catalogue.entries() if each.issue.row_zero)
        made = [catalogue.entry(f"{folder.name}.{path.stem}") for path in sorted(folder.glob("issue_*.py"))]
        patched.setattr(catalogue, "entries", lambda: (*row_zero, *made))
        yield as_known(plan.tagged("line"))
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


def test_a_large_report_is_small_and_read_back(large: Report) -> None:
    """compat.json stays one that people can fetch, and what is left out of it is filled in again."""
    text = compact.text(large)

    assert len(text.encode()) < 6_000_000
    assert large == Report.model_validate_json(text)


def test_a_large_catalogue_is_judged_by_its_tables(large: Report) -> None:
    """Every case of every issue is there, turns where its rules do, and every turn has a ground."""
    cases = [case for issue in large.issues if not issue.row_zero for case in issue.cases]

    assert 3 * ISSUES == len(cases)
    assert [] == [case.id for case in cases if not {"bad", "good"} <= {each.behaviour for each in case.intervals}]
    assert [] == [turn for case in cases for turn in case.turns if not turn.blame]
