"""Two tables: the devices to compile for, and the counts of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.stack.releases import EXTRAS


@dataclass(frozen=True)
class Target:
    """A device to compile for, and the wheel with its compiler among those of an extra of jax.

    `kinds` are the beginnings of jax's name for the device. `caveat` tells how its programs differ from those that a
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
        """The title of its results, which must not look like a run's."""
        return f"{self.device}, compiled, not run"


TARGETS: Mapping[str, Target] = {
    each.id: each
    for each in (
        Target(
            "h100",
            "NVIDIA H100",
            ("NVIDIA H100",),
            "jax-cuda12-plugin",
            EXTRAS["gpu"],
            "XLA compiled these without a GPU. With one it tries and tunes kernels, and may sort by another one.",
        ),
        Target(
            "v5e",
            "TPU v5e",
            ("TPU v5 lite", "TPU v5e"),
            "libtpu",
            EXTRAS["tpu"],
            "The compiler is libtpu, as jax asks for it. What it tells of bytes can change where the program does not.",
        ),
    )
}


@dataclass(frozen=True)
class Count:
    """A count of a program: its name for one and for many, and an explanation.

    `only` names the one target that has it. `main` counts fit into a table.
    """

    one: str
    many: str
    about: str
    only: str = ""
    main: bool = False


# In the order in which they are shown and told.
COUNTS: Mapping[str, Count] = {
    "launches": Count(
        "kernel launch",
        "kernel launches",
        "places that launch a kernel of XLA's own; what a library launches is not known",
        only="h100",
        main=True,
    ),
    "fusions": Count("fusion", "fusions", "fused operations that are run by themselves", main=True),
    "custom_calls": Count("custom call", "custom calls", "calls of a library, or of a kernel written by hand"),
    "collectives": Count("collective", "collectives", "exchanges between devices: none, on one"),
    "copies": Count("copy", "copies", "operations that only copy", main=True),
    "while_loops": Count("while loop", "while loops", "loops that are run on the device"),
    "temporary_bytes": Count(
        "byte of temporaries", "bytes of temporaries", "memory between the arguments and what is returned", main=True
    ),
    "peak_bytes": Count(
        "byte at the peak",
        "bytes at the peak",
        "the most memory at once, as memory_analysis() tells it; its way to reckon changed, too",
    ),
    "argument_bytes": Count("byte of arguments", "bytes of arguments", "memory of the arguments"),
    "output_bytes": Count("byte of results", "bytes of results", "memory of what is returned"),
    "code_bytes": Count("byte of code", "bytes of code", "the size of the machine code", only="v5e", main=True),
    "instructions": Count(
        "HLO instruction", "HLO instructions", "operations of the optimised HLO, those within fusions too", main=True
    ),
    "kernels": Count("kernel", "kernels", "kernels in the PTX; one can be launched at several places", only="h100"),
    "ptx_instructions": Count("PTX instruction", "PTX instructions", "instructions of the PTX", only="h100", main=True),
    "ptx_registers": Count(
        "PTX register", "PTX registers", "virtual registers that the PTX declares: no GPU's own", only="h100"
    ),
    "flops": Count("flop", "flops", "floating-point operations, by cost_analysis()"),
    "bytes_accessed": Count("byte accessed", "bytes accessed", "memory read and written, by cost_analysis()"),
}
