"""Faults that machines, users and issues really have: none may be taken for upstream's."""
