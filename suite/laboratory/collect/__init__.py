"""The names and the numbers of every release, collected and published."""
