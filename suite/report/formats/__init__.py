"""The report as text: terminal, Markdown, feed and data."""
