"""Where a case changes along the releases, and which package changed it. Pure."""
