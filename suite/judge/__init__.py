"""What an observation means: pure functions, no file, no clock, no process."""
