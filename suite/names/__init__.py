"""The names of each release of the stack: asked of the releases, kept as spans, and looked up."""
