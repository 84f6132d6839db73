"""Explanations of tracebacks and error messages: what was raised, the issues and names that match, and the words."""
