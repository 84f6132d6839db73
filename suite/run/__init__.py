"""Lock to record: interpreter, environment, one cell's run, and what is kept of it."""
