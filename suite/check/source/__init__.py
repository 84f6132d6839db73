"""A source tree: which names of the stack it uses, and where; by LibCST, and never by its text alone."""
