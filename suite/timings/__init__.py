"""The release line timed by asv."""
