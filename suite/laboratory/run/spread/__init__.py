"""One run on several machines: parts of a plan with equal costs, and the workers of a Dask scheduler."""
