"""The lines of a source tree that another set of releases breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from jax_stack_compat.check.finding import Finding
from jax_stack_compat.check.source import lacks
from jax_stack_compat.check.source.conditions import excludes
from jax_stack_compat.check.source.uses import NOWHERE, Usage, Use
from jax_stack_compat.judge.rules import Pins


class Lines:
    """The lines of a source that work on its `versions`, as far as names and arguments tell; without versions, all."""

    def __init__(self, usage: Usage, versions: Pins) -> None:
        self._uses = usage.uses
        self._versions = versions

    def count(self, pins: Pins) -> int:
        """Return how many different uses work now and fail on these releases."""
        return sum(_fails(use, {**self._versions, **pins}) for use in self._working)

    def broken(self, pins: Pins) -> Sequence[Finding]:
        """Return the lines that work now and fail on these releases."""
        found = _certain(self._uses, {**self._versions, **pins})
        old = {(finding.key, finding.name) for finding in _certain(self._uses, self._versions)}
        return [finding for finding in found if (finding.key, finding.name) not in old]

    @cached_property
    def _working(self) -> Sequence[Use]:
        """The different uses that work now; code uses most names many times."""
        uses = dict.fromkeys(replace(use, place=NOWHERE) for use in self._uses if "*" not in use.place.ignored)
        return [use for use in uses if not _fails(use, self._versions)]


def _certain(uses: Sequence[Use], versions: Pins) -> Sequence[Finding]:
    found = lacks.findings(uses, versions)
    return [each for each in found if each.level == "certain" and not each.guarded and "*" not in each.place.ignored]


def _fails(use: Use, versions: Pins) -> bool:
    return lacks.lack(use, versions) is not None and not excludes(use.guards, versions)
