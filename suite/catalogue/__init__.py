"""The issues, read: entries with their sources, threads, and retired ids."""
