"""Looking up an environment, a lock, a source tree."""
