"""The results of jax's functions on each release, stored as spans: the query."""
