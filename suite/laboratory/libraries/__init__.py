"""The run of the libraries: their stacks, what each did there, and the published file."""
