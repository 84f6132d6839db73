"""Counts of programs from texts that XLA wrote; a person also counted each."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.files import ROOT
from tests.processes import python

TEXTS = Path(__file__).parent / "texts"
sys.path.insert(0, str(ROOT))
counts: Any = __import__("benchmarks._program_counts", fromlist=["of_hlo"])


def text(name: str) -> str:
    """One of the texts."""
    return (TEXTS / f"{name}.txt").read_text(encoding="utf-8")


SCAN = {"fusions": 5, "custom_calls": 0, "collectives": 0, "copies": 2, "while_loops": 1, "instructions": 17}
BYTES = {"argument_bytes": 262144, "output_bytes": 262144, "temporary_bytes": 262656}
OF_HLO, OF_THUNKS = counts.of_hlo, counts.of_thunks


@pytest.mark.parametrize(
    ("of", "name", "wanted"),
    [
        # A scan has one fusion in the loop's condition and three in its body, two copies before it, and one loop.
        (OF_HLO, "h100-jax-0.9.0-scan.hlo", SCAN),
        # A linear system takes a factorisation, its pivots, and two triangular solves, with four fusions between them.
        (OF_HLO, "h100-jax-0.9.0-linear-solve.hlo", {"custom_calls": 4, "fusions": 4}),
        # On a TPU too fusions within fusions do not count; a prefetch is a copy.
        (OF_HLO, "v5e-jax-0.9.0-softmax-of-a-product.hlo", {"fusions": 3, "copies": 2, "instructions": 21}),
        # A return and a guarded branch are among the instructions; it declares 1 + 12 + 4 registers.
        (counts.of_ptx, "h100-jax-0.9.0-fft.ptx", {"kernels": 1, "ptx_instructions": 19, "ptx_registers": 17}),
        # The fifth fusion is a copy. jax 0.12 writes its list of thunks another way.
        *((OF_THUNKS, f"h100-jax-{release}-scan.thunks", {"launches": 4}) for release in ("0.9.0", "0.12.0.1")),
        # Everything nested in a command buffer is launched by it.
        (OF_THUNKS, "h100-jax-0.7.0-mlp-training-step.thunks", {"launches": 7}),
        # The argument, the result, and what lies between two transforms: 64 rows of 513 complex numbers.
        (counts.of_buffers, "h100-jax-0.9.0-fft.buffers", BYTES),
    ],
)
def test_programs_are_counted(of: Callable[[str], dict[str, int]], name: str, wanted: dict[str, int]) -> None:
    """A loop's contents count once, calls of libraries are custom calls, and instructions are those of the PTX."""
    found = of(text(name))

    assert wanted.items() <= found.items()
    assert of is OF_HLO or wanted == found


def test_what_is_kept_of_a_program_names_no_place() -> None:
    """Paths, file tables and fingerprints are removed from the text, and its counts stay the same."""
    raw = text("h100-jax-0.9.0-fft.raw")
    lean = counts.lean(raw)

    assert "/home/somebody" in raw
    assert "fingerprint" in raw
    assert [] == [word for word in ("somebody", "fingerprint", "FileNames", "stack_frame_id") if word in lean]
    assert counts.of_hlo(raw) == counts.of_hlo(lean)
    assert lean == counts.lean(lean)


@pytest.mark.parametrize(
    "config",
    [
        'backend_config={debug = false, ir = "ML\\00/home/somebody/kernel.py", num_warps = 4 : i32}',
        'backend_config={kernel_hash = "somebody\\01", module = "/home/somebody/kernel.py"}',
        'backend_config={"custom_call_config":{"body":"c29tZWJvZHk=somebody"}}',
    ],
)
def test_a_kernel_s_own_code_is_left_out(config: str) -> None:
    """A lean line keeps the call of a Pallas kernel, but not its code, which names files."""
    line = f'  ROOT %c = f32[8]{{0}} custom-call(%x), custom_call_target="kernel", {config}\n'
    lean = counts.lean(line)

    assert "somebody" not in lean
    assert 'custom_call_target="kernel", backend_config={' in lean


@pytest.mark.parametrize(
    ("thunks", "why"),
    [
        (text("h100-jax-0.4.38-scan.thunks"), "leaves out what is in a loop"),
        (text("h100-jax-0.5.3-diffrax-solve.thunks"), "leaves out what is in a command buffer"),
        (text("h100-jax-0.7.0-diffrax-gradient.thunks"), "leaves out what is in a conditional"),
        ("001: kKernel\t, kernel = a\n002: kNew\t\n", "not known here: kNew"),
    ],
)
def test_a_list_that_leaves_something_out_gives_no_number(thunks: str, why: str) -> None:
    """A list of thunks that is incomplete, or has an unknown kind, gives no number."""
    with pytest.raises(counts.NotTold, match=why):
        counts.of_thunks(thunks)


def test_the_program_says_in_a_sentence_what_a_release_lacks() -> None:
    """Without a compiler for the device, the program prints a line of JSON that says so, and exits with 0."""
    ran = python("-m", "benchmarks._program", "h100", "nowhere")

    assert (0, "") == (ran.returncode, ran.stderr)
    assert '"absent": "this release has no such topology: ModuleNotFoundError: No module named \'jax\'"' in ran.stdout
