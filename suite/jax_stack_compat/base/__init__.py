"""Errors, files, fields, spelling, bounded reading, foreign text and the console."""
