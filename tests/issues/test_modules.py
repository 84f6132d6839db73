"""Issue modules: what each must have, and sentences that are checked against the published report.

offenders.toml lists the ids of issues that fail a test today, by area. It may only shrink.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path

import pytest

from jax_stack_compat.base.spelling import RELEASE
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case, Issue, Signature
from jax_stack_compat.check.source.touched import IMPORT, touch
from jax_stack_compat.judge.metadata import in_version_order, parsed
from jax_stack_compat.judge.rules import Pins, first_match, met, requirements
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.packages import MODULES
from jax_stack_compat.stack import releases
from laboratory.report.model import Report
from laboratory.sources import source, threads
from tests.issues.last_run import keep, last_run, rows
from tests.issues.roles import OF_KINDS, OF_ROLES

LISTED = tomllib.loads((Path(__file__).with_name("offenders.toml")).read_text(encoding="utf-8"))
# The import names of the stack and its guests.
_UPSTREAM = tuple(MODULES.values())
# Lines of a module with one case.
_LINES = 100
# Words that claim something about all releases, or about all tested ones.
CLAIM = re.compile(r"\b(works?|right|no release)\b", re.IGNORECASE)
# A sentence ends at a mark followed by a space, or at the end of a list item or paragraph.
END = re.compile(r"(?<=[.:;])\s+|\n\s*\n|\n(?=- )")


@pytest.fixture(scope="module", autouse=True)
def _read(published: Report) -> None:
    keep(published)


@cache
def ran() -> Mapping[tuple[str, str], list[Pins]]:
    """The stacks on which each case was run."""
    pins = {cell.id: cell.packages for cell in last_run().cells}
    found: dict[tuple[str, str], list[Pins]] = {}
    for each in last_run().observations:
        if each.verdict not in UNDECIDED and each.cell in pins:
            found.setdefault((each.issue, each.case), []).append(pins[each.cell])
    return found


@cache
def versions(package: str) -> list[str]:
    """Return the installable releases of a package, in order; empty for packages outside the stack."""
    known = releases.load().packages.get(package, {})
    return in_version_order(name for name, each in known.items() if each.yanked is None)


def source_of(entry: Entry) -> str:
    """The text of an issue's module."""
    return entry.source.read_text(encoding="utf-8")


def prose(issue: Issue) -> str:
    """Return a module's text beside its title: its story, the evidence of its rules, and its workarounds."""
    notes = [rule.evidence for case in issue.cases for rule in case.rules]
    return "\n\n".join([issue.story, *notes, *(case.workaround.text for case in issue.cases if case.workaround)])


def bounds(case: Case) -> Iterator[tuple[str, str]]:
    """The releases at which a case's rules change, by package."""
    for requirement in (each for rule in case.rules for each in requirements(rule.on)):
        yield from ((requirement.name, specifier.version) for specifier in requirement.specifier)


def boundaries(issue: Issue) -> set[str]:
    """Return the releases at which an issue's cases change, by rule or run, and the last release before each."""
    found = {version for case in issue.cases for of in bounds(case) for version in (of[1], *sides(*of))}
    for case in issue.cases:
        for each in rows()[issue.id, case.id].intervals:
            found |= {each.first, each.last}
    return found


def sides(package: str, version: str) -> list[str]:
    """Return the last release below a bound and the first at or above it; empty for an unknown package."""
    known = versions(package)
    below = [each for each in known if parsed(each) < parsed(version)]
    return [*below[-1:], *known[len(below) :][:1]]


def is_bad(case: Case, pins: Pins) -> bool:
    """Return True if a rule says that a case goes wrong on a stack."""
    rule = first_match(case.rules, pins)
    return rule is not None and case.behaviours[rule.behaviour] == "affected"


def signatures(case: Case) -> list[Signature]:
    """Return a case's signatures."""
    return [each for some in case.signatures.values() for each in (some if isinstance(some, tuple) else (some,))]


def stands(entry: Entry, sentence: str) -> str:
    """Return a sentence of a module, with the line of its file on which it begins."""
    text = source_of(entry)
    first = r"[\s\"']+".join(map(re.escape, sentence.split()[:3]))
    found = re.search(first, text)
    line = text.count("\n", 0, found.start()) + 1 if found else 1
    return f"{entry.source.name}:{line}: {' '.join(sentence.split())}"


def names(sentence: str, known: Set[str]) -> bool:
    """Return True if a sentence names a case, or a function of its module."""
    return bool(known & set(re.findall(r"[\w-]+", sentence)))


def title_names_a_release(entry: Entry) -> list[str]:
    """The report adds the releases to a title, from what was run."""
    return [stands(entry, entry.issue.title)] if RELEASE.search(entry.issue.title) else []


def release_is_no_boundary(entry: Entry) -> list[str]:
    """The prose of a module names only releases at which a case changes, or the last ones before."""
    named = {each: set(RELEASE.findall(each)) - boundaries(entry.issue) for each in END.split(prose(entry.issue))}
    return [f"{stands(entry, each)} ({', '.join(sorted(others))})" for each, others in named.items() if others]


def bound_was_not_run(entry: Entry) -> bool:
    """The release in a rule and the one before it were run, or the page marks the interval as not exact."""
    for case in entry.issue.cases:
        stacks = ran().get((entry.issue.id, case.id), [])
        # An interval that is not exact is marked as such.
        marked = {each.first for each in rows()[entry.issue.id, case.id].intervals if not each.exact}
        for package, version in bounds(case):
            there = {pins[package] for pins in stacks if package in pins}
            if not there.issuperset(of := sides(package, version)) and marked.isdisjoint(of):
                return True
    return False


def pin_meets_a_bad_rule(entry: Entry) -> bool:
    """No tested stack meets a workaround's pin and also a rule by which the case goes wrong."""
    return any(
        met(case.workaround.pin, cell.packages) and is_bad(case, cell.packages)
        for case in entry.issue.cases
        if case.workaround and case.workaround.pin
        for cell in last_run().cells
    )


def claim_names_no_case(entry: Entry) -> list[str]:
    """A sentence that says "works", "right" or "no release" names a case of its issue, or a function of its module."""
    functions = [each for case in entry.issue.cases for each in (case.reproducer, case.control)]
    functions += [case.workaround.code for case in entry.issue.cases if case.workaround and case.workaround.code]
    known = {each.__name__ for each in functions} | {case.id for case in entry.issue.cases}
    claims = filter(CLAIM.search, END.split(prose(entry.issue)))
    return [stands(entry, each) for each in claims if not names(each, known)]


def range_ends_at_the_newest_release(entry: Entry) -> bool:
    """A module says "from 0.5.0 on"; the report adds the newest tested release."""
    newest = "|".join(re.escape(versions(name)[-1]) for name in ("jax", "equinox"))
    found = re.compile(rf"\b(to|until)\s+(\w+\s+)?({newest})(?!\.?\d)")
    return found.search(f"{entry.issue.title}\n{prose(entry.issue)}") is not None


def report_is_a_pull_request(entry: Entry) -> bool:
    """A thread with the role "report" is an issue or a discussion, not a pull request."""
    known = threads.load().threads
    reports = [each.ref for each in threads.upstream(entry.issue) if each.role == "report" and each.ref in known]
    return any(known[ref].kind == "pull" for ref in reports)


def fix_is_not_known_to_have_landed(entry: Entry) -> bool:
    """A fix is a commit, a merged pull request, or is listed with the commit that landed it."""
    known = threads.load().threads
    named = threads.upstream(entry.issue)
    landed = {each.ref.partition("@")[0] for each in named if "@" in each.ref}
    fixes = [each.ref for each in named if each.role == "fix" and each.ref in known]
    return any(known[ref].state != "merged" and ref.partition("#")[0] not in landed for ref in fixes)


def threads_are_not_named(entry: Entry) -> bool:
    """Each issue names its source, once: a report, a page, a fix or another thread."""
    form = re.compile(r"[\w.-]+/[\w.-]+(#[1-9]\d*|@[0-9a-f]{7,40})|https://[^\s\"'<>]+")
    named = threads.upstream(entry.issue)
    refs = [each.ref for each in named]
    tells = any(each.role in ("report", "docs", "fix") or "#" in each.ref for each in named)
    return not (tells and all(map(form.fullmatch, refs)) and len(set(refs)) == len(refs))


def thread_is_an_address(entry: Entry) -> bool:
    """An issue, a pull request or a discussion of GitHub is `owner/name#number`, and not an address."""
    address = re.compile(r"github\.com/[^/]+/[^/]+/(issues|pull|discussions)/\d")
    return any(address.search(each.ref) for each in threads.upstream(entry.issue))


def text_is_lacking(entry: Entry) -> bool:
    """No issue lacks a title, a story, a question for each case, or words for a workaround."""
    issue = entry.issue
    told = [issue.title, issue.story, *(case.question for case in issue.cases)]
    told += [case.workaround.text for case in issue.cases if case.workaround]
    return not all(text.strip() for text in told)


def upstream_is_said_to_be_silent(entry: Entry) -> bool:
    """No module claims that upstream is silent: nobody can know that. It says what was seen in the runs."""
    claim = r"\bno\s+thread|\bthreads?\s+(don't|do\s+not)\s+say"
    return re.search(claim, source_of(entry), re.IGNORECASE) is not None


def symptom_is_as_its_absence(entry: Entry) -> bool:
    """Each case has a behaviour that is the symptom, or upstream's answer to it, and one that is neither."""
    of_cases = [set(case.behaviours.values()) for case in entry.issue.cases]
    return any(
        len(means) < 2
        or not means & {"affected", "guarded", "documented"}
        or ("affected" in means and not means & {"clear", "guarded", "absent", "documented"})
        for means in of_cases
    )


def control_stands_elsewhere(entry: Entry) -> bool:
    """A control or a workaround directly follows its first reproducer."""
    order = [node.name for node in ast.parse(source_of(entry)).body if isinstance(node, ast.FunctionDef)]
    reproducers = {case.reproducer.__name__ for case in entry.issue.cases}
    first: dict[str, str] = {}
    for case in entry.issue.cases:
        for part in (case.control, case.workaround.code if case.workaround else None):
            if part is not None and part.__name__ in set(order) - reproducers:
                first.setdefault(part.__name__, case.reproducer.__name__)
    behind = {name: [each for each in order[: order.index(name)] if each in reproducers] for name in first}
    return any(behind[name][-1:] != [of] for name, of in first.items())


def one_case_is_long(entry: Entry) -> list[str]:
    """An issue module with one case is at most 100 lines, with what its workaround runs elsewhere."""
    lines = len(source_of(entry).splitlines())
    too_long = len(entry.issue.cases) == 1 and lines > _LINES
    return [f"{entry.source.name}: {lines} lines, of {_LINES}"] if too_long else []


def touch_is_not_used(entry: Entry) -> bool:
    """An issue's reproducers use one of the functions that it concerns, unless it also concerns areas."""
    text = source_of(entry)
    told, used = source.touches(text, entry.issue), source.used(text, entry.issue)
    names = [touch(each).name if " if " in each else each for each in told]
    is_used = any(f"{one}.".startswith(f"{name}.") for name in names for one in used)
    return not is_used and not any(touch(each).is_untold or touch(each).is_import for each in told)


def touch_is_not_upstream(entry: Entry) -> bool:
    """Each touch of an issue or case can be read by `check --source`, and each function is upstream's."""
    told = map(touch, (*entry.issue.touches, *(each for case in entry.issue.cases for each in case.touches)))
    return any(not each.is_untold and not each.name.removeprefix(IMPORT).startswith(_UPSTREAM) for each in told)


def everyday_message_needs_evidence(entry: Entry) -> bool:
    """An issue with an everyday signature is known by a pattern, a function that it concerns, or a library."""
    issue = entry.issue
    is_named = bool(issue.known_by) or any("." in each for each in source.touches(source_of(entry), issue))
    cases = [case for case in issue.cases if any(each.everyday for each in signatures(case))]
    return not all(is_named or len(case.needs) > 1 for case in cases)


def known_by_is_of_no_signature(entry: Entry) -> bool:
    """An issue that is known by a pattern has a signature, because `explain` reads the one beside the other."""
    return bool(entry.issue.known_by) and not any(case.signatures for case in entry.issue.cases)


# The form of a page's text: what a reader takes in at once.
_TITLE_LETTERS, _STORY_WORDS, _STORY_SENTENCES, _ADVICE_WORDS = 72, 80, 4, 15
_DATE = re.compile(r"\b(19|20)\d\d\b|\b(January|February|March|April|June|July|August|September|October|November)\b")
_SWEEPING = re.compile(r"\b(every|never|only|always|no release|works?|right)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def title_is_long(entry: Entry) -> list[str]:
    """A title has at most 72 characters."""
    title = entry.issue.title
    too_long = len(title) > _TITLE_LETTERS
    return [f"{stands(entry, title)} ({len(title)} characters, of {_TITLE_LETTERS})"] if too_long else []


def story_is_long(entry: Entry) -> list[str]:
    """A story has at most 80 words in at most four sentences; a page shows the rest by what ran."""
    story = entry.issue.story
    words, sentences = len(story.split()), len(_SENTENCE.findall(story))
    if words <= _STORY_WORDS and sentences <= _STORY_SENTENCES:
        return []
    limits = f"{words} words, of {_STORY_WORDS}; {sentences} sentences, of {_STORY_SENTENCES}"
    return [f"{stands(entry, story.partition('. ')[0])}… ({limits})"]


def story_has_what_is_derived(entry: Entry) -> list[str]:
    """A story names no release and no date: the page has them from the runs and from the threads."""
    derived = (each for each in END.split(entry.issue.story) if RELEASE.search(each) or _DATE.search(each))
    return [stands(entry, each) for each in derived]


def story_sweeps(entry: Entry) -> list[str]:
    """A story makes no claim about everything: "every", "never", "only", "always", "works", "right"."""
    return [stands(entry, each) for each in END.split(entry.issue.story) if _SWEEPING.search(each)]


def advice_is_not_one_way(entry: Entry) -> list[str]:
    """A workaround is one way, in at most 15 words and without an "or"."""
    texts = dict.fromkeys(case.workaround.text for case in entry.issue.cases if case.workaround)
    long = [each for each in texts if len(each.split()) > _ADVICE_WORDS or " or " in f" {each} "]
    return [f'{stands(entry, each)} ({len(each.split())} words, of {_ADVICE_WORDS}, and no "or")' for each in long]


def advice_ran_on_its_example_alone(entry: Entry) -> list[str]:
    """The code of a workaround also runs elsewhere: on other inputs, or as a second program."""
    given = (case.workaround for case in entry.issue.cases if case.workaround)
    alone = dict.fromkeys(each.text for each in given if (each.code or each.environment) and not each.elsewhere)
    return [stands(entry, each) for each in alone]


def question_names_no_function(entry: Entry) -> list[str]:
    """A case's question is a whole question, and names what is asked about: a function, a class, an option."""
    questions = [case.question for case in entry.issue.cases]
    unclear = (each for each in questions if not each.endswith("?") or not re.search(r"\w[._(]\w*|`", each))
    return [stands(entry, each) for each in unclear]


# Each returns True for an issue that offends, or the sentences that do, with their lines and limits.
OFFENCES: Mapping[str, Callable[[Entry], bool | list[str]]] = {
    offends.__name__.replace("_", "-"): offends
    for offends in (
        *(title_names_a_release, release_is_no_boundary, bound_was_not_run, pin_meets_a_bad_rule, claim_names_no_case),
        *(range_ends_at_the_newest_release, report_is_a_pull_request, fix_is_not_known_to_have_landed),
        *(threads_are_not_named, thread_is_an_address, text_is_lacking, upstream_is_said_to_be_silent),
        *(symptom_is_as_its_absence, control_stands_elsewhere, one_case_is_long),
        *(title_is_long, story_is_long, story_has_what_is_derived, story_sweeps, advice_is_not_one_way),
        *(advice_ran_on_its_example_alone, question_names_no_function),
        *(touch_is_not_used, touch_is_not_upstream, everyday_message_needs_evidence, known_by_is_of_no_signature),
        *OF_ROLES,
        *OF_KINDS,
    )
}


def area(entry: Entry) -> str:
    """Return the folder of an issue's module; `top` if it is in none."""
    name = entry.source.parent.name
    return "top" if name == "issues" else name


AREAS = sorted(set(map(area, catalogue.entries())))


@pytest.mark.parametrize("offence", OFFENCES)
@pytest.mark.parametrize("of", AREAS)
def test_an_issue_offends_where_it_is_listed(of: str, offence: str) -> None:
    """The list of an area has exactly its issues that fail the test."""
    listed = set(LISTED.get(of, {}).get(offence, ()))
    offends = {entry.issue.id: OFFENCES[offence](entry) for entry in catalogue.entries() if area(entry) == of}
    found = {id: told for id, told in offends.items() if told}

    assert {} == {id: told for id, told in found.items() if id not in listed}, OFFENCES[offence].__doc__
    assert [] == sorted(listed - found.keys()), f"these offend no longer: take them from {offence} of [{of}]"


def test_each_list_of_offenders_is_of_an_offence() -> None:
    """offenders.toml has no area that does not exist, and no list that no test reads."""
    assert LISTED.keys() <= set(AREAS)
    assert {offence for lists in LISTED.values() for offence in lists} <= OFFENCES.keys()


def test_a_message_is_everyday_wherever_it_is() -> None:
    """Two signatures with one message agree on whether ordinary mistakes raise it."""
    told: dict[str, set[bool]] = {}
    for each in (one for entry in catalogue.entries() for case in entry.issue.cases for one in signatures(case)):
        told.setdefault(each.message, set()).add(each.everyday)

    assert [] == [message for message, said in told.items() if len(said) > 1]


def test_one_case_is_pictured() -> None:
    """The README has one picture."""
    assert 1 == sum(case.pictured for entry in catalogue.entries() for case in entry.issue.cases)
