"""Programs for absent devices: compiled by each release of jax, counted, and never run.

cell's lock ──► + wheels ──► environment ──► benchmarks._program ──► benchmarks/programs/<target>.json ──► changes
                (a compiler for the device)      (in the cell)              (counts, or the reason)
"""
