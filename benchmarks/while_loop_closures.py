"""Traces of loops and solves whose functions close over arrays, as in the issue `tracer-hash-while-loop`.

If a loop's function closes over a tracer, the trace makes that a constant of the loop.
"""

import jax
import numpy as np

from benchmarks import _phases

_phases.preimport_diffrax()


def _loop(closed_over, note=lambda: None):
    def run(x, arrays):
        def cond_fun(carry):
            return (carry[0] < 10) & (carry[1].sum() < 1e6)

        def body_fun(carry):
            note()
            return carry[0] + 1, sum(arrays, carry[1])

        return jax.lax.while_loop(cond_fun, body_fun, (0, x))

    return run, (np.ones(4, np.float32), [np.ones(4, np.float32)] * closed_over)


def _solve(closed_over, note=lambda: None):
    import diffrax

    def run(y0, arrays):
        def field(t, y, args):
            note()
            return sum(arrays, -y)

        solver, saveat = diffrax.Tsit5(), diffrax.SaveAt(t1=True)
        return diffrax.diffeqsolve(diffrax.ODETerm(field), solver, 0.0, 1.0, 0.1, y0, saveat=saveat).ys

    return run, (np.ones(4, np.float32), [np.ones(4, np.float32)] * closed_over)


class WhileLoop(_phases.Tracing, _phases.Lowering):
    """A `lax.while_loop` over 4 float32 whose body closes over 0 or 64 more arrays of 4."""

    version = "1"
    params = (0, 64)
    param_names = ("closed_over",)

    def make(self, closed_over):
        """Make the loop."""
        return _loop(closed_over)


class Diffeqsolve(_phases.Slow, _phases.Tracing):
    """A `diffeqsolve` (Tsit5, constant steps) of 4 float32 whose vector field closes over 0 or 64 more arrays of 4."""

    version = "1"
    params = (0, 64)
    param_names = ("closed_over",)

    def make(self, closed_over):
        """Make the solve."""
        return _solve(closed_over)


class Traces:
    """The number of calls of the inner Python function in one trace."""

    version = "1"
    timeout = 180.0
    rounds = 1
    params = ("while_loop", "diffeqsolve")
    param_names = ("workload",)

    def track_traces(self, workload):
        """Calls of the loop's body, or of the vector field, in one trace."""
        _phases.assert_sound()
        calls = []
        make = {"while_loop": _loop, "diffeqsolve": _solve}[workload]
        function, args = make(1, lambda: calls.append(None))
        _phases.trace(jax.jit(function), *args)
        return len(calls)

    track_traces.unit = "traces"


class Counts(_phases.Counts):
    """The counts of the loop and of the solve, each of which closes over one array."""

    version = "1"
    params = ("while_loop", "diffeqsolve")

    def setup_cache(self):
        """Count."""
        return self.counted()

    def make(self, workload):
        """Make a workload by its name."""
        return {"while_loop": _loop, "diffeqsolve": _solve}[workload](1)
