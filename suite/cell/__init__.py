"""Cell side: the vocabulary of the issues, and the probe that runs them in an environment under test."""
