"""Known issues of an environment, a lock, a source tree or a branch, by the published rules and runs.

`check` reads a lock (`inputs`), looks up its `versions`, and predicts each case (`answer`, `good`). What goes wrong
becomes `findings`, for the stack or for the uses in a `source`. An `outcome` has the exit code; `output` prints it.
Declared bounds (`holes`), tracebacks (`explain`), `needs` and `trial` have answers of their own from the same data.
"""
