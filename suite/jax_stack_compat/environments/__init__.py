"""Environments from pins, and the probe that runs in one."""
