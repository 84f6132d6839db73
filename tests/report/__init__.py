"""Tests of suite.report."""
