"""What bites an environment, a lock, a source tree, a branch: the published rules and runs, asked by one command."""
