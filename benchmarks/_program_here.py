"""The programs of `_program`, compiled by the device that jax sees: the same texts are counted, and nothing is run.

    python -m benchmarks._program_here
    python -m benchmarks._program_here h100 FOLDER scan

Without arguments, this module prints the device and the version of jax. Otherwise it prints the results of `_program`
for each program, from the texts of the target. XLA's settings are left alone, so it tries its kernels on the device.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from benchmarks import _program


def main(arguments):
    """Compile and print the counts; without arguments, print the device."""
    with tempfile.TemporaryDirectory() as dumped:
        dump = f"--xla_dump_to={dumped} --xla_dump_hlo_as_text --xla_dump_hlo_module_re=jit_program_.*"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {dump}".strip()
        import jax
        import numpy as np

        device = jax.devices()[0]
        if not arguments:
            print(json.dumps({"jax": jax.__version__, "device": device.device_kind}))
            return
        name, folder, *wanted = arguments
        mesh = jax.sharding.Mesh(np.array([device]), ("x",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        for workload in wanted:
            _program._say(starts=workload)
            found = _program._program(_program.TARGETS[name], workload, sharding, Path(dumped), Path(folder))
            _program._say(workload=workload, **found)


if __name__ == "__main__":
    main(sys.argv[1:])
