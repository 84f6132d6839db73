"""Cell side: the walk of names and the calls of numerical functions, on each release."""
