"""The public names of the stack's releases: collected, stored as spans, and looked up."""
