"""Device cases: where code ran and where its arrays are, on a device. Orders carry them; no cell for a CPU runs them.

Each module belongs to the issue with its name, and says by what an accelerator shows: the program that XLA made for it,
the memory of an array, or the address of its buffer.
"""
