"""Real faults of machines, users and issues: none may count as upstream's."""
