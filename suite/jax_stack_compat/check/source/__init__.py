"""The names of the stack that a source tree uses, read from syntax trees, never from the text alone."""
