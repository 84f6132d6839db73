"""Orders for a machine that has a device and nothing else, and the results that come home."""
