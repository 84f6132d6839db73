"""What there is to install: index, releases, matrix, plan, locks."""
