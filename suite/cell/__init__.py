"""Cell side: the vocabulary of the issues, and the probe that runs them in an environment under test."""

from suite.cell.issue import Case, Issue, Rule, Signature, Upstream, Workaround
from suite.cell.oracle import compare
from suite.cell.touches import GRADIENTS, MAPS, members

__all__ = ["GRADIENTS", "MAPS", "Case", "Issue", "Rule", "Signature", "Upstream", "Workaround", "compare", "members"]
