"""`python -m laboratory`, which the nox sessions call."""

from laboratory.cli.command_line import end_with

if __name__ == "__main__":
    end_with()
