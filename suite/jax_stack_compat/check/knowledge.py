"""The knowledge in check.json: issues, rules and runs. Read without pydantic, to start fast.

In a clone the file is in the published report; in a wheel it is beside this module.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.version import Version

from jax_stack_compat.base.address import link
from jax_stack_compat.base.errors import usable
from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check.on_devices import KnownDevice
from jax_stack_compat.judge.prediction import Name, with_jaxlib
from jax_stack_compat.judge.rules import Pins, Run, first_match, requirements
from jax_stack_compat.judge.verdict_table import VERDICTS, Verdict

_CARRIED = Path(__file__).with_name("check.json")
_PUBLISHED = Path(__file__).parents[3] / "reports" / "published" / "check.json"
PATH = _CARRIED if _CARRIED.exists() else _PUBLISHED
SCHEMA = 1
_VERDICTS: Mapping[str, Verdict] = {each: each for each in VERDICTS}


# Compared by identity, so that answers about it can be cached.
@dataclass(frozen=True, eq=False)
class KnownCase:
    """A case as published; `helped` has the result of its workaround by cell.

    The workaround is `verified` if it also helped on other inputs than the example's, wherever it ran on them.
    `touches` are its own, else those of its issue.
    """

    id: str
    needs: tuple[str, ...]
    behaviours: Mapping[str, str]
    conditions: tuple[str, ...]
    rules: tuple[Rule, ...]
    workaround: str
    fails: tuple[str, ...]
    runs: tuple[Run, ...]
    helped: Mapping[str, str]
    touches: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    verified: bool = False

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The packages that its rules name, in their order."""
        return tuple(dict.fromkeys(each.name for rule in self.rules for each in requirements(rule.on)))

    def by_rule(self, pins: Pins) -> Verdict | None:
        """Return the verdict that the first rule for a stack expects, if one matches."""
        rule = first_match(self.rules, pins)
        return self.verdict(rule.behaviour) if rule else None

    def verdict(self, behaviour: str) -> Verdict:
        """Return the verdict on a behaviour; a verdict stands for itself."""
        return _VERDICTS.get(self.behaviours.get(behaviour, behaviour), "different")


@dataclass(frozen=True)
class KnownIssue:
    """An issue as published."""

    id: str
    title: str
    kind: str
    row_zero: bool
    touches: tuple[str, ...]
    upstream: tuple[str, ...]
    cases: tuple[KnownCase, ...]

    @property
    def link(self) -> str:
        """The address of upstream's first thread or page about it."""
        return link(self.upstream[0]) if self.upstream else ""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that was published, with its day; `cells` are the stacks that were run, by id. `devices` ran cases, too."""

    day: str
    cells: Mapping[str, Pins]
    issues: tuple[KnownIssue, ...]
    devices: tuple[KnownDevice, ...] = ()

    @cached_property
    def cases(self) -> Mapping[Name, KnownCase]:
        """All cases, by the ids of issue and case."""
        return {(issue.id, case.id): case for issue in self.issues for case in issue.cases}

    @cached_property
    def releases(self) -> Mapping[str, list[str]]:
        """The releases that were run, oldest first, by package."""
        found: dict[str, set[str]] = {}
        for pins in self.cells.values():
            for name, version in pins.items():
                found.setdefault(name, set()).add(version)
        return {name: sorted(of, key=Version) for name, of in found.items()}

    @cached_property
    def jaxlibs(self) -> Mapping[str, Pins]:
        """The jax and the jaxlib that an installer gives with it, by release of jax."""
        return {jax: with_jaxlib({"jax": jax}, self.cells.values()) for jax in self.releases.get("jax", ())}

    @cached_property
    def row_zero(self) -> frozenset[str]:
        """The issues that test if a stack works at all."""
        return frozenset(issue.id for issue in self.issues if issue.row_zero)


def load(path: Path = PATH) -> Knowledge:
    """Read the knowledge at `path`. Raises BadFile if it is missing, or of another version of the suite."""
    with usable(path, "nox -s rebuild"):
        return parsed(path.read_text(encoding="utf-8"))


def parsed(text: str) -> Knowledge:
    """Return the knowledge in the text of a check.json. Raises ValueError, and others for a damaged text."""
    data = json.loads(text)
    if data["schema_version"] != SCHEMA:
        raise ValueError(f"its schema is {data['schema_version']}, but this version reads {SCHEMA}")
    cells = dict(data["cells"])
    issues = tuple(_issue(each, cells, data["kinds"]) for each in data["issues"])
    devices = tuple(map(_device, data.get("devices", ())))
    return Knowledge(str(data["generated_at"])[:10], cells, issues, devices)


def _device(row: Mapping[str, Any]) -> KnownDevice:
    seen = {(issue, case): behaviour for issue, of in row["seen"].items() for case, behaviour in of.items()}
    numbers = {function: (int(count), str(example)) for function, (count, example) in row["numbers"].items()}
    return KnownDevice(row["jax"], row["platform"], row["kind"], seen, numbers)


def _issue(row: Mapping[str, Any], cells: Mapping[str, Pins], kinds: list[list[str]]) -> KnownIssue:
    own = {name: row[name] for name in ("id", "title", "kind", "row_zero")}
    touches = tuple(row["touches"])
    cases = tuple(_case(each, touches, cells, kinds) for each in row["cases"])
    return KnownIssue(**own, touches=touches, upstream=tuple(row["upstream"]), cases=cases)


def _case(
    row: Mapping[str, Any], touches: tuple[str, ...], cells: Mapping[str, Pins], kinds: list[list[str]]
) -> KnownCase:
    text, *fails = row["workaround"] or [""]
    numbers = [kind for kind, count in zip(row["runs"][::2], row["runs"][1::2], strict=True) for _ in range(count)]
    seen = [(id, pins, *kinds[kind]) for (id, pins), kind in zip(cells.items(), numbers, strict=True) if kind >= 0]
    return KnownCase(
        id=row["id"],
        needs=tuple(row["needs"]),
        behaviours=row["behaviours"],
        conditions=tuple(row["conditions"]),
        rules=tuple(Rule(*each) for each in row["rules"]),
        workaround=text,
        fails=tuple(fails),
        runs=tuple(Run(id, pins, behaviour) for id, pins, behaviour, _ in seen),
        helped={id: helped for id, _, _, helped in seen},
        touches=tuple(row.get("touches", touches)),
        waits_for=tuple(row.get("waits_for", ())),
        verified=bool(row.get("verified")),
    )
