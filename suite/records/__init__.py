"""What was seen: the key that a record holds under, records in force, their status, and the archive."""
