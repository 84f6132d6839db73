"""Two tables: the devices to compile for, and the counts of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A device to compile for, and the wheel with its compiler in an extra of jax.

    `kinds` are the beginnings of jax's name for the device. `caveat` says how its programs differ from programs that a
    machine with the device would run.
    """

    id: str
    device: str
    kinds: tuple[str, ...]
    wheel: str
    extra: str
    caveat: str

    @property
    def title(self) -> str:
        """The title of the results, which says that nothing was run."""
        return f"{self.device}, compiled, not run"


TARGETS: Mapping[str, Target] = {
    each.id: each
    for each in (
        Target(
            "h100",
            "NVIDIA H100",
            ("NVIDIA H100",),
            "jax-cuda12-plugin",
            "cuda12",
            "XLA compiled these without a GPU. With a GPU it tunes kernels, and may choose another sort kernel.",
        ),
        Target(
            "v5e",
            "TPU v5e",
            ("TPU v5 lite", "TPU v5e"),
            "libtpu",
            "tpu",
            "The compiler is the libtpu that jax requires. Its byte counts can change though the program does not.",
        ),
    )
}


@dataclass(frozen=True)
class Count:
    """A count of a program: its name in singular and plural, and an explanation.

    `only` names the one target that has the count. `main` counts fit into a table.
    """

    one: str
    many: str
    about: str
    only: str = ""
    main: bool = False


# In the order in which they are shown.
COUNTS: Mapping[str, Count] = {
    "launches": Count(
        "kernel launch",
        "kernel launches",
        "places that launch a kernel of XLA; launches by libraries are not known",
        only="h100",
        main=True,
    ),
    "fusions": Count("fusion", "fusions", "fused operations outside of other fusions", main=True),
    "custom_calls": Count("custom call", "custom calls", "calls of a library, or of a kernel written by hand"),
    "collectives": Count("collective", "collectives", "exchanges between devices; none on one device"),
    "copies": Count("copy", "copies", "operations that only copy", main=True),
    "while_loops": Count("while loop", "while loops", "loops that are run on the device"),
    "temporary_bytes": Count(
        "byte of temporaries", "bytes of temporaries", "memory besides the arguments and the results", main=True
    ),
    "peak_bytes": Count(
        "byte at the peak",
        "bytes at the peak",
        "the most memory in use at once, by memory_analysis(), whose method also changed between releases",
    ),
    "argument_bytes": Count("byte of arguments", "bytes of arguments", "memory of the arguments"),
    "output_bytes": Count("byte of results", "bytes of results", "memory of the results"),
    "code_bytes": Count("byte of code", "bytes of code", "the size of the machine code", only="v5e", main=True),
    "instructions": Count(
        "HLO instruction", "HLO instructions", "operations of the optimised HLO, also within fusions", main=True
    ),
    "kernels": Count("kernel", "kernels", "kernels in the PTX; several places can launch one kernel", only="h100"),
    "ptx_instructions": Count("PTX instruction", "PTX instructions", "instructions of the PTX", only="h100", main=True),
    "ptx_registers": Count(
        "PTX register", "PTX registers", "virtual registers that the PTX declares, not a GPU's registers", only="h100"
    ),
    "flops": Count("flop", "flops", "floating-point operations, by cost_analysis()"),
    "bytes_accessed": Count("byte accessed", "bytes accessed", "memory read and written, by cost_analysis()"),
}
