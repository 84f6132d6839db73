"""Bisection: the release that changed a case, in few cell runs."""
