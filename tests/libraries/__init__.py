"""Tests of the libraries on JAX: search, judgement, what check says, and bounds."""
