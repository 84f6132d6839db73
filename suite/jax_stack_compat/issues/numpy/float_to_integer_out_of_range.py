"""A float out of range becomes the nearest integer by astype, and NumPy's by jnp.asarray

    x = np.array([300.0, -1.0], np.float32)
    jnp.asarray(x).astype("uint8")          # [255, 0]
    jnp.asarray(x, dtype="uint8")           # [44, 255] on x86, what NumPy's own cast gives

"Sharp bits" says that unsafe casts may diverge from NumPy: XLA takes the nearest integer and 0 for NaN, and C, which
NumPy leaves it to, says nothing, so that it depends on the processor. That was so on every release.

Seen in these runs:

- JAX disagrees with itself, from 0.4.18 on. `jnp.asarray(x, dtype=...)` of a NumPy array gives what NumPy
  gives; `.astype` takes the nearest integer.
- `jnp.array([300.0], dtype="uint8")` is 44 beside NumPy 1, and an OverflowError beside NumPy 2.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def astype() -> tuple[str, str]:
    """Does astype saturate: 300 to uint8, -1 to uint8, 1e10 to int32, NaN to int32?"""
    import jax.numpy as jnp

    small = jnp.array([300.0, -1.0, float("nan")]).astype("uint8").tolist()
    large = jnp.array([1e10, -1e10, float("nan")]).astype("int32").tolist()
    saturates = small == [255, 0, 0] and large == [2**31 - 1, -(2**31), 0]
    return ("saturates" if saturates else "other"), f"{small}, {large}"


def in_range() -> None:
    """Within the range all three agree, and a fraction is cut off."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.0, 254.9, 3.5], np.float32)
    assert [0, 254, 3] == jnp.asarray(x).astype("uint8").tolist() == jnp.asarray(x, dtype="uint8").tolist()
    assert jnp.array([254.9], dtype="int32").tolist() == [254]


def clip_first() -> None:
    """Clip to the range first, and say what NaN is to be: one answer for every way, release and processor."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([300.0, -1.0, np.nan], np.float32)
    kept = np.nan_to_num(np.clip(x, 0.0, 255.0), nan=0.0)
    assert [255, 0, 0] == jnp.asarray(kept).astype("uint8").tolist() == jnp.asarray(kept, dtype="uint8").tolist()


def asarray() -> tuple[str, str]:
    """Does jnp.asarray(x, dtype="uint8") of a NumPy array of 300 give what astype gives?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([300.0, -1.0], np.float32)
    with np.errstate(invalid="ignore"):
        host = x.astype("uint8").tolist()
    got = jnp.asarray(x, dtype="uint8").tolist()
    return ("numpy" if got == host else "saturates" if got == [255, 0] else "other"), f"what NumPy gives: {got == host}"


def from_list() -> tuple[str, str]:
    """Is a list of 300.0 refused as uint8?"""
    import jax.numpy as jnp

    return "converted", f"{jnp.array([300.0], dtype='uint8').tolist()}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(docs="jax:notebooks/Common_Gotchas_in_JAX.html"),
    touches=("jax.Array.astype", "jax.lax.convert_element_type", *members("jax.numpy", "asarray array", "(dtype=)")),
    control=in_range,
    behaviours={"saturates": "documented", "numpy": "documented", "other": "different"},
    workaround=Workaround("Clip to the range before: jnp.clip(x, 0, 255).astype('uint8').", clip_first),
    cases=(
        Case(astype, rules=(Rule("saturates", "", "sharp bits has it"),)),
        Case(asarray, rules=(Rule("numpy"),)),
        Case(
            from_list,
            behaviours={"converted": "documented", "refused": "guarded"},
            signatures={"refused": Signature("OverflowError", "out of bounds for uint8", everyday=True)},
            rules=(Rule("converted", "numpy<2"), Rule("refused")),
        ),
    ),
)
