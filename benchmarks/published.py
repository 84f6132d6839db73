"""Published slow-downs with figures, each with a reproducer, to compare the releases of the line with them.

Each reproducer is ours, and measures what the thread measured. If the thread's sizes take long, `...Large` has them,
and the other class has smaller ones. A docstring names the thread, its figures, and the results here. All figures are
from a CPU of the reporter, so only the factor can be compared: the time after over the time before. On two cores of an
AMD EPYC, in November 2026, by `nox -s bench-compare` (what is in brackets, by `nox -s bench`):

    thread        published  here         at, and until
    diffrax#518   8          4.7 (7.8)    jax 0.4.33 (0.6.0); 0.7.1 is fast again
    diffrax#606   20, 17     (3.3, 23)    diffrax 0.6.1, and jax 0.5.3 with diffrax 0.7.0; in Large, and the thread's
                                          first figure is of another program
    equinox#1082  over 15    3.4 (42)     jax 0.7.1 alone; with 5000 passes (and 100 000, in Large)
    jax#25190     20         147          jax 0.4.33 to 0.5.2. On one device a pass takes a nanosecond before it, and
                                          half a microsecond on the thread's 96, which may share cores
    jax#26145     5.5        5.7          jax 0.4.33; to 0.11.2, though the thread has it gone in 0.6.0, by faster
                                          float64 exponentials: with 4 compartments they may matter less
    jax#31282     33         3.1 (12)     jax 0.7.1 alone; with 5000 passes (and with the thread's 100 000, in Large)
    jax#31284     5.5, 35    4.8 (28)     jax 0.7.1 alone; with 10 000 passes (and 80 000, in Large)
    jax#36799     10         7.3          jax 0.4.33 to 0.11.2
    jax#40101     9400       196          jax 0.11.1 alone; quadratic, and with a tenth of the thread's passes

diffrax#711 has no such step here: it is twice as slow on some releases since 0.4.31, and on others not. diffrax#680 is
slower on none of those that it names, and 25 times on jax 0.11.1, as jax#40101 is. equinox#1082 has a step that it does
not name: from jax 0.4.33 on it takes 2 to 12 times as long as on 0.4.31, by `nox -s bench`.

Published workarounds are timed as well (`time_workaround`), on fourteen releases: the time without over the time with,
where the benchmark is slow. The time without the workaround is from another day.

    old runtime           diffrax#518 3.2 to 6.5; jax#25190 17 to 155; jax#26145 3.3 to 8.1; jax#36799 4.8 to 21: up to
                          jax 0.6.2, the last release that has it; diffrax#680 7 to 19 up to 0.5.0, and 1.2 in 0.5.3
                          and 0.6.0; diffrax#711 0.8 to 1.3 up to 0.5.3, no help
    indices drawn before  jax#31284 82 (470 in Large); jax#31282 1.1 (1.0 in Large) and equinox#1082 1.0, no help
    stacked in blocks     jax#40101 11; on other releases it takes up to twice as long

diffrax#606, whose compilation is slow, came to another release of Diffrax, and diffrax#680 to another of jax: those are
on the line. The advice in diffrax#615 and #627 was the old runtime.

jax-ml/jax#31319 is left out, since it needs no timing: see the issue `callbacks-off-the-fast-path`. The thread of that
week that has figures of a slow-down in loops, jax-ml/jax#31284, is here beside #31282.
"""

import abc
import os

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import _phases

_phases.preimport_diffrax()


def _wide():
    """Set double precision for this process; each benchmark has its own process."""
    jax.config.update("jax_enable_x64", True)


class _Run(_phases.Executing):
    version = "1"

    def time_execute(self, *params):
        """Time a call until its result is ready."""
        super().time_execute(*params)

    time_execute.number = 1
    time_execute.repeat = (3, 20, 0.3)


class _Avoided(_Run):
    @abc.abstractmethod
    def avoid(self):
        """Return the same computation as `make`, with the thread's workaround."""

    def time_workaround(self):
        """Time a call of the workaround until its result is ready."""
        self.make = self.avoid
        self.time_execute()

    time_workaround.number = _Run.time_execute.number
    time_workaround.repeat = _Run.time_execute.repeat


class _OldRuntime(_Avoided):
    def avoid(self):
        """Select XLA's old runtime; n/a if it is the default, or no longer exists."""
        version = _phases.version("jaxlib")
        if not (0, 4, 32) <= tuple(map(int, version.split(".")[:3])) < (0, 7):
            _phases.not_applicable(f"jaxlib {version} has one runtime for the CPU")
        # XLA reads the flag when the first device starts; each benchmark has its own process.
        os.environ["XLA_FLAGS"] = "--xla_cpu_use_thunk_runtime=false"
        return type(self).make(self)


def _drawn(steps, below):
    """Draw the indices for all steps of a loop at once."""
    return jax.vmap(lambda step, below: jax.random.randint(jax.random.PRNGKey(step), (), 0, below))(steps, below)


class Diffrax518(_OldRuntime):
    """diffrax#518: many small steps. 1.8 ms before jaxlib 0.4.32, 14.8 ms from it on: a factor of 8.

    Tsit5 on the scalar equation dy/dt = cos(y), with steps to 10 000 given times, saved at 10.
    """

    version = "1"

    def make(self):
        """Make the solve."""
        import diffrax

        steps, saved = np.linspace(0.0, 20.0, 10_000, dtype=np.float32), np.linspace(0.0, 20.0, 10, dtype=np.float32)

        def solve(y0):
            return diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, y, args: jnp.cos(y)),
                diffrax.Tsit5(),
                t0=0.0,
                t1=20.0,
                dt0=None,
                y0=y0,
                saveat=diffrax.SaveAt(ts=saved),
                stepsize_controller=diffrax.StepTo(ts=steps),
                max_steps=len(steps),
            ).ys

        return solve, (np.float32(1.0),)


class _Lorenz(_phases.Slow, _phases.Compiling):
    version = "1"
    saved: int

    def make(self):
        """Make the solve."""
        import diffrax

        _wide()

        def field(t, y, args):
            return jnp.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

        def solve(ts, y0):
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(field),
                diffrax.Tsit5(),
                t0=ts[0],
                t1=ts[-1],
                dt0=None,
                y0=y0,
                saveat=diffrax.SaveAt(ts=ts),
                stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6, pcoeff=0.4, icoeff=0.3),
                max_steps=None,
            )
            return solution.ys, solution.stats["num_steps"]

        return solve, (np.arange(self.saved, dtype=float), np.array([0.0, 1.0, 1.05]))


class Diffrax606(_Lorenz):
    """diffrax#606: compiling a solve. About 1.5 s with diffrax 0.6.0, 30 s with 0.6.1; fixed by diffrax#618.

    Also, with jax 0.5.3 and diffrax 0.7.0, 500 s. The figures are for a neural differential equation. This is the
    thread's second program, the Lorenz attractor in double precision, saved at 300 times (the thread's 3000 are in
    `Large`). The slow part grows with these.
    """

    version = "1"
    saved = 300


class Diffrax606Large(_Lorenz):
    """diffrax#606, saved at 3000 times as in the thread."""

    version = "1"
    timeout = 900.0
    saved = 3000


class Diffrax680(_OldRuntime):
    """diffrax#680: Euler steps that are each saved.

    The thread: "JAX 0.7.1 is known to cause major performance issues"; the figures are in jax#31282 and #31284.
    Euler, 4000 steps on dy/dt = -y over 4 float32, each step saved: a small write into a large carry in each pass. It
    is not slower on 0.7.1: that slow-down needs a read of the carry that the compiler cannot analyse, as in jax#31284.
    It does show the new runtime of 0.4.32, and jax#40101 in 0.11.1.
    """

    version = "1"

    def make(self):
        """Make the solve."""
        import diffrax

        def solve(y0):
            return diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, y, args: -y),
                diffrax.Euler(),
                t0=0.0,
                t1=1.0,
                dt0=1.0 / 4000,
                y0=y0,
                saveat=diffrax.SaveAt(steps=True),
                max_steps=4096,
            ).ys

        return solve, (np.ones(4, np.float32),)


class Diffrax711(_OldRuntime):
    """diffrax#711: "almost twice as slow" on every jax after 0.4.28.

    Tsit5 with rtol 1e-8 and atol 1e-10 in double precision on the expansion of a universe with a photon bath and an
    extra one, a pair of scalars, each of up to 512 steps saved. The equation is ours, similar to the thread's.
    """

    version = "1"

    def make(self):
        """Make the solve."""
        import diffrax

        _wide()

        def field(t, y, extra):
            log_scale, temperature = y
            rate = jnp.sqrt(temperature**4 + extra / jnp.exp(log_scale) ** 4)
            return rate, -rate * temperature

        def solve(temperature, extra):
            return diffrax.diffeqsolve(
                diffrax.ODETerm(field),
                diffrax.Tsit5(),
                t0=0.0,
                t1=100.0,
                dt0=None,
                y0=(jnp.zeros_like(temperature), temperature),
                args=extra,
                saveat=diffrax.SaveAt(steps=True),
                stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-10),
                max_steps=512,
            ).ys

        return solve, (np.array(8.6), np.array(830.0))


class Jax26145(_OldRuntime):
    """jax#26145: a simulated neuron. 2.07 s on 0.4.31, 11.3 s on 0.5.0, 2.38 s on 0.6.0, 1.52 s on a nightly of 0.6.3.

    The thread runs Jaxley; this is the path that was found to matter, a scan
    over many small kernels with float64 exponentials: Hodgkin and Huxley's equations in 4 compartments, 1000 steps.
    """

    version = "1"

    def make(self):
        """Make the simulation."""
        _wide()

        def rates(v):
            shifted = v + 65.0
            m = 0.1 * (shifted - 25.0) / (1.0 - jnp.exp(-(shifted - 25.1) / 10.0)), 4.0 * jnp.exp(-shifted / 18.0)
            h = 0.07 * jnp.exp(-shifted / 20.0), 1.0 / (jnp.exp(-(shifted - 30.0) / 10.0) + 1.0)
            n = 0.01 * (shifted - 10.0) / (1.0 - jnp.exp(-(shifted - 10.1) / 10.0)), 0.125 * jnp.exp(-shifted / 80.0)
            return m, h, n

        def step(carry, current, dt=0.025):
            v, gates = carry
            gates = tuple(
                a / (a + b) + (gate - a / (a + b)) * jnp.exp(-dt * (a + b))
                for gate, (a, b) in zip(gates, rates(v), strict=True)
            )
            m, h, n = gates
            sodium, potassium, leak = 120.0 * m**3 * h, 36.0 * n**4, 0.3
            conductance = sodium + potassium + leak
            drive = sodium * 50.0 - potassium * 77.0 - leak * 54.4 + current
            # Backward Euler on a cable: Thomas's algorithm, compartment by compartment.
            diagonal, right = 1.0 + dt * (conductance + 2.0), v + dt * drive
            upper, reduced = [], []
            for i in range(len(v)):
                pivot = diagonal[i] + dt * (upper[-1] if upper else 0.0)
                upper.append(-dt / pivot)
                reduced.append((right[i] + dt * (reduced[-1] if reduced else 0.0)) / pivot)
            solved = [reduced[-1]]
            for i in reversed(range(len(v) - 1)):
                solved.append(reduced[i] - upper[i] * solved[-1])
            v = jnp.stack(solved[::-1])
            return (v, gates), v[0]

        def simulate(v, currents):
            gates = jnp.full(4, 0.05), jnp.full(4, 0.6), jnp.full(4, 0.3)
            return jax.lax.scan(step, (v, gates), currents)[1]

        return simulate, (np.full(4, -65.0), np.full((1000, 4), 10.0))


class Jax26145CompileLarge(_phases.Slow, _phases.Compiling):
    """jax#26145, compiled: 7.7 s on 0.4.31, 13.6 s on 0.5.0, 3.9 s on 0.6.0, 3.6 s on a nightly of 0.6.3."""

    version = "1"

    def make(self):
        """Make the simulation."""
        return Jax26145().make()


class Jax25190(_OldRuntime):
    """jax#25190: a while loop that reads an array. 2 s on 0.4.31, 42 s on 0.4.33: a factor of 20.

    2**16 passes of a gather and a maximum, int32, on one device. (The thread: 2**22 passes, on each of 96.)
    """

    version = "1"

    def make(self):
        """Make the loop."""
        numbers = np.arange(2**16, dtype=np.int32)

        def loop(numbers, stop):
            def body_fun(carry):
                return jnp.maximum(carry[0], numbers[carry[1]]), carry[1] + 1

            return jax.lax.while_loop(lambda carry: carry[0] < stop, body_fun, (jnp.int32(0), jnp.int32(0)))[1]

        return loop, (numbers, numbers.max())


class _Linearised(_Avoided):
    version = "1"
    length: int

    def make(self):
        """Make the loop."""
        length = self.length

        @jax.vmap
        def run(step, xs):
            def loop(xs):
                def body(carry, _):
                    step, xs = carry
                    i = jax.random.randint(jax.random.PRNGKey(step), shape=(), minval=0, maxval=step + 1)
                    return (step + 1, xs.at[step].set(2 * jnp.tanh(xs[i]))), None

                (_, xs), _ = jax.lax.scan(body, (step, xs), None, length=length)
                return xs

            return jax.linearize(loop, xs)[1](jnp.ones_like(xs))

        return run, (np.zeros(2, np.int32), np.zeros((2, length), np.float32))

    def avoid(self):
        """Draw all indices before the loop."""
        length = self.length

        @jax.vmap
        def run(first, xs):
            steps = first + jnp.arange(length)
            drawn = _drawn(steps, steps + 1)

            def loop(xs):
                def body(xs, given):
                    step, i = given
                    return xs.at[step].set(2 * jnp.tanh(xs[i])), None

                return jax.lax.scan(body, xs, (steps, drawn))[0]

            return jax.linearize(loop, xs)[1](jnp.ones_like(xs))

        return run, (np.zeros(2, np.int32), np.zeros((2, length), np.float32))


class Jax31282(_Linearised):
    """jax#31282: a scan that writes into its carry, batched and linearised. 0.3 s on 0.7.0, 10 s on 0.7.1: 33 times.

    2 arrays of 5000 float32, as many passes. (The thread has 100 000: each pass came to copy the array,
    so the factor grows with the length, and is about 2 to 3 here.)
    """

    version = "1"
    length = 5_000


class Jax31282Large(_Linearised):
    """jax#31282 in the thread's size: 2 arrays of 100 000."""

    version = "1"
    timeout = 600.0
    length = 100_000


class _Buffered(_Avoided):
    version = "1"
    length: int

    def make(self):
        """Make the loop."""

        def body_fun(carry):
            step, xs = carry
            i = jax.random.randint(jax.random.PRNGKey(step), shape=(), minval=0, maxval=step)
            return step + 1, xs.at[step].set(2 * jnp.tanh(xs[i]))

        return self._linearised(body_fun)

    def avoid(self):
        """Draw all indices before the loop."""
        steps = np.arange(self.length)
        drawn = np.asarray(jax.jit(_drawn)(steps, steps))

        def body_fun(carry):
            step, xs = carry
            return step + 1, xs.at[step].set(2 * jnp.tanh(xs[jnp.asarray(drawn)[step]]))

        return self._linearised(body_fun)

    def _linearised(self, body_fun):
        import equinox.internal as eqxi

        length = self.length

        @jax.vmap
        def run(step, xs):
            def loop(xs):
                return eqxi.while_loop(
                    lambda carry: carry[0] < length,
                    body_fun,
                    (step, xs),
                    buffers=lambda carry: carry[1],
                    kind="checkpointed",
                    checkpoints=length // 2,
                )

            return jax.linearize(loop, xs)

        return run, (np.arange(2, dtype=np.int32), np.zeros((2, length), np.float32))


class Equinox1082(_Buffered):
    """equinox#1082: Equinox's own loop, which Diffrax's solves run on. On 0.7.1 15 s, where its tests allow 1 s.

    A `checkpointed` loop over two arrays of 5000 float32, a write and a read at an index that is drawn in each pass;
    linearised, so that its residuals are saved. (The test has 100 000: each pass came to copy the array.)
    """

    version = "1"
    length = 5_000


class Equinox1082Large(_Buffered):
    """equinox#1082 in the test's size: two arrays of 100 000, and 50 000 checkpoints."""

    version = "1"
    timeout = 600.0
    length = 100_000


class _Copied(_Avoided):
    version = "1"
    length: int

    def make(self):
        """Make the loop."""

        def run(xs):
            def body_fun(carry):
                step, xs = carry
                i = jax.random.randint(jax.random.PRNGKey(step), shape=(), minval=0, maxval=2)
                return step + 1, xs.at[step].set(xs[i])

            return jax.lax.while_loop(lambda carry: carry[0] < carry[1].size, body_fun, (0, xs))

        return run, (np.zeros(self.length, np.float32),)

    def avoid(self):
        """Draw all indices before the loop."""

        def run(xs):
            drawn = _drawn(jnp.arange(xs.size), jnp.full(xs.size, 2))

            def body_fun(carry):
                step, xs = carry
                return step + 1, xs.at[step].set(xs[drawn[step]])

            return jax.lax.while_loop(lambda carry: carry[0] < carry[1].size, body_fun, (0, xs))

        return run, (np.zeros(self.length, np.float32),)


class Jax31284(_Copied):
    """jax#31284: a while loop that writes into its carry. At 10 000, 7.5 ms on 0.7.0 and 41 ms on 0.7.1: 5 times."""

    version = "1"
    length = 10_000


class Jax31284Large(_Copied):
    """jax#31284 at 80 000: 63 ms on 0.7.0 and 2.2 s on 0.7.1, 35 times."""

    version = "1"
    timeout = 600.0
    length = 80_000


class Jax40101(_Avoided):
    """jax#40101: a small write into a large carry. At 200 000, 1.4 ms on 0.11.0 and 13 s on 0.11.1: quadratic.

    A `fori_loop` that writes one float32 a pass into an array of 20 000; a hundredth of the thread's work where it is
    slow, so that about 0.1 ms becomes 0.1 s.
    """

    version = "1"

    def make(self):
        """Make the loop."""

        def run(xs):
            return jax.lax.fori_loop(0, xs.size - 1, lambda i, xs: xs.at[i + 1].set(0.5 * xs[i] + 1.0), xs)

        return run, (np.zeros(20_000, np.float32),)

    def avoid(self):
        """Stack the values: a scan of 160 blocks of 125."""

        def step(x, _):
            return 0.5 * x + 1.0, x

        def run(x):
            return jax.lax.scan(lambda x, _: jax.lax.scan(step, x, None, length=125), x, None, length=160)

        return run, (np.float32(0.0),)


class Jax36799(_OldRuntime):
    """jax#36799: a scan with a float64 matrix for a carry. 10 times slower on 0.9.1 than on 0.4.31; from 0.4.33 on.

    2000 steps of a Cholesky factorisation in state space, with a carry of 3 by 3: products of matrices and of vectors,
    and a square root. (In float32 it is not slower.)
    """

    version = "1"

    def make(self):
        """Make the scan."""
        _wide()

        def run(carry, diagonals, rows, columns, transitions):
            def body(carry, data):
                diagonal, row, column, transition = data
                pivot = jnp.sqrt(diagonal - row @ carry @ row)
                moved = carry @ transition.T
                new = (column - row @ moved) / pivot
                return transition @ moved + jnp.outer(new, new), (pivot, new)

            return jax.lax.scan(body, carry, (diagonals, rows, columns, transitions))

        rows, transitions = np.full((2000, 3), 0.1), np.broadcast_to(0.5 * np.eye(3), (2000, 3, 3)).copy()
        return run, (np.zeros((3, 3)), np.full(2000, 2.0), rows, rows, transitions)
