"""The records: the key that each holds under, those in force, their status, and the archive."""
