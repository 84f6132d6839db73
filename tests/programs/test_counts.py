"""Counts of programs, from texts that XLA wrote: each was counted by eye, too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from suite.files import ROOT
from tests.processes import python

TEXTS = Path(__file__).parent / "texts"
sys.path.insert(0, str(ROOT))
counts: Any = __import__("benchmarks._program_counts", fromlist=["of_hlo"])


def text(name: str) -> str:
    """One of the texts."""
    return (TEXTS / f"{name}.txt").read_text(encoding="utf-8")


def test_what_is_in_a_loop_counts_once() -> None:
    """Of a scan: five fusions, one in the loop's condition and three in its body; two copies before it; one loop."""
    wanted = {"fusions": 5, "custom_calls": 0, "collectives": 0, "copies": 2, "while_loops": 1, "instructions": 17}

    assert wanted == counts.of_hlo(text("h100-jax-0.9.0-scan.hlo"))


def test_calls_of_libraries_are_custom_calls() -> None:
    """A linear system takes a factorisation, its pivots, and two triangular solves, with four fusions between them."""
    found = counts.of_hlo(text("h100-jax-0.9.0-linear-solve.hlo"))

    assert (4, 4) == (found["custom_calls"], found["fusions"])


def test_a_tpu_program_is_counted_alike() -> None:
    """A TPU's softmax of a product is three fusions; fusions within them do not count, and a prefetch is a copy."""
    found = counts.of_hlo(text("v5e-jax-0.9.0-softmax-of-a-product.hlo"))

    assert (3, 2, 21) == (found["fusions"], found["copies"], found["instructions"])


def test_what_is_kept_of_a_program_names_no_place() -> None:
    """Paths, tables of files and fingerprints are left out of the text, and its counts stay the same."""
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
    """What a Pallas kernel was compiled from names the files that it was written in; that it is called stays."""
    line = f'  ROOT %c = f32[8]{{0}} custom-call(%x), custom_call_target="kernel", {config}\n'
    lean = counts.lean(line)

    assert "somebody" not in lean
    assert 'custom_call_target="kernel", backend_config={' in lean


def test_long_lists_are_cut_short() -> None:
    """A hundred numbers in a row become three dots, a shape stays."""
    line = f"  %c = f32[2,3]{{1,0}} constant({{{', '.join(['0.5'] * 100)}}})"

    assert "  %c = f32[2,3]{1,0} constant({…})\n" == counts.lean(line).replace("%c", "  %c", 1)


def test_ptx_is_counted_by_the_instruction() -> None:
    """A kernel of nineteen instructions, a return and a guarded branch among them, declares 1 + 12 + 4 registers."""
    wanted = {"kernels": 1, "ptx_instructions": 19, "ptx_registers": 17}

    assert wanted == counts.of_ptx(text("h100-jax-0.9.0-fft.ptx"))


@pytest.mark.parametrize(("release", "launches"), [("0.9.0", 4), ("0.12.0.1", 4)])
def test_launches_are_read_in_each_spelling(release: str, launches: int) -> None:
    """A scan launches four kernels; the fifth fusion is a copy. jax 0.12 writes its list of thunks another way."""
    assert {"launches": launches} == counts.of_thunks(text(f"h100-jax-{release}-scan.thunks"))


def test_launches_in_a_command_buffer_count() -> None:
    """What is further in below a command buffer is launched by it."""
    assert {"launches": 7} == counts.of_thunks(text("h100-jax-0.7.0-mlp-training-step.thunks"))


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("h100-jax-0.4.38-scan", "a loop"),
        ("h100-jax-0.5.3-diffrax-solve", "a command buffer"),
        ("h100-jax-0.7.0-diffrax-gradient", "a conditional"),
    ],
)
def test_a_list_that_leaves_something_out_gives_no_number(name: str, left_out: str) -> None:
    """Where what a loop, a command buffer or a conditional holds is not listed, no number is made of the rest."""
    with pytest.raises(counts.NotTold, match=f"leaves out what is in {left_out}"):
        counts.of_thunks(text(f"{name}.thunks"))


def test_an_unknown_kind_gives_no_number() -> None:
    """A kind of thunk that a later release may have could launch anything."""
    with pytest.raises(counts.NotTold, match="not known here: kNew"):
        counts.of_thunks("001: kKernel\t, kernel = a\n002: kNew\t\n")


def test_bytes_are_those_that_are_assigned() -> None:
    """The argument, the result, and what lies between two transforms: 64 rows of 513 complex numbers."""
    wanted = {"argument_bytes": 262144, "output_bytes": 262144, "temporary_bytes": 262656}

    assert wanted == counts.of_buffers(text("h100-jax-0.9.0-fft.buffers"))


def test_the_program_says_in_a_sentence_what_a_release_lacks() -> None:
    """Where there is no compiler for the device, a line of JSON says so, and nothing fails."""
    ran = python("-m", "benchmarks._program", "h100", "nowhere")

    assert (0, "") == (ran.returncode, ran.stderr)
    assert '"absent": "this release has no such topology: ModuleNotFoundError: No module named \'jax\'"' in ran.stdout
