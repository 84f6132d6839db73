"""From lock to record: interpreters, environments, and the run of one cell."""
