"""Tests of stack.html in a real browser: the reading of texts, the predictions by rule, and the answer."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from playwright.sync_api import Browser, Page, expect

from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.check import knowledge
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.installs import PYTHONS
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.versions import looked_up
from jax_stack_compat.check.works import judged
from jax_stack_compat.judge.prediction import predict
from jax_stack_compat.judge.rules import Run
from jax_stack_compat.libraries import known as libraries
from jax_stack_compat.packages import GUESTS, STACK
from jax_stack_compat.stack import plan
from laboratory.report.model import IssueRow, Report
from laboratory.report.site.build import ASSETS, render
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page as SitePage
from laboratory.report.site.pages.cells import stack as stack_page
from laboratory.report.site.places import known as known_releases
from laboratory.report.site.timeline import turned
from tests.report.site_browser import UNFOLD, WIDTH, afresh, built, put, tab
from tests.report.test_report import observation, report
from tests.worlds import as_known, few, otherwise, some

pytestmark = pytest.mark.usefixtures("_no_complaints")
PINNED = "jax 0.4.35, equinox 0.11.10, diffrax 0.6.0"
ASKED = (
    *("jax-0.4.35", "jax-0.4.35+equinox-0.11.10+diffrax-0.6.0", "jax-0.7.0+equinox-0.12.2+diffrax-0.7.0"),
    *("jax-0.10.2+dm-haiku-0.0.16", "jax-0.11.0+dm-haiku-0.0.16"),
)
# Bytes of its data.
LARGEST = 400_000

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def here() -> Report:
    """Return a report on real stacks with the expected behaviour of every issue."""
    wanted = {*ASKED, *(cell.id for cell in few())}
    entries = {each.issue.id: each for each in (*some(), *catalogue.select(["haiku-beside-another-jax"]))}
    made = as_known([cell for cell in plan.cells() if cell.id in wanted], [*entries.values()])
    _, why = plan.cell("jax-0.4.32").unavailable or ("", "")
    gone = {"jax-0.4.32": {"detail": why}}
    seen = [each.model_copy(update=gone.get(each.cell)) for each in made.observations]
    return made.model_copy(update={"observations": seen})


@pytest.fixture(scope="module")
def site(here: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write its site."""
    return built(here, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def visit(opened: Page, site: Path) -> Visit:
    """Reload stack.html of this site, or of another, at an address within it."""

    def visited(address: str = "", folder: Path = site, width: int = 1000) -> Page:
        return afresh(opened, (folder / "stack.html").as_uri() + address, width)

    return visited


@pytest.fixture(scope="module")
def page(browser: Browser, complaints: list[str], site: Path) -> Page:
    """Return stack.html, loaded once, for the tests that only ask."""
    opened = tab(browser, complaints)
    opened.goto((site / "stack.html").as_uri())
    return opened


def ask(page: Page, mine: str, upgrade: str = "") -> tuple[str, str]:
    """Return the page's verdict and the text below it, in three actions."""
    page.fill("#mine", mine)
    page.fill("#next", upgrade)
    page.click("#asking button")
    page.evaluate(UNFOLD)
    return page.locator("#verdict").inner_text(), page.locator("#rest").inner_text()


def alone(page: SitePage, facts: Facts) -> dict[str, str]:
    """Write one page with all scripts, because a large report's other pages take seconds."""
    assets = {f"assets/{each.name}": each.read_text(encoding="utf-8") for each in ASSETS.iterdir()}
    return {page.path: render(page, facts), **page.data, **assets}


def test_a_guest_is_told_of_where_it_is_named(page: Page) -> None:
    """Cases that need a guest count only in stacks that name it, by the guest's own stacks."""
    _, without = ask(page, "jax 0.11.0")
    _, beside = ask(page, "jax 0.11.0, dm-haiku 0.0.16")
    _, upgraded = ask(page, "jax 0.10.2, dm-haiku 0.0.16", "jax 0.11.0")

    assert "Haiku" not in without
    assert "Haiku does not import" in beside
    assert "no-drop-var" in beside
    assert "Haiku does not import" in upgraded.partition("Appears")[2]


@pytest.mark.parametrize(
    ("stack", "told"),
    [
        ("jax 0.10.2, dm-haiku 0.0.16", "✓ Imports and computes (run; CPU, x86-64); dm-haiku 0.0.16 imports"),
        (
            "jax 0.11.0, dm-haiku 0.0.16",
            "✗ This stack does not work: dm-haiku 0.0.16 does not import beside",
        ),
        (
            "jax 0.6.0, jaxlib 0.7.0",
            "⊘ This stack does not install: jax 0.6.0 requires jaxlib<=0.6.0,>=0.6.0, and 0.7.0",
        ),
        ("jax==0.11.0 python==3.11.4", "⊘ This stack does not install: jax 0.11.0 requires Python >=3.12, and 3.11 is"),
        ("python 3.14 jax 0.6.0", "jaxlib 0.6.0 has no wheel for CPython 3.14, but for cp310 to cp313"),
        ("jax==0.6.0 jaxlib==0.6.0 jax-cuda12-plugin==0.6.2", "jaxlib 0.6.0 does not use jax-cuda12-plugin 0.6.2"),
    ],
)
def test_the_first_line_says_whether_a_stack_works(page: Page, stack: str, told: str) -> None:
    """The page judges a stack as `check` does, also without Diffrax and by metadata."""
    assert told in ask(page, stack)[0].partition("\nOn ")[0]


def judgements(known: Knowledge, count: int) -> list[Stack]:
    """Return stacks with guests, interpreters and plugins: of cells, with some packages moved or left out."""
    chance, made = random.Random(17), []
    for _ in range(count):
        pins = dict(chance.choice([*known.cells.values()]))
        moved = chance.sample([*STACK, *GUESTS, "numpy", "scipy"], chance.randrange(4))
        pins |= {name: chance.choice(known.releases[name]) for name in moved}
        some = chance.sample(sorted(pins), min(len(pins), chance.randrange(1, 7)))
        kept = chance.choice([list(pins), some, ["jax", *some], ["jax", *GUESTS], ["jax", "equinox", "numpy"]])
        versions = {name: pins[name] for name in kept if name in pins}
        if chance.randrange(5) == 0:
            versions["jax-cuda12-plugin"] = chance.choice(known.releases["jaxlib"])
        made.append(Stack(versions, "here", chance.choice(["", "3.12.4", *PYTHONS])))
    return made


def test_the_page_judges_as_check_does(visit: Visit, report_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for libraries, page and `check` begin with the same sentence, on 200 stacks of the published report."""
    monkeypatch.setattr(libraries, "load", dict)
    known = knowledge.load(report_folder / "check.json")
    asked = judgements(known, 200)

    told = visit("", report_folder).evaluate(
        """asked => {
            const judge = works(STACK), known = {...STACK.known, python: STACK.pythons};
            return asked.map(text => {
                const {python = null, ...all} = rules.read(text, known).versions;
                const isPlugin = ([name]) => rules.PLUGIN.test(name);
                const versions = Object.fromEntries(Object.entries(all).filter(each => !isPlugin(each)));
                const plugins = Object.entries(all).filter(isPlugin);
                const texts = plugins.map(([name, place]) => [name, known.jaxlib[place]]);
                return judge.judged(versions, python, Object.fromEntries(texts)).sentence;
            });
        }""",
        [
            " ".join([*(f"{name}=={of}" for name, of in each.versions.items()), f"python {each.python}"])
            for each in asked
        ],
    )

    expected = [judged(known, stack, looked_up(stack, known)).sentence for stack in asked]
    assert expected == told
    assert len(set(expected)) > 100


def test_two_packages_are_asked_for(page: Page) -> None:
    """Without Diffrax, the page says that Equinox 0.12.2 computes with jax 0.7.0; a stack with Diffrax was run."""
    first, _ = ask(page, "Equinox 0.12.2 with jax 0.7.0")
    assert first.startswith("✓ Imports and computes (run; CPU, x86-64).")
    assert "jax-0.7.0+equinox-0.12.2+diffrax-0.7.0: ✗ crashed" in first

    first, _ = ask(page, "equinox 0.12.2, jax 0.7.0, diffrax 0.7.0")
    ran = "run as jax-0.7.0+equinox-0.12.2+diffrax-0.7.0"
    said = "train and solve fails (crashed, run); implicit solve fails (params-unhashable, run)"
    shown = f"Train and solve: ✗ crashed {ran}\nImplicit solve: ✗ params-unhashable {ran}\n"
    assert first.startswith(f"✗ This stack does not work: {said}.")
    assert shown in first


def test_a_yanked_release_is_said_first(page: Page) -> None:
    """An answer on the yanked jax 0.4.32 says first that it was yanked."""
    first, _ = ask(page, "0.4.35", "0.4.32")
    assert first.startswith("⊘ jax 0.4.32 was yanked: no reason given.\n")
    assert "kept: equinox 0.11.8, diffrax 0.6.0" in first


def test_what_does_not_import_is_said_first(page: Page, here: Report) -> None:
    """Row zero comes first, with its rule or run; cases that need the broken package are one line."""
    first, below = ask(page, "jax-0.6.0", "jax 0.12.0.1 equinox 0.13.0")

    assert first.startswith("✗ This stack does not work: equinox 0.13.0 does not import beside jax 0.12.0.1 (by rule).")
    assert "\nTrain and solve: ✓ works → ✗ import-error by rule" in first
    needing = [case for issue in here.issues if not issue.row_zero for case in issue.cases if "equinox" in case.needs]
    assert f"Blocked: {len(needing)} cases that need a package that does not import or work there." in below
    assert not any(f"\n{case.id} " in below for case in needing)

    cell = "jax-0.7.0+equinox-0.11.8+diffrax-0.6.0"
    first, _ = ask(page, cell)
    assert first.startswith("✗ This stack does not work: equinox 0.11.8 does not import beside jax 0.7.0 (run).")
    assert f"\nTrain and solve: ✗ import-error run {cell}\n" in first
    expect(page.locator("#verdict .zero a").last).to_have_attribute("href", f"cells.html#{cell}")


def test_an_upgrade_is_told_as_the_report_tells_it(page: Page, here: Report) -> None:
    """The page and the report's own comparison agree on each case between any two releases."""
    facts = Facts(here)
    of_line = [cell.id for cell in facts.line if cell.declared_observed is not None]
    pairs = list(zip(of_line, of_line[1:] + of_line[:1], strict=True))
    ways = ("appears", "changes", "documented", "goes", "stays")
    told = page.evaluate(
        """([pairs, ways]) => pairs.map(([from, to]) => {
            document.getElementById('mine').value = from;
            document.getElementById('next').value = to;
            document.getElementById('asking').requestSubmit();
            return ways.map(how => [...document.querySelectorAll(`[data-turned=${how}] .issues li > a`)]
                .map(a => a.getAttribute('href')).filter(to => to.includes('#') && to.startsWith('issues/')).sort());
        })""",
        [pairs, ways],
    )
    row_zero = {issue.id for issue in here.issues if issue.row_zero}
    seen = {case: of for case, of in facts.seen.items() if case[0] not in row_zero and of_line[0] in of}
    assert told == [
        [
            sorted(f"issues/{i}.html#{case}" for (i, case), of in seen.items() if turned(of[before], of[after]) == how)
            for how in ways
        ]
        for before, after in pairs
    ]


def test_what_to_do_is_said_once(page: Page, here: Report) -> None:
    """An answer has each workaround once, with its cases."""
    _, below = ask(page, "jax-0.5.3", "jax-0.6.0")

    texts = {case.workaround.text for issue in here.issues for case in issue.cases if case.workaround is not None}
    assert {1} == {below.count(text) for text in texts if text in below and text + " and" not in below}
    last = next(text for text in texts if text.startswith("Apply jax.jit last, with its static"))
    assert f"{last} For wraps-lower-bypass: jit, vmap, grad, checkpoint, update-wrapper, export." in below
    assert 0 == page.locator("[data-turned=goes]").get_by_text("Apply").count()


@pytest.mark.parametrize(
    ("mine", "upgrade", "told"),
    [
        ("jax 0.4.36 diffrax==0.6.0 equinox 0.11.8", "", "run as jax-0.4.36+equinox-0.11.8+diffrax-0.6.0"),
        ("0.7.0", "", "On jax-0.7.0 (jax 0.7.0"),
        ("jax 0.7.0", "", "as an installer gave it on 2025-07-22"),
        ("newest", "", "On jax-0.12.0.1"),
        ("0.4", "", "jax 0.4 is taken as its newest, 0.4.38."),
        ("jax 0.7.0, numpy 2.3.0", "", "; jaxlib 0.7.0 goes with its jax"),
        ("jax 0.7.0, diffrax 0.7.0", "", "as an installer gave them: jaxlib 0.7.0, equinox 0.13.0, lineax 0.0.8"),
        ("<b>what</b>", "", "“<b>what</b>” names no release"),
        ("jax 0.6.0 lineax 0.0.99", "", "Imports and computes"),
        ("jax-0.6.0", "equinox 0.13.0", "to equinox 0.13.0, kept: jax 0.6.0, jaxlib 0.6.0"),
        ("jax==0.6.0\njaxlib==0.6.0\nlineax==0.0.8", "jax 0.7.0", "kept: lineax 0.0.8"),
        ("jax 0.4.35 equinox 0.11.10", "newest", "From jax 0.4.35, equinox 0.11.10"),
        ("jax 0.6.0", "jax 0.6.0", "Both stacks are the same."),
    ],
)
def test_what_is_asked_is_said(page: Page, mine: str, upgrade: str, told: str) -> None:
    """A question is answered with the versions read and kept, or with a sentence why not."""
    assert told in ask(page, mine, upgrade)[0]


def test_an_answer_has_an_address(visit: Visit) -> None:
    """The answer's address is shown, restores it on opening and on going back, and has no foreign names."""
    page = visit()
    first, below = ask(page, "jax 0.5.3", "jax 0.6.0")
    address = page.url[page.url.index("#") :]
    assert "#jax%200.5.3..jax%200.6.0" == address
    assert f"stack.html{address}" == page.locator("#address").inner_text()

    ask(page, "jax==0.7.0\nmy-own-package==1.0\nequinox==0.13.0\n")
    assert page.url.endswith("#jax%200.7.0%20equinox%200.13.0")
    page.go_back()
    expect(page.locator("#address")).to_have_text(f"stack.html{address}")
    page.evaluate(UNFOLD)
    assert (first, below) == (page.locator("#verdict").inner_text(), page.locator("#rest").inner_text())
    page = visit(address)
    page.evaluate(UNFOLD)
    assert (first, below) == (page.locator("#verdict").inner_text(), page.locator("#rest").inner_text())


def test_a_link_can_be_copied(visit: Visit) -> None:
    """The button puts the whole address on the clipboard."""
    page = visit("#jax%200.5.3")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")

    expect(page.locator("#copied")).to_have_text("Copied.")
    assert page.url == page.evaluate("navigator.clipboard.readText()")


SOME = {
    "jax": ["0.4.30", "0.5.0", "0.6.2", "0.10.0", "0.10.2", "0.12.0", "0.12.0.1"],
    "jaxlib": ["0.4.30"],
    "jaxtyping": ["0.2.1"],
    "equinox": ["0.12.2", "0.13.0"],
    "diffrax": ["0.6.0", "0.7.0", "0.7.2"],
}
LOCK = """version = 1

[[package]]
name = "diffrax"
version = "0.7.0"
dependencies = [
    { name = "jax" },
]

[package.metadata]
name = "nothing"
version = "9.9"

[[package]]
name = "jax"
version = "0.10.0"

[[package]]
name = "zipp"
version = "3.1"
"""
# Typed and pasted texts, with the versions read, None if unknown, and the notes.
TYPED: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "": ({}, []),
    "0.6.2": ({"jax": "0.6.2"}, []),
    "0.10": ({"jax": "0.10.2"}, ["jax 0.10 is taken as its newest, 0.10.2."]),
    "jax==0.5": ({"jax": "0.5.0"}, []),
    "jax 0.12.0.1 equinox newest": ({"jax": "0.12.0.1", "equinox": "0.13.0"}, []),
    "Equinox: 0.12.2; JAX = 0.6.2": ({"equinox": "0.12.2", "jax": "0.6.2"}, []),
    "jax-0.4.30+diffrax-0.6.0": ({"jax": "0.4.30", "diffrax": "0.6.0"}, []),
    "jax[cpu]==0.6.2 ; python_version > '3.9'": ({"jax": "0.6.2"}, []),
    "jax==0.4.30+cuda12": (
        {"jax": "0.4.30"},
        ["jax 0.4.30+cuda12 is read as 0.4.30; builds are not distinguished."],
    ),
    "Jax\u00a00.6.2": ({"jax": "0.6.2"}, []),
    "- jax=0.6.2": ({"jax": "0.6.2"}, []),
    "jax==0.10.*": ({"jax": "0.10.2"}, ["jax==0.10.* is taken as its newest here, 0.10.2."]),
    "jax>=0.5,<0.10": ({"jax": "0.6.2"}, ["jax>=0.5,<0.10 is taken as its newest here, 0.6.2."]),
    "jax<1": ({}, ["jax<1 does not select one release of this data and is ignored."]),
    # jaxtyping is not jax.
    "-i x\nabsl-py==2\njax==0.4.30  # via x\njaxlib==0.4.30 \\\n --hash=sha256:ab\njax_typing==1\nJaxTyping==0.2.1": (
        {"jax": "0.4.30", "jaxlib": "0.4.30", "jaxtyping": "0.2.1"},
        ["Ignored, not part of the stack: absl-py, jax-typing."],
    ),
    LOCK: ({"diffrax": "0.7.0", "jax": "0.10.0"}, ["Ignored, not part of the stack: zipp."]),
    LOCK.replace("[[package]]", "[[packages]]"): (
        {"diffrax": "0.7.0", "jax": "0.10.0"},
        ["Ignored, not part of the stack: zipp."],
    ),
    "jax==0.4.30\njax==0.6.2": ({"jax": None}, ["jax has more than one version; all are ignored."]),
    "jax 99.1": ({"jax": None}, ["jax 99.1 is not in this data, so answers that depend on it are unknown."]),
    "jax, diffrax==0.7.0": ({"diffrax": "0.7.0"}, ["jax has no version and is ignored."]),
    "jax @ https://x/y==1": ({}, ["jax has no version and is ignored."]),
    "jax==not-a-version": ({}, ["“not-a-version” is not a version of jax."]),
}
READ = """([texts, known]) => texts.map(text => {
    const {versions, notes} = rules.read(text, known);
    const named = Object.entries(versions).map(([name, place]) => [name, place === null ? null : known[name][place]]);
    return [Object.fromEntries(named), notes];
})"""


def test_what_is_typed_is_read_by_whole_names(page: Page) -> None:
    """Releases, minors, requirements, locks and cell ids are read, with a note on anything not taken literally."""
    told = page.evaluate(READ, [[*TYPED], SOME])
    assert TYPED == {text: (versions, notes) for text, (versions, notes) in zip(TYPED, told, strict=True)}


def test_a_range_is_the_newest_that_packaging_admits(page: Page, here: Report) -> None:
    """From a range of releases, the page chooses the same one as `packaging`."""
    releases = known_releases(here)
    chance = random.Random(12)
    expected: dict[str, dict[str, str]] = {}
    for _ in range(1000):
        name = chance.choice([name for name, of in releases.items() if of])
        numbers = [*releases[name], *(".".join(each.split(".")[:2]) for each in releases[name])]
        clauses = {chance.choice(["<", "<=", ">", ">=", "~=", "!="]): chance.choice(numbers) for _ in range(2)}
        line = name + ",".join(operator + version for operator, version in clauses.items())
        admitted = [each for each in releases[name] if Requirement(line).specifier.contains(each, prereleases=True)]
        expected[line] = {name: admitted[-1]} if admitted else {}
    told = page.evaluate(READ, [[*expected], releases])
    assert expected == {line: versions for line, (versions, _) in zip(expected, told, strict=True)}


# Predictions


# Releases of jaxlib and equinox in stacks that differ in nothing else.
CLOSE = slice(3, 10)


def with_less(of: Report) -> Report:
    """Return a report with an issue that has runs but no rules, and with some close neighbours."""

    def bare(issue: IssueRow) -> IssueRow:
        cases = [case.model_copy(update={"rules": []}) for case in issue.cases]
        return issue.model_copy(update={"id": f"bare-{issue.id}", "cases": cases})

    twice = [bare(issue) for issue in of.issues if issue.row_zero or issue.id == "filter-grad-return-type"]
    named = {issue.id for issue in twice}
    again = [each.model_copy(update={"issue": f"bare-{each.issue}"}) for each in of.observations]
    seen = [*of.observations, *(each for each in again if each.issue in named)]
    chance, (base, *_), releases = random.Random(15), of.cells, known_releases(of)
    cells = []
    for number in range(30):
        moved = {name: chance.choice(releases[name][CLOSE]) for name in ("jaxlib", "equinox")}
        cells.append(base.model_copy(update={"id": f"close-{number}", "packages": {**base.packages, **moved}}))
        done = [each for each in seen if each.cell == base.id and each.issue in named]
        shown = {"cell": cells[-1].id, "behaviour": chance.choice(["alike", "alike", "otherwise"])}
        seen += [each.model_copy(update=shown) for each in done]
    return of.model_copy(update={"cells": [*of.cells, *cells], "issues": [*of.issues, *twice], "observations": seen})


def stacks(known: dict[str, list[str]], of: Report, count: int) -> list[dict[str, str]]:
    """Return tested stacks, whole, partial or changed, and random ones with some unknown versions."""
    chance, made = random.Random(13), []
    for _ in range(count):
        cell = chance.choice(of.cells)
        pins = {name: each for name, each in cell.packages.items() if name in known}
        if cell.id.startswith("close-"):
            pins |= {name: chance.choice(known[name][CLOSE]) for name in ("jaxlib", "equinox")}
        for name in chance.sample(sorted(known), chance.randrange(3)):
            pins[name] = chance.choice([*known[name], "0.0.1", "0.7.1.dev2", "0.6.0.post1", "99.1"])
        some = ["jax", *chance.sample(sorted(known), chance.randrange(6))]
        kept = chance.choice([list(pins), some, ["jax", "equinox"]])
        made.append({name: pins[name] for name in kept if name in pins})
    return made


def test_the_script_predicts_as_the_judge_does(visit: Visit, tmp_path: Path) -> None:
    """Script and Python agree on a thousand stacks: behaviour, mark, runs and rules of each case."""
    # Make some runs contradict their rule.
    some = with_less(otherwise(as_known(plan.cells()[::4])))
    facts, releases = Facts(some), known_releases(some)
    pins = {cell.id: cell.packages for cell in some.cells}
    cases = [
        (case, [Run(cell, pins[cell], each.behaviour) for cell, each in seen.items() if each.behaviour])
        for issue in some.issues
        for case in issue.cases
        for seen in [facts.seen[issue.id, case.id]]
    ]
    chance = random.Random(14)
    bare = [place for place, (case, _) in enumerate(cases) if not case.rules]
    beside = [place for place, (case, _) in enumerate(cases) if any("absl" in rule.on for rule in case.rules)]
    asked = [
        (chance.choice([chance.randrange(len(cases)), chance.choice(bare), chance.choice(beside)]), pinned)
        for pinned in stacks(releases, some, 1000)
    ]
    put(alone(stack_page(facts), facts), tmp_path)

    told = visit("", tmp_path).evaluate(
        """asked => {
            const {cells, cases} = rules.decode(STACK);
            return asked.map(([place, text]) => {
                const theCase = cases[place], {versions} = rules.read(text, STACK.known);
                const known = Object.fromEntries(Object.entries(versions).filter(([, each]) => each !== null));
                const found = rules.predict(theCase, known, theCase.runs);
                return [Object.keys(known).sort(), found.behaviour, found.how, found.runs.map(run => run.cell.id),
                    found.rules.map(rule => theCase.rules.indexOf(rule))];
            });
        }""",
        [(place, " ".join(f"{name}=={each}" for name, each in pinned.items())) for place, pinned in asked],
    )
    expected = []
    for place, pinned in asked:
        case, runs = cases[place]
        versions = {name: each for name, each in pinned.items() if each in releases[name]}
        found = predict(case, versions, runs)
        whose = [[rule.on for rule in case.rules].index(each.on) for each in found.rules]
        expected.append((sorted(versions), found.behaviour, found.how, [run.cell for run in found.runs], whose))
    assert expected == [tuple(each) for each in told]
    assert {"run", "by rule", "between", "unknown"} == {each[2] for each in expected}
    assert any(len(each[0]) < len(pinned) for each, (_, pinned) in zip(expected, asked, strict=True))


def test_it_prints_what_was_asked(visit: Visit) -> None:
    """On paper the whole answer is printed without boxes."""
    page = visit("#jax%200.5.3..jax%200.6.0")
    page.emulate_media(media="print")
    expect(page.locator("#asking")).to_be_hidden()
    for what in ("#verdict", "[data-turned=changes]", "[data-turned=stays] li >> nth=0", "#address"):
        expect(page.locator(what)).to_be_visible()


def test_what_is_hostile_is_text(visit: Visit, tmp_path: Path) -> None:
    """Tags, escapes and direction marks in a report or an address are shown literally."""
    nasty = "\x1b[31m \u202e</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    of = report(observation(verdict="unavailable", behaviour=None, reason="plan.yanked", detail=nasty))
    folder = built(of, tmp_path)

    assert "</script>" not in (folder / "data" / "stack.js").read_text(encoding="utf-8")
    page = visit("#%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20jax%200.4.30..%E0%A4%A", folder, 360)
    assert 0 == page.locator("#answer img, #answer script").count()
    assert page.evaluate(WIDTH) <= 360


@pytest.mark.parametrize(
    "script",
    [
        "'jax' + ' '.repeat(400000) + '!'",
        "'\\n'.repeat(400000)",
        "'jax' + '\"'.repeat(400000) + '!'",
        "'jax==0' + '.0'.repeat(20000) + '.1'",
        "'jax 1' + 'rc'.repeat(25) + '!'",
    ],
)
def test_no_text_is_slow_to_read(page: Page, script: str) -> None:
    """A text built to be read slowly is read within three seconds."""
    read = f"() => {{ const text = {script}, start = performance.now(); rules.read(text, STACK.known); "
    assert page.evaluate(f"{read} return performance.now() - start; }}") < 3000


def test_the_published_report_is_answered_at_once(visit: Visit, report_folder: Path) -> None:
    """The published data of the page is small, and an answer of both boxes takes less than a second."""
    assert (report_folder / "data" / "stack.js").stat().st_size < LARGEST

    took = visit("", report_folder).evaluate(
        """mine => {
            document.getElementById('mine').value = mine;
            return ['jax 0.5.3', 'newest', 'jax 0.7.0', 'jax 0.12.0'].map(next => {
                const start = performance.now();
                document.getElementById('next').value = next;
                document.getElementById('asking').requestSubmit();
                return performance.now() - start;
            });
        }""",
        PINNED,
    )
    # It takes 50 ms on a quiet machine.
    assert min(took) < 1000
