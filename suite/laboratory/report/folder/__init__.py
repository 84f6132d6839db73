"""A report's folder: compat.json and the observations, which are read again, and what is written beside them."""
