"""Tests of suite/judge."""
