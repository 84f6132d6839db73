"""The command line of the laboratory, and the nox sessions."""
