"""Diffrax solves, forward and backward, by solver, adjoint, size of the state and number of steps.

The equation is dy/dt = sin(Ay) - y with a matrix A of the state's size, float32, from 0 to 1. Explicit solvers take
constant steps; the implicit one has a PID controller with rtol = atol = 1e-4.
"""

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import _phases

_phases.preimport_diffrax()


def _field(t, y, args):
    return jnp.sin(args @ y) - y


def _solve(solver, size, steps, adjoint="RecursiveCheckpointAdjoint", *, backward=False):
    import diffrax

    implicit = solver.startswith("Kvaerno")

    def solve(y0, matrix):
        def field(t, y, args):
            return _field(t, y, args)

        controller = diffrax.PIDController(rtol=1e-4, atol=1e-4) if implicit else diffrax.ConstantStepSize()
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            getattr(diffrax, solver)(),
            t0=0.0,
            t1=1.0,
            dt0=1.0 / steps,
            y0=y0,
            args=matrix,
            saveat=diffrax.SaveAt(t1=True),
            stepsize_controller=controller,
            adjoint=getattr(diffrax, adjoint)(),
            max_steps=steps + 16,
        ).ys[-1]

    def slope(y0, matrix):
        return jax.grad(lambda matrix: solve(y0, matrix).sum())(matrix)

    matrix = np.eye(size, dtype=np.float32) + np.float32(0.1)
    return slope if backward else solve, (np.linspace(0.0, 1.0, size, dtype=np.float32), matrix)


class Forward(_phases.Slow, _phases.Host, _phases.Steady):
    """Tsit5, a state of 4, 100 steps."""

    version = "1"

    def make(self):
        """Make the solve."""
        return _solve("Tsit5", 4, 100)


class Implicit(_phases.Slow, _phases.Tracing, _phases.Executing):
    """Kvaerno5, a state of 4: Newton's method with a linear solve in each of its stages."""

    version = "1"

    def make(self):
        """Make the solve."""
        return _solve("Kvaerno5", 4, 100)


class Backward(_phases.Slow, _phases.Tracing, _phases.Executing):
    """The gradient of the final state's sum with respect to the matrix: Tsit5, a state of 4, 100 steps, checkpoints."""

    version = "1"

    def make(self):
        """Make the gradient."""
        return _solve("Tsit5", 4, 100, backward=True)


class Counts(_phases.Counts):
    """The counts of the explicit solve, forward and backward."""

    version = "1"
    params = ("forward", "backward")

    def setup_cache(self):
        """Count."""
        return self.counted()

    def make(self, workload):
        """Make a solve by its name."""
        return {"forward": Forward, "backward": Backward}[workload]().make()


class SolversLarge(_phases.Host, _phases.FirstCall, _phases.Steady):
    """Forward solves with three solvers, by the state's size and the number of steps."""

    version = "1"
    timeout = 600.0
    repeat = (2, 3, 0.1)
    params = (("Euler", "Tsit5", "Kvaerno5"), (4, 256), (100, 1000))
    param_names = ("solver", "size", "steps")

    def make(self, solver, size, steps):
        """Make the solve."""
        return _solve(solver, size, steps)


class AdjointsLarge(_phases.Host, _phases.FirstCall, _phases.Steady, _phases.DeviceBusy):
    """Gradients through Tsit5 with three adjoints, by the state's size, 100 steps."""

    version = "1"
    timeout = 600.0
    repeat = (2, 3, 0.1)
    params = (("RecursiveCheckpointAdjoint", "DirectAdjoint", "BacksolveAdjoint"), (4, 256))
    param_names = ("adjoint", "size")

    def make(self, adjoint, size):
        """Make the gradient."""
        return _solve("Tsit5", size, 100, adjoint, backward=True)
