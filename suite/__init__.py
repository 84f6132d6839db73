"""The compatibility and regression suite for the JAX stack.

Both sides import this file, so its code must run in every cell.
"""

__version__ = "2026.11.24"
