"""The compatibility and regression suite for the JAX stack.

This file is imported on both sides, in every cell: it holds nothing that would not run there.
"""

__version__ = "2026.11.24"
