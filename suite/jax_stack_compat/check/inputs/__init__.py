"""Inputs of `check`: locks, requirements, environments and declared bounds; read, never executed."""
