"""One run on several machines: the parts of a plan that cost the same, and the workers of a Dask scheduler."""
