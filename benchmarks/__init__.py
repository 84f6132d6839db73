"""Benchmarks for asv: the cost of the stack, on host and device apart, along the release line.

    asv's "commit" is a release of the line, and its environment holds that release's lock. A benchmark is named

        module.Workload.kind_phase(parameters)          basics.Scan.time_lower, solves.Forward.time_execute('Tsit5')

    and the module's docstring says what it is about, the class's what is computed, on which shapes, and whence it came.

Phases, in the order in which a call goes through them. The first four are the host's:

- `time_trace`: Python to jaxpr. `time_lower`: jaxpr to StableHLO. `time_compile`: StableHLO to an executable; this is
  XLA, running on the host, for the device. `time_first_call`: all of these and one execution, as a user meets them.
- `time_dispatch`: a call of what is compiled, until Python has it back, with nothing else in flight.
- `time_execute`: the same call, until its result is there (`block_until_ready`).
- `track_device_busy`: the part of it for which the device was at work, by the profiler.
- `peakmem_first_call`: the process's peak, the imports included.
- Counts, which do not depend on the machine's mood, in each module's `Counts`: equations of the jaxpr (those of inner
  jaxprs too), operations of the lowered and instructions of the compiled program, flops, bytes accessed, bytes of
  temporaries, and in some modules the number of times that a Python body was traced.

Every sample of trace, lower and compile is of a function made for it, since JAX's caches span `jax.jit`s of one
function; JAX's persistent cache is off, and a hit of it is an error. The first sample in a process, which pays for what
JAX itself sets up, is dropped, but where one takes seconds (`_phases.Slow`). What is around a phase (making its
function, tracing what is to be lowered, waiting for the device) is not timed: the clock is `_phases.METER`, which runs
only inside a phase.

What the host does in a phase is counted, too, by `_counting`: the calls in Python, and under callgrind the machine
instructions, of the very call that asv would time.

Reading them:

- Counts first: a count that moved is a change, be the machine as noisy as it will.
- Of times take the least in a process, and a process for a sample.
- `nan` is "not applicable": this release, or this machine, lacks what the benchmark is about; its log has the reason.

What device time on a CPU is worth: there, the device is a thread pool on Python's own cores. `time_execute` is the time
of XLA's CPU runtime, comparable between releases on one machine, and says nothing about an accelerator. `time_dispatch`
is the host's share only where the runtime is asynchronous: on older releases a CPU computes before the call returns,
and `basics.Matmul` shows it, as its dispatch and its execute are then the same. `track_device_busy` on a CPU is the
executor's own time, as the profiler names it, and names change.

Classes called `...Large` are not part of the default set, which is `asv run --bench '^(?!.*Large)'`: it takes about a
minute for each release, if processes are forked from one that has imported the stack (`--launch-method forkserver`).
"""
