"""The report as text: terminal, Markdown and data."""
