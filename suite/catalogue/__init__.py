"""The issues as read: entries with their sources, threads, and retired ids."""
