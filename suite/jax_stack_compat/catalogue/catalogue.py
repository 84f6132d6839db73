"""The issues, read from their folder: each is the `ISSUE` of a module in `jax_stack_compat.issues`."""

from __future__ import annotations

import importlib
import re
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Protocol, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from jax_stack_compat import issues as folder
from jax_stack_compat.base.errors import BadFile, Exit, Fault, Misused, nearest, say
from jax_stack_compat.base.spelling import identifier as checked
from jax_stack_compat.base.spelling import quoted, specifiers
from jax_stack_compat.cell import elsewhere
from jax_stack_compat.cell.issue import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, no_control
from jax_stack_compat.judge import rules
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.judge.verdicts import GIVEN
from jax_stack_compat.packages import BESIDE, HELD, guests
from jax_stack_compat.stack import chosen
from jax_stack_compat.stack.chosen import Rows
from jax_stack_compat.stack.matrix import Runs
from jax_stack_compat.stack.plan import Cell

# Another dtype, another shape, and ordinary values.
_FEWEST_INPUTS = 3


@dataclass(frozen=True)
class Entry:
    """An issue, its module, and the module's source file."""

    issue: Issue
    module: str
    source: Path
    _cases: dict[tuple[Runs, frozenset[str]], tuple[Case, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def cases(self, cell: Cell) -> tuple[Case, ...]:
        """Return the cases to run in a cell."""
        asked = cell.runs, cell.guests
        if asked not in self._cases:
            self._cases[asked] = run_where(*asked, self.issue.cases, row_zero=self.issue.row_zero)
        return self._cases[asked]


def entries() -> tuple[Entry, ...]:
    """Return every readable issue: row zero first, then by name. Raises BadFile with every fault in the tables."""
    return _read()[0]


def unread() -> Mapping[str, Fault]:
    """Return why modules cannot be read, by the ids of their issues. The other issues still run. Raises BadFile."""
    return _read()[1]


def complete(identifiers: Collection[str] = ()) -> Exit:
    """Return INCOMPLETE if the command is about all issues and one of them is unreadable, else success."""
    return Exit.INCOMPLETE if unread() and not identifiers else Exit.AS_EXPECTED


@cache
def _read() -> tuple[tuple[Entry, ...], Mapping[str, Fault], Mapping[str, tuple[Entry, Case]]]:
    read: list[Entry] = []
    wrong: list[Fault] = []
    lost: dict[str, Fault] = {}
    for module in folder.modules():
        spec = find_spec(module)
        path = Path(str(spec and spec.origin))
        try:
            found = entry(module)
        except (Exception, SystemExit) as error:  # an error in one module must not stop the other issues
            lost[folder.basename(module).replace("_", "-")] = _unread(path, error)
            continue
        read.append(found)
        of_table = faults(found)
        if not of_table and found.issue.module != found.module:
            of_table = [Fault(path, "cases", f"the first reproducer is in {found.issue.module}, not in this module")]
        wrong += of_table
    named = {} if wrong else {f"{of.issue.id}/{case.id}": (of, case) for of in read for case in of.issue.cases}
    for of, case in named.values():
        gone = (name for name in case.waits_for if name not in named and name.partition("/")[0] not in lost)
        wrong += [Fault(of.source, f"{case.id}.waits_for", f"{name!r} is not a case") for name in gone]
    if wrong or not read:
        raise BadFile([*lost.values(), *wrong])
    for fault in lost.values():
        say(str(fault))
    return tuple(sorted(read, key=lambda each: not each.issue.row_zero)), lost, named


def entry(module: str) -> Entry:
    """Return the issue in `module`. Raises any error of the import, and TypeError without an issue."""
    loaded = importlib.import_module(module)
    if not isinstance(issue := getattr(loaded, "ISSUE", None), Issue):
        raise TypeError("it does not define ISSUE as an Issue")
    found = Entry(issue, module, Path(str(loaded.__file__)))
    # Check that the source can be read as text, since it is hashed and shown.
    found.source.read_text(encoding="utf-8")
    return found


def _unread(path: Path, error: BaseException) -> Fault:
    """Return a module's own error as a fault, at the line of the module that raised it."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(path)]
    if isinstance(error, SyntaxError):
        lines.append(error.lineno)
    said = str(error).partition("\n")[0]
    why = f"the module cannot be read, so its issue is left out: {type(error).__name__}: {said}"
    return Fault(path, f"line {lines[-1]}" if lines else "module", why)


def identified(identifier: str) -> str:
    """Return `identifier` if it is an issue's id. Raises Misused with the nearest names, and BadFile."""
    known = [each.issue.id for each in entries()]
    if identifier in unread():
        raise BadFile([unread()[identifier]])
    if identifier not in known:
        raise Misused(f"no issue {identifier!r}; {nearest(identifier, known)}")
    return identifier


def select(identifiers: list[str], *, headlines: bool = False) -> tuple[Entry, ...]:
    """Return the issues with these ids, or all issues without ids; with `headlines`, only the first case of each.

    Raises Misused with the nearest names, and BadFile.
    """
    wanted = [identified(each) for each in identifiers]
    chosen = [each for each in entries() if not wanted or each.issue.id in wanted]
    return tuple(narrowed(each, [each.issue.cases[0].id]) if headlines else each for each in chosen)


def planned(entries: Sequence[Entry], cell: Cell, rows: Rows) -> tuple[Entry, ...]:
    """Return the `entries` with the cases that a run of these rows plans in a cell. Raises BadFile."""
    return tuple(each for each in entries if chosen.is_planned(each.issue.id, dict(cell.holds), rows))


def awaited(case: Case) -> Mapping[str, tuple[Entry, Case]]:
    """Return the cases for which `case` waits, by the names in its `waits_for`. Raises BadFile."""
    known = _read()[2]
    return {name: known[name] for name in case.waits_for if name in known}


def by_rule(case: Case, pins: rules.Pins) -> Mapping[str, Verdict]:
    """Return the verdicts, by rule, on the cases for which `case` waits under these pins. Raises BadFile."""
    told = {name: (of, rules.expected(of, pins)) for name, (_, of) in awaited(case).items()}
    return {name: of.behaviours[rule.behaviour] for name, (of, rule) in told.items() if rule is not None}


def narrowed(entry: Entry, identifiers: Collection[str]) -> Entry:
    """Return the issue with only these of its cases."""
    cases = tuple(case for case in entry.issue.cases if case.id in identifiers)
    return replace(entry, issue=replace(entry.issue, cases=cases))


class _Needing(Protocol):
    @property
    def needs(self) -> Collection[str]: ...

    @property
    def rules(self) -> Iterable[rules.AnyRule]: ...


C = TypeVar("C", bound=_Needing)
_OF_JAX = frozenset(["jax", "jaxlib"])


def run_where(runs: Runs, holds: Collection[str], cases: Sequence[C], *, row_zero: bool) -> tuple[C, ...]:
    """Return the cases of an issue to run in a cell that holds these packages, by the cell's `runs`; row zero: all.

    A case that needs a guest runs in the cells that hold the guest, and these cells run no other case. Most arms ask
    about libraries, so they run only the cases that need a library. The cell of a jax release runs the other cases.
    With "headlines", one such case of each issue is enough, because another arm runs all of them. With "jax", the arm
    asks about jaxlib, and runs the cases that need no library.
    """
    held = guests(holds)
    there = tuple(case for case in cases if (each := guests(case.needs)) <= held and bool(each) == bool(held))
    if held or row_zero or runs == "all":
        return there
    if runs == "row-zero":
        return ()
    if runs == "beside":
        return tuple(case for case in there if not BESIDE.isdisjoint(rules.concerned((), case.rules)))
    of_kind = tuple(case for case in there if _OF_JAX.issuperset(case.needs) == (runs == "jax"))
    return of_kind[:1] if runs == "headlines" else of_kind


def faults(found: Entry) -> list[Fault]:
    """Return the faults in an issue's tables."""
    issue, wrong = found.issue, []

    def note(key: str, message: str) -> None:
        wrong.append(Fault(found.source, key, message))

    try:
        _TABLES.validate_python((issue,))
    except ValidationError as error:
        # The validation covers the tables' types only.
        return [Fault(found.source, _key(issue, each["loc"][1:]), each["msg"]) for each in error.errors()]
    if not issue.cases:
        note("cases", "is empty")
    for number, case in enumerate(issue.cases):
        for name, function in (("reproducer", case.reproducer), ("control", case.control)):
            if not isinstance(function, FunctionType):
                note(f"cases.{number}.{name}", "is not a function of the module")
        if case.control is no_control:
            note(f"cases.{number}.control", "is missing")
    if wrong:
        return wrong
    ids = [case.id for case in issue.cases]
    for twice in sorted({each for each in ids if ids.count(each) > 1}):
        note("cases", f"{twice!r} is listed twice")
    try:
        re.compile(issue.known_by)
    except re.error as error:
        note("known_by", f"{issue.known_by!r} is not a regular expression: {error}")
    known = {name for case in issue.cases for name in case.behaviours}
    for name in sorted(issue.also.keys() - known):
        note("also", f"{name!r} is not a behaviour of a case")
    for case in issue.cases:
        for key, message in _of_case(case):
            note(f"{case.id}.{key}", message)
    for text in (issue.title, issue.story, *(case.question for case in issue.cases), *_texts(issue)):
        if text != text.encode(errors="replace").decode():
            note("texts", f"{quoted(text)} has a lone surrogate, and cannot be written")
    return wrong


# Validate the tables by the types in their classes.
_TABLES = TypeAdapter(
    tuple[Issue],
    config=ConfigDict(strict=True, revalidate_instances="always", arbitrary_types_allowed=True, allow_inf_nan=False),
)


def _key(issue: Issue, place: Sequence[str | int]) -> str:
    """Return the path of a fault's field, with the case's id if it has one."""
    if len(place) > 1 and place[0] == "cases":
        function = getattr(issue.cases[int(place[1])], "reproducer", None)
        name = getattr(function, "__name__", "").replace("_", "-")
        return ".".join(map(str, [name, *place[2:]] if name else place))
    return ".".join(map(str, place))


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a table."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.items() for text in _texts(each))
    elif isinstance(value, tuple):
        yield from (text for each in value for text in _texts(each))
    elif isinstance(value, Issue | Case | Rule | Workaround | Signature | Upstream):
        yield from _texts(tuple(vars(value).values()))


def _of_case(case: Case) -> Iterator[tuple[str, str]]:
    for key, name in [("reproducer", case.id), *(("behaviours", each) for each in case.behaviours)]:
        try:
            checked(name)
        except ValueError as error:
            yield key, str(error)
    for name in ("seconds", "memory_mib", "host_devices"):
        if getattr(case, name) <= 0:
            yield name, "it must be greater than 0"
    of_workaround = case.workaround.environment if case.workaround else {}
    for key, environment in (("environment", case.environment), ("workaround.environment", of_workaround)):
        if odd := [name for name, value in environment.items() if not name or "=" in name or "\0" in name + value]:
            yield key, f"{odd[0]!r} cannot be set"
    for name in case.signatures:
        if name in GIVEN.values():
            yield "signatures", f"only the probe gives {name!r}"
    for number, rule in enumerate(case.rules):
        if rule.behaviour not in case.behaviours:
            yield f"rules.{number}", f"{rule.behaviour!r} is not among the behaviours"
        yield from _of_requirements(f"rules.{number}", rule.on)
        if not rule.on and number + 1 < len(case.rules):
            yield f"rules.{number}", "it matches every stack, so later rules never apply"
    if case.workaround is not None:
        if case.workaround.pin and (case.workaround.code or case.workaround.environment):
            yield "workaround", "a pin cannot have code or environment too"
        yield from _of_requirements("workaround.pin", case.workaround.pin)
        for number, on in enumerate(case.workaround.fails):
            yield from _of_requirements(f"workaround.fails.{number}", on)
        if isinstance(case.workaround.elsewhere, Elsewhere):
            yield from _of_inputs(case.workaround.elsewhere)
    for name in case.needs:
        if name not in HELD:
            yield "needs", f"{name!r} is not one of {', '.join(HELD)}"
    try:
        specifiers(case.python)
    except ValueError as error:
        yield "python", str(error)


def _of_inputs(inputs: Elsewhere) -> Iterator[tuple[str, str]]:
    key = "workaround.elsewhere.inputs"
    if len(inputs.inputs) < _FEWEST_INPUTS:
        yield key, f"there are {len(inputs.inputs)}; a workaround runs on at least {_FEWEST_INPUTS} other inputs"
    for argument in (argument.strip() for call in inputs.inputs for argument in call.split(",")):
        try:
            elsewhere.parsed(argument)
        except ValueError as error:
            yield key, str(error)


def _of_requirements(key: str, on: str) -> Iterator[tuple[str, str]]:
    try:
        for requirement in rules.requirements(on):
            if requirement.name not in HELD.keys() | BESIDE:
                yield key, f"{requirement.name!r} is not of the stack, nor a guest"
            elif requirement.name in BESIDE and requirement.specifier:
                yield key, f"a rule can ask only if {requirement.name} is present, not for its version"
    except ValueError as error:
        yield key, str(error)
