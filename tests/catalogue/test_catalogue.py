"""The issues' ids and tables, and the snapshot of upstream's threads."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jax_stack_compat import issues as folder
from jax_stack_compat.base.errors import BadFile, Exit
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case, Issue, Rule, Seen, Signature, Upstream, Workaround, no_control
from jax_stack_compat.stack import plan
from jax_stack_compat.stack.matrix import Runs
from laboratory.cell.corpus import well
from laboratory.cli import command_line as command
from laboratory.records import records
from laboratory.report import published
from laboratory.sources import threads

# Other programs read these ids, so they never change; the first case is the headline.
CONTRACT: Mapping[str, str] = {
    "stack-smoke": "train-and-solve implicit-solve",
    "wraps-lower-bypass": "jit pmap vmap grad checkpoint update-wrapper export",
    "method-jit-caching": (
        "bound-method decorated-method static-self static-self-hashable static-self-mutated pytree-self "
        "equinox-module fresh-bound-method"
    ),
    "filter-grad-return-type": (
        "filter-jit-of-filter-grad filter-jit filter-grad filter-value-and-grad python-float-argument non-scalar-output"
    ),
    "tracer-hash-while-loop": "diffeqsolve while-loop-callable hash-tracer jaxpr-params",
    "compute-on-aot": "decorator-outside decorator-inside tpu-branch",
}
Write = Callable[..., None]


def headline() -> Seen:
    """Does it?"""
    return "bad", "it was seen"


CASE = Case(headline, well, {"bad": "affected", "crashed": "affected"}, (Rule("bad", "jax>=0.4.20", "seen"),))


def entry(*cases: Case) -> Entry:
    """Return an issue as it would be read from a module."""
    return Entry(
        Issue("crash", (), cases),
        "jax_stack_compat.issues.some_issue",
        Path("suite/jax_stack_compat/issues/some_issue.py"),
    )


def case(*rules: Rule, **changes: Any) -> Case:
    """Return the case with `changes` in its table."""
    return replace(CASE, **{"rules": rules or CASE.rules, **changes})


def test_a_comparison_means_what_it_says_before_there_are_rules() -> None:
    """`agrees` is clear and `differs` affected in a new case, so that a first bisection has something to find."""
    (fresh,) = Issue("silent-wrong", (), (Case(headline, well),)).cases

    assert {"agrees": "clear", "differs": "affected"} == dict(fresh.behaviours)


def test_the_ids_are_those_of_the_contract() -> None:
    """Issues that other programs read keep their ids and headlines."""
    found = {each.issue.id: [case.id for case in each.issue.cases] for each in catalogue.entries()}

    for issue, ids in CONTRACT.items():
        headline, *others = ids.split()
        assert headline == found[issue][0]
        assert set() == set(others) - set(found[issue])


def test_an_id_names_one_module() -> None:
    """Module names are unique across areas, because they are the issues' ids."""
    names = [folder.basename(each) for each in folder.modules()]

    assert len(set(names)) == len(names)


def test_row_zero_comes_first() -> None:
    """Issues of row zero come first; all others follow by name."""
    row_zero = [each.issue.row_zero for each in catalogue.entries()]
    others = [each.issue.id for each in catalogue.entries() if not each.issue.row_zero]

    assert sorted(row_zero, reverse=True) == row_zero
    assert any(row_zero)
    assert sorted(others) == others


@pytest.mark.parametrize(
    ("cases", "faults"),
    [
        ([CASE], {}),
        ([], {"cases": "is empty"}),
        ([case(Rule("bad", "jax=>0.5", "seen"))], {"headline.rules.0": "Expected"}),
        ([case(Rule("bad", "torch<2", "seen"))], {"headline.rules.0": "'torch' is not of the stack"}),
        ([case(Rule("bad", "absl-py", "seen"))], {}),
        ([case(Rule("bad", "absl-py<2", "seen"))], {"headline.rules.0": "a rule can ask only if absl-py is present"}),
        ([case(Rule("bad", "", "seen"), Rule("bad", "", "seen"))], {"headline.rules.0": "it matches every stack"}),
        ([case(signatures={"crashed": Signature("E")})], {"headline.signatures": "only the probe gives 'crashed'"}),
        ([case(workaround=Workaround("Do.", code=well, pin="jax<1"))], {"headline.workaround": "a pin cannot have"}),
        (
            [case(workaround=Workaround("Do.", pin="torch<1", fails=("jax=>1",)))],
            {"headline.workaround.pin": "'torch' is not of the stack", "headline.workaround.fails.0": "Expected"},
        ),
        ([case(python="3.12")], {"headline.python": "Invalid specifier"}),
        ([case(behaviours={"bad": "claer"})], {"headline.behaviours.bad": "should be 'clear', 'affected'"}),
        ([case(needs="jax", seconds=float("nan"))], {"headline.needs": "tuple", "headline.seconds": "finite"}),
        ([case(control=no_control)], {"cases.0.control": "is missing"}),
        ([case(reproducer=print)], {"cases.0.reproducer": "is not a function of the module"}),
        ([case(Rule("bad", "jax[cpu]<1", "seen"))], {"headline.rules.0": "has extras"}),
        ([case(Rule("bad", "jax<1", "\ud800"))], {"texts": "a lone surrogate"}),
        ([case(environment={"A=B": ""})], {"headline.environment": "'A=B' cannot be set"}),
        ([case(behaviours={"bad": "affected", "no\nid": "clear"})], {"headline.behaviours": r"'no\nid' is not an id"}),
        (
            [case(Rule("worse", "", "seen"), needs=("torch",)), CASE],
            {
                "cases": "'headline' is listed twice",
                "headline.rules.0": "'worse' is not among the behaviours",
                "headline.needs": "'torch' is not one of jax, jaxlib, equinox, diffrax",
            },
        ),
    ],
)
def test_every_fault_of_a_table_is_said_at_once(cases: list[Case], faults: dict[str, str]) -> None:
    """All faults in an issue's table are reported with file and key; a valid table has none."""
    found = catalogue.faults(entry(*cases))

    assert list(faults) == [each.key for each in found]
    assert {entry().source}.issuperset(each.path for each in found)
    assert [] == [each.message for each, said in zip(found, faults.values(), strict=True) if said not in each.message]


def test_a_pattern_that_cannot_be_read_is_a_fault() -> None:
    """What an issue is known by must be a regular expression."""
    of = entry(CASE)
    (fault,) = catalogue.faults(replace(of, issue=replace(of.issue, known_by="(")))

    assert ("known_by", True) == (fault.key, fault.message.startswith("'(' is not a regular expression"))


@pytest.mark.parametrize(
    "name", ["../../../../escaped", "/absolute", "x" * 300, "a\0b", "\ud800", "<lambda>", "Upper", "", "_x"]
)
def test_an_id_becomes_no_path_before_it_is_one(name: str) -> None:
    """If a case's function name is not a valid id, that is reported before any run."""

    def other() -> Seen:
        return headline()

    other.__name__ = name

    ((key, message),) = {(fault.key, fault.message) for fault in catalogue.faults(entry(case(reproducer=other)))}
    assert key.endswith("reproducer")
    assert message.endswith(" is not an id: up to 100 lower-case letters, digits and single dashes")


GOOD = """
'It does.'
from jax_stack_compat.cell.issue import Case, Issue, Rule

def headline():
    'Does it?'

def well():
    pass

ISSUE = Issue("crash", (), (Case(headline, well, {"bad": "affected"}, (Rule("bad", "", "seen"),)),))
"""


@pytest.fixture
def written(tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write issue modules into a new folder, and make it the catalogue's."""
    monkeypatch.setattr(folder, "__path__", [str(tmp_path)])
    before = set(sys.modules)

    def write(**modules: str) -> None:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        catalogue._read.cache_clear()

    yield write
    catalogue._read.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith(f"{folder.__name__}."):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import requestz\n", "line 1: .*ModuleNotFoundError: No module named 'requestz'"),
        ("x = 1\ndef f(:\n", "line 2: .*SyntaxError: invalid syntax"),
        ("import sys\nsys.exit(7)\n", "line 2: .*SystemExit: 7"),
        ("x = 1\n", "module: .*TypeError: it does not define ISSUE"),
        (GOOD.replace('"seen"),)', '"seen"),), typo=1'), "line 11: .*unexpected keyword argument 'typo'"),
        ("# -*- coding: latin-1 -*-\n" + GOOD, "ran"),
    ],
)
def test_a_module_that_cannot_be_read_costs_itself(
    text: str, told: str, written: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other issues are planned and reported; the error names the module's file and line, and the exit code is not
    0.
    """
    written(bad_one=text, good_one=GOOD)

    code = command.main(["compat", "--plan", "--all-headlines"])

    out, err = capsys.readouterr()
    if told == "ran":
        assert (Exit.AS_EXPECTED, "") == (code, err)
        return
    assert Exit.INCOMPLETE == code
    assert re.match(rf"error: \S+bad_one\.py: {told}", err)
    count = len(plan.tagged("default"))
    assert f"{count} cells, {count} observations" in out
    assert Exit.AS_EXPECTED == command.main(["compat", "--plan", "--issue", "good-one"])
    with pytest.raises(BadFile, match=r"bad_one\.py"):
        catalogue.identified("bad-one")
    with pytest.raises(BadFile, match="the published report needs all issues"):
        published.pack()


def test_a_case_waits_for_one_that_there_is(written: Write) -> None:
    """Waiting for a case that does not exist is a fault; a case in an unreadable module is not waited for."""
    waiting = GOOD.replace('"seen"),)', '"seen"),), waits_for=("another-one/headline",)')
    written(good_one=waiting)
    with pytest.raises(BadFile, match=r"headline\.waits_for: 'another-one/headline' is not a case"):
        catalogue.entries()

    written(another_one="import requestz\n")
    (entry,) = catalogue.entries()
    assert {} == catalogue.awaited(entry.issue.cases[0])

    written(another_one=GOOD)
    assert {"another-one/headline": "affected"} == catalogue.by_rule(catalogue.entries()[1].issue.cases[0], {})


def test_where_no_module_can_be_read_all_is_refused(written: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """If no issue can be read, nothing is planned: exit code 2, with the fault of each module."""
    written(one="import requestz\n", two="1 +\n")

    assert Exit.MISUSED == command.main(["compat", "--plan"])
    assert ["one.py", "two.py"] == re.findall(r"/(\w+\.py): line", capsys.readouterr().err)


def test_a_mistake_in_a_table_is_told_before_anything_runs(written: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong word in one table gives exit code 2 with the file and the key, and nothing is run."""
    written(bad_one=GOOD.replace('"affected"', '"afected"'), good_one=GOOD)

    for words in (["compat", "--plan"], ["run", "jax-0.6.0"], ["report", "--tag", "default"]):
        assert Exit.MISUSED == command.main(words)
        assert "bad_one.py: headline.behaviours.bad: Input should be 'clear', 'affected'" in capsys.readouterr().err
    assert not records.RECORDS.exists()


def test_ids_select_in_the_catalogues_order() -> None:
    """Named issues are selected once each, in the catalogue's order; without names, all; headlines have one case."""
    found = catalogue.select(["wraps-lower-bypass", "stack-smoke", "wraps-lower-bypass"])

    assert ["stack-smoke", "wraps-lower-bypass"] == [each.issue.id for each in found]
    assert catalogue.entries() == catalogue.select([])
    headlines = catalogue.select([], headlines=True)
    assert [each.issue.cases[:1] for each in catalogue.entries()] == [each.issue.cases for each in headlines]


@pytest.mark.parametrize(
    ("runs", "wanted"),
    [
        ("row-zero", []),
        ("beside", ["plain"]),
        ("headlines", ["gradient"]),
        ("libraries", ["gradient", "solve"]),
        ("jax", ["plain"]),
        ("all", ["plain", "gradient", "solve"]),
    ],
)
def test_a_cell_runs_what_its_arm_asks_for(runs: Runs, wanted: list[str]) -> None:
    """A cell runs none of an issue's cases, those for absl, the first with a library, all such, a guest's, or all."""
    needs = {"plain": ("jax",), "gradient": ("jax", "equinox"), "solve": ("jax", "diffrax"), "sample": ("numpyro",)}
    rules = {"plain": (Rule("bad", "absl-py jax<0.6", "seen"),)}
    cases = [SimpleNamespace(id=name, needs=each, rules=rules.get(name, ())) for name, each in needs.items()]

    assert wanted == [each.id for each in catalogue.run_where(runs, ["jax"], cases, row_zero=False)]
    assert cases[:-1] == [*catalogue.run_where(runs, ["jax"], cases, row_zero=True)]
    assert cases[-1:] == [*catalogue.run_where(runs, ["jax", "numpyro"], cases, row_zero=False)]
    assert [] == [*catalogue.run_where(runs, ["jax", "dm-haiku"], cases, row_zero=True)]


def test_the_snapshot_has_the_threads_that_issues_name() -> None:
    """The snapshot has exactly the threads of all issues and refuted claims, in order, without pages and commits."""
    named = threads.references((entry.issue for entry in catalogue.entries()), threads.refuted())
    assert named == list(threads.load().threads)


def test_what_was_looked_up_has_a_day_and_a_source() -> None:
    """A thread has a title, a state, a day and a source, or none of these; only a pull request is merged."""
    for thread in threads.load().threads.values():
        known = {bool(each) for each in (thread.title, thread.state, thread.looked_up, thread.source)}
        assert 1 == len(known)
        assert thread.state != "merged" or thread.kind == "pull"


def test_a_searched_issue_names_no_report() -> None:
    """An issue whose searches found no report is in the catalogue and names none."""
    issues = {entry.issue.id: entry.issue for entry in catalogue.entries()}
    for searched in threads.searched():
        assert "report" not in {each.role for each in threads.upstream(issues[searched])}


def test_first_releases_are_of_what_landed() -> None:
    """A first release belongs to a merged pull request or to a commit, and an issue or a refuted claim names it."""
    known = threads.load()
    commits = set(threads.commits(entry.issue for entry in catalogue.entries()))
    for ref in known.first_releases:
        assert ref in commits or known.threads[ref].state == "merged"


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("xla@53a1797ba", "openxla/xla@53a1797ba"),
        ("pytorch/pytorch#1", "pytorch/pytorch#1"),
        ("jax:faq.html#x", "https://docs.jax.dev/en/latest/faq.html#x"),
        ("https://docs.jax.dev/en/latest/faq.html", "https://docs.jax.dev/en/latest/faq.html"),
    ],
)
def test_upstream_has_short_names(short: str, whole: str) -> None:
    """A short name stands for a repository, or for the documentation of a library."""
    issue = Issue("crash", Upstream.of(report=short), cases=())

    assert [whole] == [each.ref for each in threads.upstream(issue)]
