"""What there is to look up: a lock, requirements, an environment, declared bounds; read, and never executed."""
