"""Faults that machines, users and issues really have, a small module for each kind: none may be taken for upstream's.

The modules are cell side, and are run through the real probe by the driver's own code, as `tests.cell.corpus` is.
"""
