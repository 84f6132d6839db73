"""Cell side: the vocabulary of the issues, and the probe that runs them in an environment under test."""

from jax_stack_compat.cell.issue import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround
from jax_stack_compat.cell.oracle import compare
from jax_stack_compat.cell.touches import DERIVATIVES, GRADIENTS, MAPS, members

__all__ = [
    "DERIVATIVES",
    "GRADIENTS",
    "MAPS",
    "Case",
    "Elsewhere",
    "Issue",
    "Rule",
    "Signature",
    "Upstream",
    "Workaround",
    "compare",
    "members",
]
