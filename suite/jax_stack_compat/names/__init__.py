"""The public names in each release of the stack's packages, stored as spans: the query."""
