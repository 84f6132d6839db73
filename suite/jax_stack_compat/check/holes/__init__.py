"""Holes in declared bounds: releases that they admit and on which documented issues show."""
