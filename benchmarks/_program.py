"""One release's programs for a device that is not there: compiled, counted, and never run.

    python -m benchmarks._program h100 FOLDER softmax-of-a-product scan

Prints a line of JSON with what there is to compile, and one before and one after each workload, of those that are named
or of all. What cannot be had is told in a sentence in place of its number. FOLDER gets the optimised HLO, without what
depends on where the source lies, and what else XLA writes of a program and was counted.

XLA needs no GPU to compile for one, and libtpu no TPU: they ask for the device's description.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import _program_counts as counts
from benchmarks._program_cases import CASES
from benchmarks._program_workloads import WORKLOADS

HERE = Path(__file__).parent
PROGRAMS = WORKLOADS | CASES


@dataclass(frozen=True)
class Target:
    """A device to compile for: how jax is asked for its topology, and which texts of XLA's are counted.

    `texts` are by the end of the file's name, each with how it is called here and what counts it. `memory` is what
    `memory_analysis()` is asked for, and `variables` what has to be set for that.
    """

    platform: str
    topology: Callable[[], dict]
    flags: str
    variables: Mapping[str, str]
    texts: Mapping[str, tuple[str, Callable[[str], Mapping[str, int]]]]
    memory: Mapping[str, str]


TARGETS = {
    "h100": Target(
        platform="cuda",
        topology=lambda: {
            "topology_name": "",
            "topology": "1x1x1",
            "target_config": (HERE / "programs" / "h100.txtpb").read_text(encoding="utf-8"),
        },
        # Which kernel is fastest only a GPU can tell.
        flags="--xla_gpu_autotune_level=0",
        # jaxlib looks for CUDA's libraries, which only a call needs.
        variables={"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"},
        texts={
            "after_optimizations.txt": ("hlo", counts.of_hlo),
            "ptx": ("ptx", counts.of_ptx),
            "thunk_sequence.txt": ("thunks", counts.of_thunks),
            # Told by all releases, and `memory_analysis()` by some.
            "after_optimizations-buffer-assignment.txt": ("buffers", counts.of_buffers),
        },
        memory={"peak_bytes": "peak_memory_in_bytes"},
    ),
    "v5e": Target(
        platform="tpu",
        topology=lambda: {"topology_name": "v5e:1x1", "chips_per_host_bounds": (1, 1, 1)},
        flags="",
        # Else libtpu asks the network which machine this is.
        variables={"TPU_SKIP_MDS_QUERY": "1"},
        texts={"after_optimizations.txt": ("hlo", counts.of_hlo)},
        memory={
            "argument_bytes": "argument_size_in_bytes",
            "output_bytes": "output_size_in_bytes",
            "temporary_bytes": "temp_size_in_bytes",
            "peak_bytes": "peak_memory_in_bytes",
            "code_bytes": "generated_code_size_in_bytes",
        },
    ),
}
# Which counts each text gives, to say which are lacking where it does.
GIVEN = {
    "hlo": ("fusions", "custom_calls", "collectives", "copies", "while_loops", "instructions"),
    "ptx": ("kernels", "ptx_instructions", "ptx_registers"),
    "thunks": ("launches",),
    "buffers": ("argument_bytes", "output_bytes", "temporary_bytes"),
}
COSTS = {"flops": "flops", "bytes_accessed": "bytes accessed"}


def main(arguments):
    """Compile, and print what is counted."""
    name, folder, *wanted = arguments
    target, folder = TARGETS[name], Path(folder)
    with tempfile.TemporaryDirectory() as dumped:
        dump = f"--xla_dump_to={dumped} --xla_dump_hlo_as_text --xla_dump_hlo_module_re=jit_program_.*"
        # No device of this machine's is to be touched, and no result taken from a cache.
        for variable in ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE"):
            os.environ.pop(variable, None)
        os.environ.update({"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"{target.flags} {dump}".strip(), **target.variables})
        told = {key: {"title": each.title, "needs": each.needs} for key, each in PROGRAMS.items()}
        try:
            sharding = _sharding(target)
        except Exception as error:
            _say(workloads=told, absent=f"this release has no such topology: {_sentence(error)}")
            return
        _say(workloads=told)
        for workload in wanted or PROGRAMS:
            _say(starts=workload)
            _say(workload=workload, **_program(target, workload, sharding, Path(dumped), folder))


def _sharding(target):
    """All of an array on the one device of the target's topology."""
    import jax
    from jax.experimental import topologies

    there = topologies.get_topology_desc(platform=target.platform, **target.topology())
    mesh = topologies.make_mesh(there, (1,), ("x",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())


def _program(target, workload, sharding, dumped, folder):
    """Compile one: its counts, which are lacking and why, and how long the compiler took; or why there are none."""
    import jax

    name = f"program_{workload.replace('-', '_')}"
    try:
        each = PROGRAMS[workload]
        function, args = each.make()
        function.__name__ = name
        jitted = jax.jit(function, in_shardings=sharding, out_shardings=sharding, **each.options)
        lowered = each.around(jitted).lower(*args)
        started = time.perf_counter()
        compiled = lowered.compile()
        seconds = time.perf_counter() - started
    except Exception as error:
        return {"reason": _sentence(error)}
    found, absent = {}, {}
    for end, (kind, counted) in target.texts.items():
        paths = sorted(dumped.glob(f"*.jit_{name}.*{end}"))
        # Up to 0.9.0 or later a file for all kernels, then one for each.
        if not paths or (len(paths) > 1 and kind != "ptx"):
            said = f"XLA writes {len(paths) or 'no'} {end} for this program on this release"
            absent |= dict.fromkeys(GIVEN[kind], said)
            continue
        text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        text = counts.lean(text) if kind == "hlo" else text
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{workload}.{kind}.txt").write_text(text, encoding="utf-8")
        try:
            found |= counted(text)
        except counts.NotTold as error:
            absent |= dict.fromkeys(GIVEN[kind], str(error))
    for analysis, names in (("memory_analysis", target.memory), ("cost_analysis", COSTS)):
        told = _analysis(compiled, analysis)
        for count, key in names.items():
            value = told.get(key)
            if isinstance(value, (int, float)) and value >= 0:
                found[count] = int(value)
            else:
                absent[count] = f"{analysis}() does not tell on this release"
    for path in dumped.iterdir():
        if path.is_file():
            path.unlink()
    return {"counts": found, "absent": absent, "compile_seconds": round(seconds, 1)}


def _analysis(compiled, name):
    """What `memory_analysis()` or `cost_analysis()` tells, by name; nothing where it does not."""
    try:
        told = getattr(compiled, name)()
    except Exception:
        return {}
    told = told[0] if isinstance(told, (list, tuple)) and told else told
    if isinstance(told, dict):
        return told
    return {key: getattr(told, key, None) for key in dir(told) if key.endswith("_in_bytes")}


def _sentence(error):
    """An exception in a line, without paths."""
    said = (str(error).strip().splitlines() or [""])[0]
    said = " ".join(word for word in said.split() if "/" not in word or len(word) < 3)
    return f"{type(error).__name__}: {said}"[:300]


def _say(**told):
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
