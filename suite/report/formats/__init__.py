"""The report as text: terminal, feed, badges, JUnit."""
