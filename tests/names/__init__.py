"""Tests of suite/names."""
