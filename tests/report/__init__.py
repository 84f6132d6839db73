"""Tests of laboratory.report."""
