"""Answers for stacks with a device's plugin: what also ran on such a device."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jax_stack_compat.check import knowledge as known
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.on_devices import KnownDevice, of_stack, plugins
from tests.check.conftest import Said
from tests.check.worlds import knowledge

H100 = KnownDevice(
    jax="0.7.0",
    platform="gpu",
    kind="NVIDIA H100",
    seen={("wrong-numbers", "loud"): "raises", ("slow-thing", "back"): "right"},
    numbers={"jax.numpy.matmul": (3, "jax.numpy.matmul(a, a): 1.5 at [0, 0], on the CPU 1.25")},
)
STACK = "jax==0.7.0 jax-cuda13-plugin==0.7.0"


@pytest.fixture
def of_devices(world: Path, monkeypatch: pytest.MonkeyPatch) -> Knowledge:
    """The small world, in which cases also ran on a GPU."""
    made = replace(knowledge(), devices=(H100,))
    monkeypatch.setattr(known, "load", lambda *_: made)
    return made


def test_each_issue_says_whether_the_device_shows_it(of_devices: Knowledge, said: Said) -> None:
    """A case goes wrong on the device too, or does not, or no device ran it; the first line counts those that ran."""
    _, out = said("check", "--from", STACK, "--verbose")

    assert "This stack has jax-cuda13-plugin: 1 of 1 cases below ran on NVIDIA H100 with jax 0.7.0" in out
    assert "not on NVIDIA H100 with jax 0.7.0: right (run)" in out


def test_a_stack_without_a_plugin_says_nothing_of_devices(of_devices: Knowledge, said: Said) -> None:
    """Without a plugin for a device, the answer is the CPU's alone."""
    _, out = said("check", "--from", "jax==0.7.0", "--verbose")

    assert "H100" not in out


def test_a_plugin_of_another_kind_has_the_cpu_s_data(of_devices: Knowledge, said: Said) -> None:
    """A stack for a TPU is not answered with what a GPU showed."""
    _, out = said("check", "--from", "jax==0.7.0 libtpu==0.0.50", "--verbose")

    assert "This stack has libtpu, but the data is from CPUs" in out
    assert "H100" not in out


def test_source_names_functions_whose_numbers_differ_there(of_devices: Knowledge, said: Said, tmp_path: Path) -> None:
    """A function that the code calls and that returns other values on the device has a line, also in JSON."""
    (tmp_path / "code.py").write_text("import jax.numpy as jnp\njnp.matmul(a, a)\njnp.sin(a)\n", encoding="utf-8")
    line = "NVIDIA H100 with jax 0.7.0: jax.numpy.matmul(a, a): 1.5 at [0, 0], on the CPU 1.25, and 2 more calls"

    _, out = said("check", "--from", STACK, "--source", str(tmp_path))
    _, data = said("check", "--from", STACK, "--source", str(tmp_path), "--format", "json")

    assert line in out.splitlines()
    assert [line] == json.loads(data)["numbers"]["on_devices"]


@pytest.mark.parametrize(
    ("package", "is_plugin"),
    [
        ("jax-cuda12-plugin", True),
        ("jax-cuda13-pjrt", True),
        ("jax-rocm60-plugin", True),
        ("libtpu", True),
        ("jax", False),
        ("nvidia-cublas-cu12", False),
        ("libtpu-nightly-tools", False),
    ],
)
def test_a_plugin_is_a_package_that_brings_a_device(package: str, is_plugin: bool) -> None:
    """CUDA's own libraries bring jax no device; its plugins do."""
    assert ([package] if is_plugin else []) == plugins([package])
    assert bool(of_stack([H100], [package])) == (is_plugin and package != "libtpu")
