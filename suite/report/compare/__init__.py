"""One report held against another: what changed since, and how much of it regressed."""
