"""The report as a static site."""
