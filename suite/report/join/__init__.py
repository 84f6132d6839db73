"""Reports from several machines as one: the shards of a run, and results that were sent in."""
