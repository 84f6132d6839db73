"""The schedule of one machine: which cases run side by side, which alone, and in what order."""
