"""The comparison of two reports."""
