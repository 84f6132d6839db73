"""Tests of people's questions to the published report, each within three actions, and of its front page."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from jax_stack_compat.judge.verdict_table import TABLE, Verdict
from laboratory.report.site.build import ASSETS
from laboratory.report.site.marked import verdict_styles
from tests.report.on_disk import pages
from tests.report.site_browser import UNFOLD, afresh
from tests.report.test_report import observation, report

pytestmark = pytest.mark.usefixtures("_no_complaints")


@dataclass
class Reader:
    """A reader who starts at the front page; each entry, click or key is an action."""

    page: Page
    actions: int = 0

    def asks(self, text: str) -> None:
        """Type or paste into the front page's box."""
        self._acts()
        self.page.fill("#search", text)

    def follows(self, name: str) -> None:
        """Click the first link with this in its name."""
        self._acts()
        self.page.get_by_role("link", name=re.compile(re.escape(name))).first.click()
        # Writing the question into the address is a navigation too.
        self.page.wait_for_url(lambda url: "index.html" not in url)

    def upgrades(self, to: str) -> None:
        """Fill in the target on the page of stacks."""
        self._acts()
        self.page.fill("#next", to)
        self.page.keyboard.press("Control+Enter")

    def sees(self, where: str = "main") -> str:
        """Return the text of an element, unfolded, once it has some."""
        expect(self.page.locator(where).first).to_have_text(re.compile(r"\S"))
        self.page.evaluate(UNFOLD)
        return " ".join(self.page.locator(where).first.inner_text().split())

    def _acts(self) -> None:
        self.actions += 1
        assert self.actions <= 3


@pytest.fixture
def front(report_folder: Path) -> str:
    """Return the address of the published front page."""
    return (report_folder / "index.html").as_uri()


@pytest.fixture
def reader(opened: Page, front: str) -> Reader:
    """Return a reader at the front page."""
    return Reader(afresh(opened, front))


def test_can_i_go_there(reader: Reader) -> None:
    """An upgrade's answer begins with a verdict on the target, and says what is kept and how it is known."""
    reader.asks("jax 0.4.35, equinox 0.11.10, diffrax 0.6.0 are pinned: can I go to jax 0.5.3?")
    reader.follows("what changes")

    told = reader.sees("#verdict")
    assert told.startswith("✗ This stack does not work: train and solve fails (concrete-array-removed, by rule)")
    assert "concrete-array-removed by rule" in told
    assert "kept: equinox 0.11.10, diffrax 0.6.0" in told

    reader.upgrades("newest")
    told = reader.sees("#verdict")
    assert told.startswith("✓ Imports and solves (run; CPU, x86-64).")
    assert "Train and solve: ✓ works run" in told


NAMED = {
    "Does optax 0.2.4 work with jax 0.12.0.1?": "on optax 0.2.4 jax 0.12.0.1",
    "jax 0.7.1 with python 3.12.4": "on jax 0.7.1",
    "can jax 0.4.35 go to v0.6.0?": "From jax 0.4.35 to v0.6.0",
    "can jax 0.4.35 go to 0.99.0?": "From jax 0.4.35 to 0.99.0",
}


def test_a_question_names_a_stack(opened: Page, front: str) -> None:
    """Every known package keeps its version, and a bare version is jax's if jax has it."""
    page = afresh(opened, front)
    for question, stack in NAMED.items():
        page.fill("#search", question)
        expect(page.get_by_role("link", name=re.compile(f"{re.escape(stack)}[,:]"))).to_be_visible()


# A question → the link to follow, and the expected text by element.
ASKED: dict[str, tuple[str, dict[str, str]]] = {
    "Does jax 0.4.20 work with equinox 0.11.10, diffrax 0.5.0 and numpy 2.5.5?": (
        "does it work",
        {
            "#verdict": "^✗ This stack does not work: jax 0.4.20 does not import beside ",
            "main": r"Blocked: \d{3} cases that need a package that does not import",
        },
    ),
    "Which release first refused .lower() through functools.wraps, and is pmap the same?": (
        "skips a functools.wraps wrapper",
        {
            ".issue > .timeline": "attribute-error 0.6.0 on",
            "section[aria-labelledby=pmap]": "bypassed 0.8.0 on",
        },
    ),
    "TypeError: unhashable type: 'DynamicJaxprTracer'": (
        "DynamicJaxprTracer",
        {"main": "Call the object from a lambda"},
    ),
    "AttributeError: 'function' object has no attribute 'lower'": (
        "skips a functools.wraps wrapper",
        {"main": "Apply jax.jit last"},
    ),
    'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n    y = solve(x)\n'
    "AttributeError: module 'jax.interpreters.batching' has no attribute 'NotMapped'": (
        "Row zero",
        {"main": "hold JAX, or NumPy, back"},
    ),
    "jax 0.7.1 is slow": (
        "changes, known issues",
        {"section[aria-labelledby=speed]": r"(?=.*jax#31284).*times slower since jax 0\.7\.1: .* until jax 0\.7\.2"},
    ),
    "jax 0.7.0": (
        "changes, known issues",
        {"section[aria-labelledby=turned]": "jaxlib 0.6.2 → 0.7.0.*train-and-solve: ✓ works → ✗ crashed"},
    ),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_question_leads_to_its_answer(reader: Reader, question: str) -> None:
    """A question, a message or a traceback leads to what does not import, refused it, is slow, helps or broke."""
    link, answers = ASKED[question]
    reader.asks(question)
    reader.follows(link)

    for where, words in answers.items():
        assert re.search(words, reader.sees(where))


def test_what_should_it_have_required(reader: Reader) -> None:
    """The page of Diffrax 0.7.0 says that it needs an Optimistix below 0.1.0."""
    reader.asks("I maintain Diffrax: what should diffrax 0.7.0 have required?")
    reader.follows("changes, known issues")

    assert "diffrax 0.7.0 lacks optimistix<0.1.0" in reader.sees("[aria-labelledby=stacks]")


def test_what_do_i_install(reader: Reader, report_folder: Path) -> None:
    """The page of jax 0.6.2 has a pip command for the newest working set, and constraints with those pins."""
    reader.asks("What do I install today for jax 0.6.2?")
    reader.follows("what to install with it")

    (line,) = re.findall(r'pip install "jax\[cpu\]==0\.6\.2".*', reader.page.locator("main").inner_text())
    pins = (report_folder / "constraints" / "jax-0.6.2.txt").read_text(encoding="utf-8").splitlines()
    assert set(re.findall(r"[a-z]+==[\d.]+", line)) <= set(pins)
    expect(reader.page.locator("a[href$='constraints/jax-0.6.2.txt']")).to_be_visible()


def test_what_concerns_my_code(reader: Reader) -> None:
    """A search for several functions lists each issue with its match, and names functions without one."""
    reader.asks("jax.vmap, implicit solvers, eqx.filter_grad, jax.no_such_thing")

    told = reader.sees("#results")
    for words in ("matches jax.vmap", "Row zero", "matches equinox.filter_grad", "concerns jax.no_such"):
        assert words in told


# A text → what the box says.
ANSWERED = {
    "with_sharding_constraint": "jax.make_mesh defaults to Explicit axes",
    "#25981": "jax.random gives other numbers",
    "jax#25190": "Slower, measured: a while loop that reads an array, 147 times from jax 0.4.33 (jax#25190)",
    "TypeError: _psum_invariant_abstract_eval() got an unexpected keyword argument 'axis_index_groups'": (
        "No documented issue matches."
    ),
    "TypeError: make_mesh() got an unexpected keyword argument 'axis_shapes'": (
        "jax.make_mesh takes axis_shapes on jax 0.4.33 to 0.11.0."
    ),
    "AttributeError: jax.tree_map was removed in JAX v0.6.0: use jax.tree.map": (
        "jax.tree_map exists on jax 0.4.18 (or older) to 0.5.3."
    ),
    "AttributeError: module 'jax.interpreters.pxla' has no attribute 'xla_pmap_p'": "Used by NumPyro before 0.21.0.",
    "jax.errors.UnexpectedTracerError: Encountered an unexpected tracer.": "a traced value left the function",
}


@pytest.mark.parametrize("text", ANSWERED)
def test_the_box_answers_at_once(reader: Reader, text: str) -> None:
    """The box has the issue, the slow-down, or the sentence of `explain` on a missing name or argument."""
    reader.asks(text)

    expect(reader.page.locator("#results")).to_contain_text(ANSWERED[text])
    assert "jnp.clip" not in reader.sees("#results")


def test_what_is_asked_is_in_the_address(reader: Reader) -> None:
    """The address of a search restores it."""
    reader.asks("FutureWarning: Attempting to hash a tracer")
    told = reader.sees("#results")
    address = reader.page.url
    reader.page.goto("about:blank")
    reader.page.goto(address)

    assert told
    assert told == reader.sees("#results")


def test_enter_follows_the_first(reader: Reader) -> None:
    """Enter opens the first result."""
    reader.asks("27829")
    reader.page.keyboard.press("Enter")

    expect(reader.page).to_have_url(re.compile("issues/wraps-lower-bypass.html$"))


@pytest.mark.parametrize(
    ("before", "kind", "stands"),
    [("affected", "line", "fixed"), ("absent", "line", "well"), ("affected", "arm", "elsewhere")],
)
def test_a_list_says_what_the_runs_show(before: Verdict, kind: str, stands: str) -> None:
    """A clear issue is listed as fixed, on other stacks only, or not seen, depending on the stacks that showed it."""
    of = report(
        observation(verdict=before, behaviour=before), observation(cell="jax-0.5.0", verdict="clear", behaviour="good")
    )
    cells = [each.model_copy(update={"kind": kind} if each.id == "jax-0.4.30" else {}) for each in of.cells]

    assert f'<h2 id="{stands}">' in pages(of.model_copy(update={"cells": cells}))["index.html"]


def test_every_verdict_has_a_colour_and_is_listed_once() -> None:
    """The style defines the classes of the verdicts' table; neither it nor a script lists the verdicts again."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in ASSETS.iterdir()}
    for row in TABLE:
        assert f".{row.name} {{ --b: var(--{row.css}); --i: var(--{row.css}-ink); }}" in verdict_styles()
        assert f"--{row.css}: " in texts["style.css"]
        assert f"--{row.css}-ink: " in texts["style.css"]
    for name, text in texts.items():
        mark = r"\.{}\b" if name.endswith(".css") else r"[\"'`]{}[\"'`]"
        found = {each.name for each in TABLE if re.search(mark.format(each.name), text)}
        assert found <= {"documented", "absent", "blocked"}, name
