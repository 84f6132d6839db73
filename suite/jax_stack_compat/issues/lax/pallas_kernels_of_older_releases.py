"""Pallas kernels written for an older JAX raise on a newer one

Pallas is experimental, and its changelog lists changes of its interface. The arguments of `BlockSpec` changed places;
`load`, `store`, `TPUCompilerParams` and dicts as `compiler_params` were removed; a kernel may not close over an array
(jax#22746). For a GPU, `pallas_call` changed from Mosaic back to Triton (`lowered_for_a_gpu`); without a
GPU, Triton then needs the AbstractDevice of a listed one (jax#38762). The changelog deprecates Triton in favour of
Mosaic GPU.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def _add_one(x_ref: Any, o_ref: Any) -> None:
    """Add one to the input."""
    o_ref[...] = x_ref[...] + 1.0


def block_spec_with_its_map_first() -> tuple[str, str]:
    """Does pl.BlockSpec take the index map before the block shape?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    spec = pl.BlockSpec(lambda i: (i,), (8,))
    shape = jax.ShapeDtypeStruct((16,), "float32")
    add = pl.pallas_call(_add_one, shape, grid=(2,), in_specs=[spec], out_specs=spec, interpret=True)
    return compare(add(jnp.zeros(16)), [1.0] * 16)


def without_pallas() -> None:
    """jax.jit without Pallas computes what the kernels compute."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(lambda x: x + 1.0)(jnp.zeros(8)).tolist() == [1.0] * 8


def by_keywords() -> None:
    """BlockSpec takes both arguments by name."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    spec = pl.BlockSpec(block_shape=(8,), index_map=lambda i: (i,))
    shape = jax.ShapeDtypeStruct((16,), "float32")
    add = pl.pallas_call(_add_one, shape, grid=(2,), in_specs=[spec], out_specs=spec, interpret=True)
    assert add(jnp.zeros(16)).tolist() == [1.0] * 16


def blocks_of_matrices() -> None:
    """Named BlockSpec arguments split integer matrices on a 2 × 2 grid."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, row_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...] * row_ref[...]

    blocks = pl.BlockSpec(block_shape=(2, 4), index_map=lambda i, j: (i, j))
    row = pl.BlockSpec(index_map=lambda i, j: (0, j), block_shape=(1, 4))
    shape = jax.ShapeDtypeStruct((4, 8), "int32")
    scale = pl.pallas_call(kernel, shape, grid=(2, 2), in_specs=[blocks, row], out_specs=blocks, interpret=True)
    x, factors = jnp.arange(32).reshape(4, 8), jnp.arange(8)[None]
    assert scale(x, factors).tolist() == (x * factors).tolist()


def block_spec_with_its_shape_first() -> tuple[str, str]:
    """Does pl.BlockSpec take the block shape before the index map?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    spec = pl.BlockSpec((8,), lambda i: (i,))
    shape = jax.ShapeDtypeStruct((16,), "float32")
    add = pl.pallas_call(_add_one, shape, grid=(2,), in_specs=[spec], out_specs=spec, interpret=True)
    return compare(add(jnp.zeros(16)), [1.0] * 16)


def load_and_store() -> tuple[str, str]:
    """Can a kernel read with pl.load and write with pl.store?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, o_ref: Any) -> None:
        pl.store(o_ref, (slice(None),), pl.load(x_ref, (slice(None),)) + 1.0)

    add = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), "float32"), interpret=True)
    return compare(add(jnp.zeros(8)), [1.0] * 8)


def by_index() -> None:
    """A kernel reads and writes its refs by index."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, o_ref: Any) -> None:
        o_ref[:] = x_ref[:] + 1.0

    add = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), "float32"), interpret=True)
    assert add(jnp.zeros(8)).tolist() == [1.0] * 8


def matrix_by_index() -> None:
    """A kernel reads an integer matrix and a scalar by index, and writes its output twice."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, scalar_ref: Any, o_ref: Any) -> None:
        o_ref[:, :] = x_ref[:, :] * scalar_ref[()]
        o_ref[:, :] = o_ref[:, :] - x_ref[0, 1]

    shape = jax.ShapeDtypeStruct((3, 4), "int32")
    x = jnp.arange(12).reshape(3, 4)
    assert pl.pallas_call(kernel, shape, interpret=True)(x, jnp.array(5)).tolist() == (5 * x - 1).tolist()


def tpu_compiler_params() -> tuple[str, str]:
    """Does pltpu.TPUCompilerParams exist?"""
    from jax.experimental.pallas import tpu as pltpu

    if hasattr(pltpu, "TPUCompilerParams"):
        return "there", f"{pltpu.TPUCompilerParams(dimension_semantics=('parallel',))}"
    return ("gone" if hasattr(pltpu, "CompilerParams") else "not-yet"), "the module has no such name"


def by_either_name() -> None:
    """CompilerParams keeps its dimension_semantics; if it does not exist, TPUCompilerParams keeps them."""
    from jax.experimental.pallas import tpu as pltpu

    params = pltpu.CompilerParams if hasattr(pltpu, "CompilerParams") else pltpu.TPUCompilerParams
    assert params(dimension_semantics=("parallel",)).dimension_semantics == ("parallel",)


def params_of_two_dimensions() -> None:
    """pl.pallas_call with dimension_semantics for a grid of two dimensions runs, and lowers for a TPU."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    if hasattr(pltpu, "CompilerParams"):
        params = pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary"), vmem_limit_bytes=2**20)
    else:
        params = pltpu.TPUCompilerParams(dimension_semantics=("parallel", "arbitrary"), vmem_limit_bytes=2**20)
    blocks = pl.BlockSpec(block_shape=(8, 128), index_map=lambda i, j: (i, j))
    shape = jax.ShapeDtypeStruct((16, 256), "float32")
    arguments = {"grid": (2, 2), "in_specs": [blocks], "out_specs": blocks, "compiler_params": params}
    add = pl.pallas_call(_add_one, shape, interpret=True, **arguments)
    assert bool((add(jnp.zeros((16, 256))) == 1.0).all())
    traced = jax.jit(pl.pallas_call(_add_one, shape, **arguments)).trace(shape)
    assert "tpu_custom_call" in traced.lower(lowering_platforms=("tpu",)).as_text()


def compiler_params_as_a_dict() -> tuple[str, str]:
    """Does pl.pallas_call take compiler_params as a dict of dicts, {"mosaic": {…}}?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    params = {"mosaic": {"dimension_semantics": ("parallel",)}}
    shape = jax.ShapeDtypeStruct((8,), "float32")
    return compare(pl.pallas_call(_add_one, shape, interpret=True, compiler_params=params)(jnp.zeros(8)), [1.0] * 8)


def array_that_a_kernel_closes_over() -> tuple[str, str]:
    """May a kernel of pl.pallas_call close over an array?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    ones = jnp.ones(8)

    def kernel(x_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...] + ones

    add = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), "float32"), interpret=True)
    return compare(add(jnp.zeros(8)), [1.0] * 8)


def as_an_input() -> None:
    """A kernel adds an array that pl.pallas_call passes as an input."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, ones_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...] + ones_ref[...]

    add = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), "float32"), interpret=True)
    assert add(jnp.zeros(8), jnp.ones(8)).tolist() == [1.0] * 8


def table_as_an_input() -> None:
    """A kernel takes an integer table as an input, under jit, and under vmap with in_axes None."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, table_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...] * table_ref[...]

    multiply = pl.pallas_call(kernel, jax.ShapeDtypeStruct((4, 8), "int32"), interpret=True)
    x, table = jnp.arange(64).reshape(2, 4, 8), jnp.arange(32).reshape(4, 8)
    assert jax.jit(multiply)(x[0], table).tolist() == (x[0] * table).tolist()
    assert jax.vmap(multiply, (0, None))(x, table).tolist() == (x * table).tolist()


def lowered_for_a_gpu() -> tuple[str, str]:
    """Which backend does pl.pallas_call lower to for a GPU, on a machine without one?"""
    import re

    import jax
    from jax.experimental import pallas as pl

    shape = jax.ShapeDtypeStruct((8, 128), "float32")
    text = jax.jit(pl.pallas_call(_add_one, shape)).trace(shape).lower(lowering_platforms=("cuda",)).as_text()
    called = str(re.findall(r"custom_call @([\w$.]+)", text))
    return ("triton" if "triton" in called else "mosaic" if "mosaic" in called else "another"), called


def told_of_a_gpu() -> None:
    """With an AbstractDevice that names a GPU, JAX lowers the kernel on a machine without a GPU."""
    import jax
    from jax.experimental import pallas as pl

    shape = jax.ShapeDtypeStruct((8, 128), "float32")
    gpu = jax.sharding.AbstractDevice(device_kind="NVIDIA H100 80GB HBM3", num_cores=None, platform="cuda")
    mesh = jax.sharding.AbstractMesh((1,), ("x",), abstract_device=gpu)
    with jax.sharding.use_abstract_mesh(mesh):
        lowered = jax.jit(pl.pallas_call(_add_one, shape)).trace(shape).lower(lowering_platforms=("cuda",))
    assert "custom_call" in lowered.as_text()


def told_of_another_gpu() -> None:
    """With an AbstractDevice that names an A100, JAX lowers a kernel that multiplies blocks of integers."""
    import jax
    from jax.experimental import pallas as pl

    def kernel(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...] * y_ref[...]

    blocks = pl.BlockSpec(block_shape=(16, 32), index_map=lambda i, j: (i, j))
    shape = jax.ShapeDtypeStruct((64, 64), "int32")
    multiply = pl.pallas_call(kernel, shape, grid=(4, 2), in_specs=[blocks, blocks], out_specs=blocks)
    gpu = jax.sharding.AbstractDevice(device_kind="NVIDIA A100-SXM4-40GB", num_cores=None, platform="cuda")
    mesh = jax.sharding.AbstractMesh((2, 2), ("x", "y"), abstract_device=gpu)
    with jax.sharding.use_abstract_mesh(mesh):
        traced = jax.jit(lambda x, y: multiply(x, y) + 1).trace(shape, shape)
        assert "custom_call" in traced.lower(lowering_platforms=("cuda",)).as_text()


def lowered_for_a_tpu() -> tuple[str, str]:
    """Does pl.pallas_call lower for a TPU, on a machine without one?"""
    import jax
    from jax.experimental import pallas as pl

    shape = jax.ShapeDtypeStruct((8, 128), "float32")
    text = jax.jit(pl.pallas_call(_add_one, shape)).trace(shape).lower(lowering_platforms=("tpu",)).as_text()
    return ("lowered" if "custom_call @tpu_custom_call" in text else "another"), f"{len(text)} letters of StableHLO"


_NO_CPU = Signature(
    "NotImplementedError", "MLIR translation rule for primitive 'pallas_call' not found for platform cpu"
)
_BEFORE = Rule("no-interpreter", "jax<0.4.21", "Pallas cannot run on a CPU")
_LACKING = Rule("not-installed", "jax>=0.5.3,<0.6.2", "Pallas imports absl, which jax does not require")
_case = partial(Case, control=without_pallas, behaviours={"no-interpreter": "absent"})
_lowered = partial(
    Case,
    control=without_pallas,
    signatures={
        "wants-a-gpu": Signature("RuntimeError", "No supported GPU devices found, please specify an abstract GPU"),
        "no-gpu-part": Signature("ValueError", "Cannot lower pallas_call on platform: gpu"),
        "no-way-to-ask": (
            Signature("AttributeError", "object has no attribute 'trace'"),
            Signature("TypeError", "lower() got an unexpected keyword argument 'lowering_platforms'"),
        ),
    },
)
_ASKED = Rule("no-way-to-ask", "jax<0.4.30")
_NAMED = Workaround(
    "Name the arguments: pl.BlockSpec(block_shape=…, index_map=…).", by_keywords, elsewhere=blocks_of_matrices
)
_PARAMS = Workaround(
    "For a TPU, use pltpu.CompilerParams where it exists, else pltpu.TPUCompilerParams.",
    by_either_name,
    elsewhere=params_of_two_dimensions,
    fails=("jax<0.4.33",),
)
# Lowering names a platform that the machine need not have.
_TO_A_PLATFORM = (
    "jax.stages.Traced.lower(a, b, c, lowering_platforms) if given(lowering_platforms) "
    "and not without('jax.experimental.pallas.pallas_call') and without('jax.sharding.AbstractDevice')",
    "jax.export.export(fun_jit, a, b, platforms) if given(platforms) "
    "and uses('jax.experimental.pallas.pallas_call') and without('jax.sharding.AbstractDevice')",
)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(docs="jax:pallas/CHANGELOG.html", report="jax#21557", change="jax#22746 jax#38762"),
    touches=(
        *("jax.experimental.pallas.BlockSpec", "jax.experimental.pallas.load", "jax.experimental.pallas.store"),
        *("jax.experimental.pallas.tpu.TPUCompilerParams", "jax.experimental.pallas.pallas_call(compiler_params=)"),
        "jax.experimental.pallas.pallas_call",
    ),
    known_by=r"\bpallas_call\b|jax/_src/pallas|attribute '(load|store|swap)'",
    cases=(
        _case(
            block_spec_with_its_map_first,
            rules=(
                _BEFORE,
                Rule("agrees", "jax<0.4.35", "BlockSpec warns from 0.4.31 on"),
                Rule("refused", "absl-py jax>=0.4.35"),
                _LACKING,
                Rule("refused"),
            ),
            workaround=_NAMED,
            signatures={
                "refused": (
                    Signature("TypeError", "object of type 'function' has no len()", everyday=True),
                    Signature("TypeError", "'function' object is not iterable", everyday=True),
                ),
                "no-interpreter": _NO_CPU,
            },
            touches=(
                "jax.experimental.pallas.BlockSpec(block_shape, index_map) "
                "if type(index_map) == 'tuple' and (form(block_shape) == 'lambda' or type(block_shape) != 'tuple')",
            ),
        ),
        _case(
            block_spec_with_its_shape_first,
            rules=(Rule("refused", "jax<0.4.31"), Rule("agrees", "absl-py jax>=0.4.31"), _LACKING, Rule("agrees")),
            workaround=replace(_NAMED, fails=("jax<0.4.21",)),
            signatures={"refused": Signature("TypeError", "'function' object is not iterable", everyday=True)},
            touches=(
                "jax.experimental.pallas.BlockSpec(index_map, block_shape) "
                "if type(index_map) == 'tuple' and form(index_map) != 'lambda'",
            ),
        ),
        _case(
            load_and_store,
            behaviours={"agrees": "clear", "no-interpreter": "absent", "warns": "documented"},
            rules=(
                _BEFORE,
                Rule("agrees", "absl-py jax<0.7.1"),
                _LACKING,
                Rule("agrees", "jax<0.7.1"),
                Rule("warns", "jax<0.9.0"),
                Rule("gone"),
            ),
            workaround=Workaround(
                "Without a mask, index the refs: o_ref[:] = x_ref[:] + 1.", by_index, elsewhere=matrix_by_index
            ),
            signatures={
                "gone": Signature("AttributeError", "module 'jax.experimental.pallas' has no attribute", everyday=True),
                "warns": (
                    Signature("DeprecationWarning", "pl.store is deprecated"),
                    Signature("DeprecationWarning", "pl.load is deprecated"),
                ),
                "no-interpreter": _NO_CPU,
            },
            touches=("jax.experimental.pallas.load", "jax.experimental.pallas.store"),
        ),
        _case(
            tpu_compiler_params,
            behaviours={"not-yet": "absent"},
            rules=(
                Rule("not-yet", "absl-py jax<0.4.33"),
                Rule("there", "absl-py jax<0.7.2", "TPUCompilerParams warns from 0.6.2 on"),
                Rule("gone", "absl-py", "f1960a81ae removes TPUCompilerParams"),
                Rule("not-installed", "jax>=0.4.21,<0.4.27"),
                _LACKING,
                Rule("not-installed", "jax==0.9.2"),
                Rule("not-yet", "jax<0.4.33"),
                Rule("there", "jax<0.7.2", "TPUCompilerParams warns from 0.6.2 on"),
                Rule("gone", "", "f1960a81ae removes TPUCompilerParams"),
            ),
            workaround=_PARAMS,
            touches=(
                "jax.experimental.pallas.tpu.TPUCompilerParams "
                "if unseen and without('jax.experimental.pallas.tpu.CompilerParams')",
            ),
        ),
        _case(
            compiler_params_as_a_dict,
            rules=(
                _BEFORE,
                Rule("agrees", "absl-py jax<0.6.1"),
                Rule("refused", "absl-py jax>=0.6.1"),
                _LACKING,
                Rule("agrees", "jax<0.6.1"),
                Rule("refused"),
            ),
            workaround=_PARAMS,
            signatures={
                "refused": (
                    Signature("ValueError", "Unknown backend in compiler_params"),
                    Signature(
                        "TypeError",
                        "parameters to jaxpr equations must have __hash__ and __eq__ methods",
                        everyday=True,
                    ),
                    Signature("TypeError", "unhashable type: 'dict'", everyday=True),
                ),
                "no-interpreter": _NO_CPU,
            },
            touches=(
                "jax.experimental.pallas.pallas_call(kernel, out_shape, compiler_params) "
                "if type(compiler_params) == 'dict' or form(compiler_params) == 'dict'",
            ),
        ),
        _case(
            array_that_a_kernel_closes_over,
            behaviours={"no-interpreter": "absent", "refused": "documented", "broken": "affected"},
            rules=(
                _BEFORE,
                Rule("broken", "jax<0.4.30", "jax#21557"),
                Rule("agrees", "jax<0.4.32"),
                Rule("refused", "absl-py", "jax#22746: the error says that the kernel captures constants"),
                _LACKING,
                Rule("refused", "", "jax#22746: the error says that the kernel captures constants"),
            ),
            workaround=Workaround(
                "Pass the array as an input of pallas_call.", as_an_input, elsewhere=table_as_an_input
            ),
            signatures={
                "refused": Signature("ValueError", "captures constants"),
                "broken": (
                    Signature("ValueError", "safe_zip() argument 2 is shorter than argument 1", everyday=True),
                    Signature("ValueError", "safe_map() argument 3 is longer than argument 1", everyday=True),
                ),
                "no-interpreter": _NO_CPU,
            },
            touches=("jax.experimental.pallas.pallas_call",),
        ),
        _lowered(
            lowered_for_a_gpu,
            behaviours={
                **{"triton": "clear", "mosaic": "documented", "another": "different", "no-gpu-part": "absent"},
                **{"wants-a-gpu": "affected", "no-way-to-ask": "absent"},
            },
            rules=(
                _ASKED,
                Rule("triton", "absl-py jax<0.9.0"),
                Rule("mosaic", "absl-py jax<0.11.2"),
                _LACKING,
                Rule("no-gpu-part", "jax>=0.9.0,<0.11.0"),
                Rule("triton", "jax<0.9.0"),
                Rule("mosaic", "jax<0.11.2"),
                Rule("wants-a-gpu"),
            ),
            workaround=Workaround(
                "From jax 0.11.2, use jax.sharding.use_abstract_mesh with an AbstractDevice of a listed GPU.",
                told_of_a_gpu,
                elsewhere=told_of_another_gpu,
                fails=("jax<0.10.1",),
            ),
            touches=_TO_A_PLATFORM,
        ),
        _lowered(
            lowered_for_a_tpu,
            behaviours={
                **{"lowered": "clear", "another": "different", "no-gpu-part": "absent"},
                **{"wants-a-gpu": "affected", "no-way-to-ask": "absent"},
            },
            rules=(_ASKED, Rule("lowered", "absl-py"), _LACKING, Rule("lowered")),
            touches=_TO_A_PLATFORM,
        ),
    ),
)
