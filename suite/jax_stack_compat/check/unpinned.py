"""Stacks without exact versions: what an installer gives today, and the lowest releases that the bounds admit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from jax_stack_compat.check.inputs.bounds import bounds
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.installs import admits, refusals
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.judge.rules import in_stack_order
from jax_stack_compat.packages import STACK


def of_bounds(path: Path) -> Stack:
    """Return the stack of a pyproject.toml that has only bounds. Raises BadFile."""
    declared = bounds(path)
    loose = {name: f"{name}{of}" for name, of in declared.packages.items()}
    return Stack({}, str(path), unsaid={**loose, **declared.unsaid}, bounds=declared.packages)


def today(stack: Stack, knowledge: Knowledge) -> Stack:
    """Return the stack that an installer gives for its bounds today, as far as the data goes."""
    return _chosen(stack, knowledge, "as an installer gives it today", newest=True)


def lowest(stack: Stack, knowledge: Knowledge) -> Stack:
    """Return the stack with the lowest releases in the data that its bounds admit."""
    return _chosen(stack, knowledge, "the lowest releases that it admits", newest=False)


def is_unpinned(stack: Stack) -> bool:
    """Return True if a package of the stack has bounds and no exact version."""
    return not stack.bounds.keys().isdisjoint(STACK)


def _chosen(stack: Stack, knowledge: Knowledge, how: str, *, newest: bool) -> Stack:
    chosen = dict(stack.versions)
    for name in in_stack_order(stack.bounds.keys() & knowledge.releases.keys()):
        within = [each for each in knowledge.releases[name] if stack.bounds[name].contains(each, prereleases=True)]
        offered = [each for each in within if admits(name, each, stack.python)]
        fit = _fitting(name, reversed(offered) if newest else offered, chosen, stack.python)
        chosen |= {name: fit} if fit else {}
    unsaid = {name: words for name, words in stack.unsaid.items() if name not in chosen}
    return replace(stack, versions=chosen, unsaid=unsaid, bounds={}, where=f"{stack.where}, {how}")


def _fitting(name: str, releases: Iterable[str], chosen: dict[str, str], python: str) -> str | None:
    """Return the first of these releases that the chosen ones admit, and that admits them."""
    return next((each for each in releases if not refusals({**chosen, name: each}, python)), None)
