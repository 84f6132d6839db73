"""The writer of search.json: the index that `find`, `explain` and the box of the pages search. Pure.

The wheel carries the file. `jax_stack_compat.check.find.index` reads and documents it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jax_stack_compat.base.files import dump_lines
from jax_stack_compat.cell.signatures import contains
from jax_stack_compat.check.explain import missing
from jax_stack_compat.check.find.index import SCHEMA
from jax_stack_compat.check.find.words import compared, stems
from jax_stack_compat.judge.rules import Pins, first_match, met, requirements
from jax_stack_compat.judge.verdict_table import SYMPTOMS
from jax_stack_compat.packages import GUESTS, HELD, MODULES, ON_JAX, STACK, guests
from laboratory.report import summary
from laboratory.report.model import ByRuleRow, CaseRow, IntervalRow, IssueRow, Observation, Report, SignatureRow
from laboratory.report.site.timings import Spell, TimedMachine, spells

# The detail of a failed import: `import equinox: AttributeError: module …; import diffrax: …`.
_IMPORT = re.compile(r"import \w+: (\w+): (.*?)(?=; import \w+: |$)")
_THREAD = re.compile(r"([a-z][\w-]*)#(\d+)")
# The verdicts on a release that an issue affects, and the words that some of them add.
_BAD = SYMPTOMS | {"crashed", "hung"}
_WORDS: Mapping[str, str] = {"crashed": "segfault SIGSEGV SIGABRT crash", "hung": "hang deadlock"}
_WORDS_OF_KIND: Mapping[str, str] = {"retrace": "recompile retrace", "crash": ""}
Seen = Mapping[tuple[str, str], Mapping[str, Observation]]


def search_json(report: Report, timed: Sequence[TimedMachine] = (), functions: Iterable[str] = ()) -> str:
    """Return the index of a report, of the timings and of the functions whose numbers are known, a line per issue."""
    data = index(report, timed, functions)
    return dump_lines(data, {"issues": "", "timings": ""}, (",", ":"))


def index(report: Report, timed: Sequence[TimedMachine] = (), functions: Iterable[str] = ()) -> dict[str, Any]:
    """Return the index as plain data."""
    seen = summary.by_case(report.observations)
    pins = {cell.id: cell.packages for cell in report.cells}
    names: dict[str, int] = {}
    issues = [_issue(issue, seen, pins, names) for issue in report.issues]
    numbers: dict[str, list[str]] = {}
    for function in sorted(functions):
        module, _, name = function.rpartition(".")
        numbers.setdefault(module, []).append(name)
    return {
        "schema_version": SCHEMA,
        "releases": [cell.id for cell in summary.line(report)],
        "packages": sorted({*HELD, *summary.packages(report)}),
        "aliases": {package.alias: name for name, package in HELD.items() if package.alias},
        "issues": issues,
        "names": list(names),
        "timings": list(_timings(timed)),
        "refuted": [[claim.ref, f"{claim.title} {claim.claim}".strip()] for claim in report.refuted],
        "numbers": numbers,
        "guests": _guests(report, seen, pins),
    }


def _issue(issue: IssueRow, seen: Seen, pins: Mapping[str, Pins], names: dict[str, int]) -> dict[str, Any]:
    own = [name for name in issue.touches if "." in name]
    verdicts = {row.verdict for case in issue.cases for row in seen[issue.id, case.id].values()}
    # A crash, for people, is of the process; the kind counts exceptions too.
    words = [issue.heading, issue.id.replace("-", " "), _WORDS_OF_KIND.get(issue.kind, issue.kind)]
    words += [name for name in issue.touches if "." not in name]
    words += [f"{case.id} {case.question}".replace("-", " ") for case in issue.cases]
    words += [_WORDS[verdict] for verdict in sorted(verdicts & _WORDS.keys())]
    # A flag counts without its value: XLA_FLAGS=--xla_cpu_use_thunk_runtime=false.
    words += [word.replace("=", " ") for word in " ".join(words).split() if "=" in word]
    mine = stems(words)
    others = [thread.title for thread in issue.upstream]
    # Row zero uses functions that it is not about.
    others += [] if issue.row_zero else [name.partition("(")[0].rpartition(".")[2] for name in own]
    heard = [stem for stem in stems(others) if stem not in mine]
    needs = {need for case in issue.cases for need in case.needs}
    rows = {
        "id": issue.id,
        "title": issue.heading,
        "row_zero": issue.row_zero,
        "known_by": issue.known_by,
        "packages": [name for name in HELD if name in needs],
        "words": " ".join(mine),
        "heard": " ".join(heard),
        "names": [names.setdefault(name, len(names)) for name in own],
        "threads": [thread.ref for thread in issue.upstream],
        "spans": _spans(issue),
        "rules": list(dict.fromkeys(_joint_rules(issue))),
        "signed": _signed(issue, seen, pins),
    }
    kept = ("id", "title", "packages", "words", "names", "threads")
    return {name: value for name, value in rows.items() if value or name in kept}


def _spans(issue: IssueRow) -> list[tuple[str, str, str]]:
    """Return the releases of each package that an issue affects, each once."""
    rows: list[IntervalRow | ByRuleRow] = []
    for case in issue.cases:
        rows += case.intervals
        rows += case.by_rule
    return list(dict.fromkeys((row.package, row.first, row.last) for row in rows if row.verdict in _BAD))


def _joint_rules(issue: IssueRow) -> Iterator[str]:
    """Yield the requirements of rules on two packages or more that an issue affects."""
    for case in issue.cases:
        for rule in case.rules:
            verdict = case.behaviours.get(rule.behaviour, rule.behaviour)
            if verdict in _BAD and len({each.name for each in requirements(rule.on)}) > 1:
                yield rule.on


def _signed(issue: IssueRow, seen: Seen, pins: Mapping[str, Pins]) -> list[dict[str, Any]]:
    """Return the signatures of an issue's symptoms; cases that share one share a row."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for case in issue.cases:
        observed = seen[issue.id, case.id]
        for signature in _signatures(issue, case, observed.values()):
            rules, cell = _where(case, signature, observed, pins)
            key = (signature.behaviour, signature.type, signature.message, signature.module, *rules)
            row = {
                **{name: of for name in ("type", "message", "module") if (of := getattr(signature, name))},
                **{name: of for name in ("everyday",) if (of := getattr(signature, name))},
                "behaviour": signature.behaviour,
                "cases": [],
                **_needed(case),
                **({"rules": rules} if any(rules) else {}),
                **({"cell": cell} if cell else {}),
            }
            rows.setdefault(key, row)["cases"].append(case.id)
    return list(rows.values())


def _needed(case: CaseRow) -> dict[str, Any]:
    """Return the highest package of the stack that a case needs, unless it is jax, and the modules of its guests."""
    on_jax = [need for need in case.needs if need in ON_JAX]
    about = max(on_jax, key=lambda need: STACK[need].layer, default="jax")
    modules = [MODULES[guest] for guest in sorted(guests(case.needs))]
    return {**({"about": about} if about != "jax" else {}), **({"guests": modules} if modules else {})}


def _signatures(issue: IssueRow, case: CaseRow, observed: Iterable[Observation]) -> Iterator[SignatureRow]:
    """Yield the signatures of a case's symptoms, the import errors that were seen, and what else its issue raises."""
    for signature in case.signatures:
        if case.behaviours.get(signature.behaviour) in SYMPTOMS:
            yield signature
    for signature in issue.also:
        if case.behaviours.get(signature.behaviour) in SYMPTOMS:
            yield signature
    if case.behaviours.get("import-error") in SYMPTOMS:
        failed = sorted({row.detail for row in observed if row.behaviour == "import-error"})
        for type, message in dict.fromkeys(found for detail in failed for found in _IMPORT.findall(detail)):
            yield SignatureRow(behaviour="import-error", type=type, message=message, module="")


def _where(
    case: CaseRow, signature: SignatureRow, observed: Mapping[str, Observation], pins: Mapping[str, Pins]
) -> tuple[list[str], str]:
    """Return the rules of the stacks on which a signature was seen, in the case's order, and the oldest stack."""
    shown = [
        cell
        for cell, row in observed.items()
        if row.behaviour == signature.behaviour and cell in pins and contains(row.detail, signature.message)
    ]
    matched = {cell: first_match(case.rules, pins[cell]) for cell in shown}
    rules = [rule for rule in case.rules if rule.behaviour == signature.behaviour]
    kept = [rule for rule in rules if any(rule is each for each in matched.values())]
    # The rule of one message may also admit the stacks where another rule matched first.
    kept = next(([rule] for rule in reversed(kept) if all(met(rule.on, pins[cell]) for cell in shown)), kept)
    joint = {rule.on for rule in kept if len({each.name for each in requirements(rule.on)}) > 1}
    own = [cell for cell in shown if any(met(on, pins[cell]) for on in joint)]
    oldest = next((cell for cell in pins if cell in own), "")
    # All rules together need no list.
    return ([] if len(kept) == len(rules) else [rule.on for rule in kept]), oldest


def _guests(report: Report, seen: Seen, pins: Mapping[str, Pins]) -> dict[str, list[str]]:
    """Return the guests that a missing name stopped, by name: `NumPyro before 0.21`."""
    found: dict[str, dict[str, str]] = {}
    for issue in report.issues:
        for case in (case for case in issue.cases if guests(case.needs)):
            for cell, row in seen[issue.id, case.id].items():
                rule = first_match(case.rules, pins[cell]) if cell in pins else None
                if rule is None or case.behaviours.get(rule.behaviour) != "affected" or rule.behaviour != row.behaviour:
                    continue
                for name, _ in missing.names(row.detail):
                    for guest, bound in _upper(rule.on):
                        told = found.setdefault(name, {})
                        told[guest] = max(told.get(guest, bound), bound, key=_Ordered)
    return {
        name: [f"{HELD[guest].title or guest} before {bound}" for guest, bound in sorted(told.items())]
        for name, told in sorted(found.items())
    }


class _Ordered:
    """A release, ordered by its numbers."""

    def __init__(self, version: str) -> None:
        self.version = version

    def __lt__(self, other: _Ordered) -> bool:
        return compared(self.version, other.version) < 0


def _upper(on: str) -> Iterator[tuple[str, str]]:
    """Yield the guests that requirements have an upper bound for, with the bound."""
    for requirement in requirements(on):
        bounds = [each.version for each in requirement.specifier if each.operator == "<"]
        if requirement.name in GUESTS and bounds:
            yield requirement.name, bounds[0]


def _timings(timed: Sequence[TimedMachine]) -> Iterator[dict[str, Any]]:
    """Yield the confirmed slow-downs on releases of jax, the largest first."""
    for machine in timed:
        for spell in spells(machine, machine.releases):
            if spell.shift.other.startswith("jax-"):
                yield _timing(spell)


def _timing(spell: Spell) -> dict[str, Any]:
    threads = list(dict.fromkeys(_THREAD.findall(spell.chart.title)))
    title = _THREAD.sub("", spell.chart.title).strip(" :,")
    title += f", {spell.series.name}" * (spell.series.name != "execute")
    return {
        "id": spell.chart.id,
        "title": title,
        "threads": [f"{repository}#{number}" for repository, number in threads],
        "words": " ".join(stems([title, spell.chart.story, "slow slower"])),
        # A thread of a library is about code that needs it.
        "packages": ["jax", *(name for name, _ in threads if name in STACK and name != "jax")],
        "base": spell.shift.base.removeprefix("jax-"),
        "since": spell.shift.other.removeprefix("jax-"),
        "until": (spell.until or "").removeprefix("jax-"),
        "factor": round(spell.factor, 1),
    }
