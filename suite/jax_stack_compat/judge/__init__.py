"""The meaning of observations: pure functions without files, clock or processes."""
