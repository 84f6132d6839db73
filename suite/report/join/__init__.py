"""What several machines saw, as one report: the shards of a run, and what somebody sent in."""
