"""The project's own upkeep: the index, locks, release days, threads, keys, pins, the default plan."""
