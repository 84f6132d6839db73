"""Interpreters, and the call of the probe in one."""
