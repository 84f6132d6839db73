"""The report as text: terminal, Markdown, feed, CSV."""
