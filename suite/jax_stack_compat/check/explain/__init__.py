"""Explanations of tracebacks and error messages: find the exceptions, match issues and names, and phrase the answer."""
