"""The text and the tables of the issue modules."""
