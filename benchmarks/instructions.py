"""Machine instructions of tracing and lowering, by callgrind: a count where a time would be noise.

Each takes half a minute, and needs valgrind: they run where they are asked for, by `nox -s bench-instructions`.
"""

from benchmarks import _instructions, _phases


class Instructions:
    """One trace and lowering of a workload of the other modules, after three that are not counted."""

    version = "1"
    timeout = 900.0
    params = ("basics.Scan", "wraps_lower.Wrapped wrapped-10", "training.Mlp", "solves.Forward")
    param_names = ("workload",)

    def track_trace_and_lower(self, workload):
        """Machine instructions; from run to run they differ by a few in a thousand."""
        _phases.assert_versions()
        try:
            return _instructions.counted(*workload.split())
        except _instructions.NotHere as error:
            return _phases.not_applicable(str(error))

    track_trace_and_lower.unit = "instructions"
