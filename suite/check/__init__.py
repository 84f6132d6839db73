"""Known issues of an environment, a lock, a source tree or a branch, by the published rules and runs."""
