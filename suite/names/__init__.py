"""What names each release of the stack has: asked of the releases, kept as spans, and looked up."""
