"""The public names in each release of the stack's packages: collected, stored as spans, and looked up."""
