"""The names in the stack's releases: walked, stored as spans, and looked up."""
