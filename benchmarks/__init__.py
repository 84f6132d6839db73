"""Benchmarks for asv: the cost of the stack along the release line, on host and device separately.

For asv, a "commit" is a release of the line, and its environment has the lock of that release. A benchmark is named

    module.Workload.kind_phase(parameters)          basics.Scan.time_lower, solves.Forward.time_execute('Tsit5')

The docstring of the module says what it is about. The docstring of the class says what is computed, on which shapes,
and where the workload comes from.

Phases, in the order of a call. The host does the first four:

- `time_trace`: Python to jaxpr. `time_lower`: jaxpr to StableHLO. `time_compile`: StableHLO to an executable, by XLA on
  the host. `time_first_call`: all of these and one execution, as for a user's first call.
- `time_dispatch`: a call of the compiled function until it returns to Python, with nothing else running.
- `time_execute`: the same call, until its result is ready (`block_until_ready`).
- `track_device_busy`: the part of the call in which the device was at work, by the profiler.
- `peakmem_first_call`: the peak memory of the process, including the imports.
- Counts in each module's `Counts`, which do not depend on the machine's load: equations of the jaxpr, including inner
  jaxprs; operations of the lowered program and instructions of the compiled program; flops, bytes accessed, bytes of
  temporaries. Some modules also count how often a Python body is traced.

Every sample of trace, lower and compile uses a new function, since JAX's caches span all `jax.jit`s of one function.
JAX's persistent cache is off, and a cache hit is an error. The first sample in a process is dropped, since it pays for
JAX's own set-up, except if a sample takes seconds (`_phases.Slow`). Work around a phase is not timed: making its
function, tracing before lowering, waiting for the device. The clock is `_phases.METER`, which runs only inside a phase.

`_counting` counts the host's work in a phase: the calls in Python, and under callgrind the machine instructions, of the
same call that asv times.

How to read the results:

- Read counts first: if a count changed, the program changed, however noisy the machine is.
- Take the least time in a process as one sample.
- `nan` means "not applicable": the release or the machine lacks the benchmark's subject. The log has the reason.

Device time on a CPU means less. There, the device is a thread pool on Python's own cores. `time_execute` is the time of
XLA's CPU runtime: it can be compared between releases on one machine, and says nothing about an accelerator.
`time_dispatch` is the host's share only if the runtime is asynchronous. On older releases a CPU computes before the
call returns: `basics.Matmul` shows equal times for dispatch and execute. `track_device_busy` on a CPU is the executor's
own time under the profiler's names, which change between releases.

The default set, `asv run --bench '^(?!.*Large)'`, leaves out classes called `...Large`. It takes about a minute for
each release if processes are forked from one that has imported the stack (`--launch-method forkserver`).
"""
