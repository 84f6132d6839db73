"""The page, in a real browser: Chromium, headless, from a file, with nothing else to reach."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from packaging.requirements import InvalidRequirement, Requirement
from playwright.sync_api import Browser, Page, expect, sync_playwright

from suite.judge.prediction import predict
from suite.judge.rules import Run, concerned
from suite.judge.table import UNDECIDED, VERDICTS, Verdict
from suite.report import write as writing
from suite.report.changes import since
from suite.report.model import Observation, Report
from suite.report.site.embed import known as known_releases
from suite.report.site.page import View
from suite.report.site.timeline import turned
from suite.report.write import write
from suite.stack import plan
from suite.timings import release_line
from suite.timings.results import RESULTS
from tests.report.test_report import EMPTY, observation, report
from tests.worlds import as_known, few, otherwise

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# A closed network refuses what a browser asks for by itself; these keep it from asking.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
NASTY = "\x1b[31mred\x1b[0m \u202e\u2066turned\u2069 </script><script>alert(1)</script><img src=x onerror=alert(1)>"
UNFOLD = "for (const each of document.querySelectorAll('details, .fold input')) each.open = each.checked = true"
WIDTH = "document.documentElement.scrollWidth"

Open = Callable[..., Page]


@pytest.fixture(scope="module", autouse=True)
def _few_timings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Real timings, of three releases and some workloads: a browser has to draw them, and axe to read them."""
    folder = tmp_path_factory.mktemp("results")
    machine = next(RESULTS.glob("*/machine.json")).parent
    commits = release_line.hashes(release_line.commits())
    wanted = [f"{commits[cell][:8]}-*.json" for cell in ("jax-0.4.31", "jax-0.4.33", "jax-0.12.0")]
    (folder / machine.name).mkdir()
    for path in (path for pattern in ("machine.json", *wanted) for path in machine.glob(pattern)):
        shutil.copy(path, folder / machine.name)
    listed = json.loads((RESULTS / "benchmarks.json").read_text(encoding="utf-8"))
    some = {name: each for name, each in listed.items() if re.match(r"version|basics\.(Scan|Matmul|Counts)\.", name)}
    (folder / "benchmarks.json").write_text(json.dumps(some), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "RESULTS", folder)
        yield


@pytest.fixture(scope="module")
def site(known: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a report on some real stacks, with what it says otherwise than the one before."""
    folder = tmp_path_factory.mktemp("site")
    write(known, folder)
    return folder / "index.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium: skipped where a user has none, an error where CI has none."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("CI is set, and there is no Chromium: .ci/run installs one")
        pytest.skip("no Chromium on this machine: the page is not tested")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """What the pages complained of, and what they asked the network for."""
    return []


@pytest.fixture(autouse=True)
def _no_complaints(complaints: list[str]) -> Iterator[None]:
    complaints.clear()
    yield
    assert [] == complaints


@pytest.fixture(scope="module")
def page(browser: Browser, complaints: list[str], site: Path) -> Page:
    """The page, loaded once, for the tests that only read it or ask its picker."""
    opened = tab(browser, complaints)
    opened.goto(site.as_uri())
    return opened


@pytest.fixture(scope="module")
def visit(browser: Browser, complaints: list[str], site: Path) -> Open:
    """Load the page, or another one, anew, at an address within it: in a tab that is there, in a fifth of the time."""
    opened = tab(browser, complaints)

    def visited(address: str = "", path: Path = site, width: int = 1280) -> Page:
        opened.set_viewport_size({"width": width, "height": 720})
        opened.emulate_media(media="null", color_scheme="null")
        # From there every address is a page to load, and none a place to scroll to.
        opened.goto("about:blank")
        opened.goto(path.as_uri() + address)
        return opened

    return visited


def tab(browser: Browser, complaints: list[str], **options: Any) -> Page:
    """A tab that is heard, in a window of its own: one behind another is drawn once a second."""
    context = browser.new_context(**options)
    # A machine that runs the suite meanwhile is slow, and that is no fault of the page.
    context.set_default_timeout(120_000)
    context.on("console", lambda message: complaints.append(message.text))
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    return context.new_page()


def answer(page: Page, before: str, after: str) -> str:
    """What the page says of an upgrade, all of it."""
    page.fill("#from", before)
    page.fill("#to", after)
    page.click("#picker button")
    page.evaluate("for (const each of document.querySelectorAll('#answer details')) each.open = true")
    return page.locator("#answer").inner_text()


def violations(page: Page, **options: Any) -> list[str]:
    """What axe finds wrong, with the first element of each."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


# What is on it


def test_the_first_screen_has_the_counts_and_what_changed(visit: Open, known: Report) -> None:
    """Coverage, the questions and the worst changes are seen at once; these lead to their cases and their cells."""
    page = visit()

    assert f"{known.coverage.planned} observations planned" in page.locator(".counts").inner_text()
    for what in (".counts", ".doors"):
        box = page.locator(what).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 720
    assert known.since is not None
    shown = page.locator(".changes > ul > li")
    assert ["regressed"] * 8 == [each.partition(" ")[0] for each in shown.all_inner_texts()]
    folded = page.locator(".changes details li")
    assert len(known.since.changes) - 8 == folded.count() > 8
    expect(folded.first).to_be_hidden()
    first = known.since.changes[0]
    shown.first.locator("a").first.click()
    expect(page.locator(f"[id='{first.cases[0]}']")).to_be_in_viewport()
    shown.first.get_by_role("link", name=first.first).click()
    assert first.first in page.locator("#panel").inner_text()


def test_the_three_questions_are_answered(page: Page) -> None:
    """The page says who refused first, that diffrax 0.6.0 does not go with jax 0.4.36, and what to write instead."""
    refused = page.locator("section[aria-labelledby='wraps-lower-bypass/jit'] ol").inner_text()
    assert "attribute-error 0.6.0 on" in refused
    row = page.locator(".stack tbody tr").filter(has_text="equinox 0.11.8, diffrax 0.6.0")
    versions = page.locator(".stack").first.locator("thead .release").all_inner_texts()
    assert "✗latent" == row.locator("td").nth(versions.index("0.4.36")).text_content()
    case = page.locator("section[aria-labelledby='tracer-hash-while-loop/while-loop-callable']").inner_text()
    assert "0.4.36 on" in case
    assert "holds 0.4.31–0.12.0.1" in case
    instead = page.locator("article[aria-labelledby=tracer-hash-while-loop] > .workaround").nth(1)
    assert "lambda c: f(c)" in instead.inner_text()


# What it does


def test_the_picker_answers_as_the_report_does(page: Page, known: Report) -> None:
    """From any release to any other, the picker says of each case what the report's own comparison says."""
    view = View(known)
    of_line = [cell.id for cell in view.line if cell.declared_observed is not None]

    pairs = list(zip(of_line, of_line[1:] + of_line[:1], strict=True))
    ways = ("appears", "changes", "documented", "goes", "stays")
    told = page.evaluate(
        """([pairs, ways]) => pairs.map(([from, to]) => {
            document.getElementById('from').value = from;
            document.getElementById('to').value = to;
            document.getElementById('picker').requestSubmit();
            return ways.map(how => [...document.querySelectorAll(
                `[data-turned=${how}] li > a`)].map(a => a.getAttribute('href').slice(1)).sort());
        })""",
        [pairs, ways],
    )
    assert told == [
        [
            sorted("/".join(case) for case, of in view.seen.items() if turned(of[before], of[after]) == how)
            for how in ways
        ]
        for before, after in pairs
    ]


def test_the_address_of_an_upgrade_restores_it(page: Page, visit: Open) -> None:
    """What was picked is in the address, and the address alone gives the same answer."""
    text = answer(page, "0.5.3", "jax 0.6.0")

    assert "bypassed → ◐ attribute-error" in text
    assert "Apply jax.jit last" in text
    again = visit(page.url[page.url.index("#") :])
    again.evaluate(UNFOLD)
    assert text == again.locator("#answer").inner_text()


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("jax 0.4.36 diffrax==0.6.0 equinox 0.11.8", "run as jax-0.4.36+equinox-0.11.8+diffrax-0.6.0"),
        ("0.7.0", "From jax-0.7.0 (jax 0.7.0"),
        ("jax 0.7.0", "what an installer gave on 2025-07-22"),
        ("newest", "From jax-0.12.0.1"),
        ("0.4", "jax 0.4 is taken as its newest, 0.4.38."),
        ("jax 0.7.0, diffrax 0.1.0", "From jax 0.7.0, diffrax 0.1.0 (no such stack was run)"),
        ("<b>what</b>", "“<b>what</b>” names no release"),
        ("jax 0.7.0 diffrax 0.7.0", "unknown: it depends on equinox"),
    ],
)
def test_a_version_can_be_typed(page: Page, typed: str, told: str) -> None:
    """Versions in anybody's spelling are taken as what they are, or a sentence says why not; none is guessed."""
    assert told in answer(page, typed, "jax-0.12.0.1")


def test_a_pasted_pip_freeze_is_one_line(page: Page) -> None:
    """What has many lines is pasted as one, without comments, hashes and options."""
    text = "# mine\n-e git+https://x\nabsl-py==2.0.0\njax==0.7.0 ; python_version > '3'\n\ndiffrax==0.7.0  # via me\n"
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData('text', text);
            const field = document.getElementById('from');
            field.value = '';
            field.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, cancelable: true}));
        }""",
        text,
    )

    assert "absl-py==2.0.0, jax==0.7.0, diffrax==0.7.0" == page.input_value("#from")


def test_a_stack_that_does_not_import_is_said_first(page: Page, known: Report) -> None:
    """Row zero comes first, by rule or by the run that it leads to; what needs the broken package is one line."""
    text = answer(page, "jax-0.6.0", "jax 0.12.0.1 equinox 0.13.0")

    assert text.startswith("✗ Does not import equinox 0.13.0 by rule")
    assert "jax 0.12.0.1, equinox 0.13.0 (no such stack was run)" in text
    needing = [case for issue in known.issues if not issue.row_zero for case in issue.cases if "equinox" in case.needs]
    assert f"Blocked: {len(needing)} cases need what does not import there." in text
    assert not any(f"\n{case.id} " in text for case in needing)

    cell = "jax-0.7.0+equinox-0.11.8+diffrax-0.6.0"
    text = answer(page, "jax 0.5.3", "jax 0.7.0 equinox 0.11.8 diffrax 0.6.0")
    assert text.startswith(f"✗ Does not import equinox 0.11.8 run {cell}")
    assert "Blocked:" in text
    expect(page.locator("#answer .standing a")).to_have_attribute("href", f"#cell-{cell}")


def test_a_workaround_stands_where_it_helps(page: Page) -> None:
    """It is told with a symptom that it is for; what goes away has none, nor has what never needed it."""
    answer(page, "jax-0.5.3", "jax-0.6.0")

    assert page.locator("[data-turned=changes] .workaround").count() > 0
    assert 0 == page.locator("[data-turned=goes] .workaround").count()


# The script and the judge


def texts(known: dict[str, list[str]], count: int) -> list[str]:
    """What people type and paste, and what they should not: rows of names, versions, operators and the rest."""
    chance = random.Random(11)
    names = [*known, "Jax", "jax[cpu]", "jax_typing", "absl-py", "a_-.b", "jax @ https://x/y==1"]
    odd = ["0.4", "0.10", "v0.6.2", "0.4.30rc1", "0.4.30.post1", "0.7.0.dev1", "1!0.4", "0.4.30+cuda12.x", "0.4.*", ""]
    numbers = [*odd, "00.7", "newest", "x.y", *(each for of in known.values() for each in of)]
    operators = ["==", ">=", "<=", "<", ">", "~=", "!=", "===", " ", " == ", "-", "", "=", " >= "]
    ends = [" ", ", ", ",", "\n", "\r\n", " ; python_version > '3'\n", "  # via x\n", " --hash=sha256:ab \\\n"]
    ends += ["+", ",<", ",!=0.7.0 ", ")", "(", "\u00a0"]
    row = (["", "", "", "-e ", "“"], names, operators, numbers, ends)
    return ["".join(map(chance.choice, row * chance.randrange(1, 5))) for _ in range(count)]


def stacks(known: dict[str, list[str]], report: Report, count: int) -> list[dict[str, str]]:
    """Stacks that were run, wholly or in part, changed or not, and stacks of any versions."""
    chance = random.Random(13)
    made = []
    for _ in range(count):
        pins = dict(chance.choice(report.cells).packages)
        for name in chance.sample(sorted(known), chance.randrange(3)):
            pins[name] = chance.choice([*known[name], "0.0.1", "0.7.1.dev2", "0.5.0rc1", "0.6.0.post1", "99.1"])
        kept = chance.choice([list(pins), ["jax", "jaxlib", *chance.sample(sorted(known), chance.randrange(6))]])
        made.append({name: pins[name] for name in kept if name in pins})
    return made


# Some releases; what people type, which of them it names, and what is said of the rest.
SOME = {
    "jax": ["0.4.30", "0.6.2", "0.10.0", "0.10.2", "0.12.0.1"],
    "jaxlib": ["0.4.30"],
    "jaxtyping": ["0.2.1"],
    "equinox": ["0.12.2", "0.13.0"],
    "diffrax": ["0.6.0", "0.7.0", "0.7.2"],
}
TYPED: dict[str, tuple[dict[str, str], list[str]]] = {
    "": ({}, []),
    "jax 0.4.30": ({"jax": "0.4.30"}, []),
    "0.6.2": ({"jax": "0.6.2"}, []),
    "newest": ({"jax": "0.12.0.1"}, []),
    "0.10": ({"jax": "0.10.2"}, ["jax 0.10 is taken as its newest, 0.10.2."]),
    "jax 0.12.0.1 equinox newest": ({"jax": "0.12.0.1", "equinox": "0.13.0"}, []),
    "jax==0.12.0.1, equinox==0.13.0": ({"jax": "0.12.0.1", "equinox": "0.13.0"}, []),
    "jax 0.6.2 diffrax==0.6.0 equinox newest": ({"jax": "0.6.2", "diffrax": "0.6.0", "equinox": "0.13.0"}, []),
    "jax-0.4.30+diffrax-0.6.0": ({"jax": "0.4.30", "diffrax": "0.6.0"}, []),
    "jax[cpu]==0.6.2 ; python_version > '3.9'": ({"jax": "0.6.2"}, []),
    "jax==0.4.30+cuda12": ({"jax": "0.4.30"}, []),
    "Jax\u00a00.6.2": ({"jax": "0.6.2"}, []),
    "\U0001f600 jax=0.6.2": ({"jax": "0.6.2"}, []),
    "jax==0.10.*": ({"jax": "0.10.2"}, ["jax==0.10.* is taken as its newest, 0.10.2."]),
    "diffrax>=0.7,<0.7.2": ({"diffrax": "0.7.0"}, ["diffrax<0.7.2,>=0.7 is taken as its newest, 0.7.0."]),
    # jaxtyping is not jax.
    "-i x\nabsl-py==2.0.0\njax==0.4.30  # via x\njaxlib==0.4.30 \\\n --hash=sha256:ab\njaxtyping==0.2.1\nzipp==3.1\n": (
        {"jax": "0.4.30", "jaxlib": "0.4.30", "jaxtyping": "0.2.1"},
        ["Not of the stack, and ignored: absl-py, zipp."],
    ),
    "flax==0.10": ({}, ["Not of the stack, and ignored: flax."]),
    "equinox": ({}, ["equinox has no version beside it, and is ignored."]),
    "jax 99.1": ({"jax": "99.1"}, ["There is no jax 99.1 here: what follows of it is by rule."]),
    "jax, diffrax==0.7.0": ({"diffrax": "0.7.0"}, ["jax has no version beside it, and is ignored."]),
    "jax @ https://x/y==1": ({}, ["jax has no version beside it, and is ignored."]),
    "jax>=99": ({}, ["No release here is jax>=99."]),
    "jax==not-a-version": ({}, ["“jax==not-a-version” is no requirement."]),
}
READ = "([texts, known]) => texts.map(text => rules.read(text, known))"


def test_what_is_typed_is_read_by_whole_names(page: Page) -> None:
    """A release, a minor, `newest`, requirement lines, a cell's id: and what is not taken as it stands is said."""
    told = page.evaluate(READ, [[*TYPED], SOME])
    assert TYPED == {text: (each["versions"], each["notes"]) for text, each in zip(TYPED, told, strict=True)}


def test_whatever_is_typed_names_packages_of_the_stack_with_versions(page: Page, known: Report) -> None:
    """Of any text, nothing else is taken; and of a requirement, the newest release that `packaging` finds in it."""
    releases = known_releases(known)
    for told in page.evaluate(READ, [texts(releases, 500), releases]):
        assert told["versions"].keys() <= releases.keys()
        assert all(told["versions"].values())

    chance = random.Random(12)
    numbers = ["0.4", "0.10", "0.4.30rc1", "0.4.30.post1", "0.7.0.dev1", "1!0.4", "0.4.30+cuda12", "7", "x.y"]
    expected: dict[str, dict[str, str]] = {}
    for _ in range(1000):
        name = chance.choice([*releases])
        clauses = [
            chance.choice(["<", "<=", ">", ">=", "~=", "!="]) + chance.choice([*numbers, *releases[name]])
            for _ in range(chance.randrange(1, 4))
        ]
        line = name + ",".join(clauses)
        try:
            wanted = Requirement(line).specifier
        except InvalidRequirement:
            expected[line] = {}
        else:
            admitted = [each for each in releases[name] if wanted.contains(each, prereleases=True)]
            expected[line] = {name: admitted[-1]} if admitted else {}
    told = page.evaluate(READ, [[*expected], releases])
    assert expected == {line: each["versions"] for line, each in zip(expected, told, strict=True)}


def test_the_script_predicts_as_the_judge_does(page: Page) -> None:
    """For stacks that were run and stacks that were not, each case's behaviour, how it is known and by which runs."""
    some = as_known(plan.cells()[::4])
    seen, pins = View(some).seen, {cell.id: cell.packages for cell in some.cells}
    known = [
        (case, [Run(cell, pins[cell], each.behaviour) for cell, each in of.items() if each.behaviour])
        for issue in some.issues
        for case in issue.cases
        for of in [seen[issue.id, case.id]]
    ]
    # Where no rule says anything, two neighbours may, that differ in nothing but a package.
    base = some.cells[0].packages
    beside = [Run(version, {**base, "equinox": version}, "bad") for version in ("0.0.1", "0.0.3")]
    known += [(case.model_copy(update={"rules": []}), [*runs, *beside]) for case, runs in known]
    wanted = [*stacks(known_releases(some), some, 60), {**base, "equinox": "0.0.2"}]

    told = page.evaluate(
        """([cases, cells, stacks]) => cases.flatMap(each => {
            const runs = each.runs.map(([cell, behaviour]) => ({cell, pins: cells[cell], behaviour}));
            return stacks.map(versions => {
                const found = rules.predict(each, versions, runs);
                return [found.behaviour, found.how, found.runs.map(run => run.cell), found.rules.map(rule => rule.on)];
            });
        })""",
        [
            [
                {
                    **{"needs": case.needs, "imports": sorted(concerned(case.needs))},
                    **{"rules": [each.model_dump() for each in case.rules]},
                    "runs": [[run.cell, run.behaviour] for run in runs],
                }
                for case, runs in known
            ],
            {run.cell: run.pins for _, runs in known for run in runs},
            wanted,
        ],
    )
    expected = [predict(case, versions, runs) for case, runs in known for versions in wanted]
    assert [
        [one.behaviour, one.how, [run.cell for run in one.runs], [rule.on for rule in one.rules]] for one in expected
    ] == told
    assert {"run", "by rule", "between", "unknown"} == {one.how for one in expected}


# Where it is read


def test_without_javascript_it_answers(browser: Browser, site: Path, complaints: list[str]) -> None:
    """With scripts off there is no picker; the matrix unfolds, cells lead to cases, and a table has the steps."""
    page = tab(browser, complaints, java_script_enabled=False)
    page.goto(site.as_uri())

    expect(page.locator("#picker")).to_be_hidden()
    page.locator("tbody[data-issue=wraps-lower-bypass] .fold input").check()
    page.locator("[id='cell-jax-0.6.0/wraps-lower-bypass/jit'] a").click()
    assert page.url.endswith("#wraps-lower-bypass/jit")
    expect(page.locator("[id='wraps-lower-bypass/jit']")).to_be_in_viewport()
    page.locator("#steps > summary").click()
    step = page.locator(".steps tr").filter(has=page.locator("th a", has_text="jax-0.6.0"))
    assert "wraps-lower-bypass/jit ✗ bypassed → ◐ attribute-error" in step.inner_text()
    page.locator("[id='cell-jax-0.6.0'] summary").click()
    assert "jaxlib 0.6.0" in page.locator("[id='cell-jax-0.6.0'] details").inner_text()


def test_the_page_fits_a_phone(visit: Open) -> None:
    """On 360 pixels nothing but the tables' own regions scrolls sideways, whatever is open."""
    page = visit(width=360)
    assert page.evaluate(WIDTH) <= 360

    page.evaluate("location.hash = 'cell-jax-0.6.0/wraps-lower-bypass/jit'")
    expect(page.locator("#panel")).to_be_visible()
    page.evaluate(UNFOLD)
    assert page.evaluate(WIDTH) <= 360


def test_the_page_prints(visit: Open) -> None:
    """It prints to PDF, with the matrix unfolded and as wide as the paper."""
    page = visit(width=1030)

    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator("#grid tr.case").first.is_visible()
    assert page.evaluate(WIDTH) <= 1030


def of_all_sorts() -> Report:
    """A small report with every section and every verdict, most of them odd, and a stack that was nobody's plan."""
    wanted = ("jax-0.5.3", "jax-0.6.0", "jax-0.7.0")
    made = as_known([cell for cell in few() if cell.id in wanted or "+" in cell.id])
    verdicts: Iterator[Verdict] = cycle(VERDICTS)

    def odd(each: Observation) -> Observation:
        verdict = next(verdicts)
        nothing = {"agreement": "spurious", "behaviour": None, "workaround": "none"}
        changed = {"agreement": "changed", "workaround": "fails", "workaround_expected": False}
        return each.model_copy(update={"verdict": verdict, **(nothing if verdict in UNDECIDED else changed)})

    issues = []
    for issue in (each for each in made.issues if each.id in ("stack-smoke", "compute-on-aot")):
        # Each word of marked source costs axe as much as a row of a table.
        cases = [
            case.model_copy(update={"source": 'def f():\n    return "s", 1  # Why.\n'}) for case in issue.cases[:1]
        ]
        cases += [case.model_copy(update={"source": ""}) for case in issue.cases[1:]]
        issues.append(issue.model_copy(update={"cases": cases, "shared_source": "import jax\n"}))
    seen = [each if each.issue == "stack-smoke" else odd(each) for each in made.observations]
    seen = [each for each in seen if each.issue in ("stack-smoke", "compute-on-aot")]
    cells = [*made.cells[:-1], made.cells[-1].model_copy(update={"asks": []})]
    now = made.model_copy(update={"issues": issues, "observations": seen, "cells": cells})
    return now.model_copy(update={"since": since(otherwise(now), now)})


def test_axe_finds_nothing(visit: Open, tmp_path: Path) -> None:
    """With every section, everything open and every verdict shown axe finds no violation, by day and by night."""
    write(of_all_sorts(), tmp_path)
    page = visit("#cell-jax-0.6.0/compute-on-aot/decorator-outside", tmp_path / "index.html")
    sections = {"upgrade", "matrix", "issues", "findings", "stacks", "timings", "open", "own", "cells", "since"}
    assert sections == {each.get_attribute("id") for each in page.locator("section > h2").all()}
    page.evaluate(UNFOLD)
    page.check("#f-words")

    page.emulate_media(color_scheme="light")
    assert [] == violations(page)
    # A theme changes colours only.
    page.emulate_media(color_scheme="dark")
    assert [] == violations(page, runOnly=["color-contrast"])


# What it must bear


@pytest.mark.parametrize("name", ["empty", "nasty"])
def test_a_hostile_report_is_shown(visit: Open, name: str, tmp_path: Path) -> None:
    """Tags, escapes, direction marks, ten megabytes or nothing: a page that is safe and can be read on a phone."""
    nasty = report(observation(detail=NASTY), observation(case="long", agreement="changed", detail="x" * 10_000_000))
    write({"empty": EMPTY, "nasty": nasty}[name], tmp_path)

    page = visit("", tmp_path / "index.html", 360)
    page.evaluate(UNFOLD)

    assert page.evaluate(WIDTH) <= 360
    assert page.locator("script").count() == 2
    text = page.locator("body").inner_text()
    assert not re.search("[\x1b\u202a-\u202e\u2066-\u2069]", text)
    if name == "nasty":
        assert "\\u001b[31mred" in text
        assert "\\u202e" in text
        assert "10,000,000 characters in compat.json" in text
        assert len(text) < 60_000
        page.goto(page.url + "#cell-jax-0.4.30/some-issue/headline")
        assert "<script>alert(1)</script>" in page.locator("#panel").inner_text()
