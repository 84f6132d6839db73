"""The documented issues, one module each: tables of data, and functions that run in a cell."""
