"""The schedule of one machine: which cases run side by side, which run alone, and in what order."""
