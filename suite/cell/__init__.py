"""Cell side: the vocabulary of the issues, and the probe that runs them in an environment under test."""

from suite.cell.issue import Case, Issue, Rule, Signature, Upstream, Workaround
from suite.cell.oracle import compare

__all__ = ["Case", "Issue", "Rule", "Signature", "Upstream", "Workaround", "compare"]
