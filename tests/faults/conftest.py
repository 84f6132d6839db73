"""The fixtures of a machine and of its foreign code."""

from tests.faults.machine import early, environment, machine

__all__ = ["early", "environment", "machine"]
