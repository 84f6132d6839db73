"""Stacks to install: index, releases, matrix, plan, locks."""
