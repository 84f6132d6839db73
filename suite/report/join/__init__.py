"""The shards of a run as one report."""
