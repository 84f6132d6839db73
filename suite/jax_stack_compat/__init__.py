"""The compatibility and regression suite for the JAX stack.

The driver and the cells import this file, so its code must run in every cell.
"""

__version__ = "2026.11.24"
