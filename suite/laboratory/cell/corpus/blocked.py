"""Cases that need jax: they do not run in the tests' own interpreter, which lacks jax, but run with a real jax."""

from jax_stack_compat.cell import Signature, Workaround
from laboratory.cell.corpus import Seen, case, issue, well


def x64() -> Seen:
    """Do numbers have the requested width?"""
    import jax.numpy as jnp

    dtype = jnp.ones(3, dtype="float64").dtype
    return "right" if dtype == "float64" else "wrong", str(dtype)


def host_devices() -> Seen:
    """Are there two devices?"""
    import jax

    return "right" if jax.device_count("cpu") == 2 else "wrong", str(jax.devices("cpu"))


def warned() -> Seen:
    """Is a warning from inside jax recorded?"""
    import jax.numpy as jnp

    jnp.ones(3).astype("float64")
    return "right", "not a word"


def leaked_tracer() -> Seen:
    """Does Python's `if` take a tracer?"""
    import jax

    jax.jit(lambda x: 1 if x > 0 else 2)(1.0)
    return "right", "it does"


_ENABLE_X64 = Workaround("Set it.", environment={"JAX_ENABLE_X64": "1"})

ISSUE = issue(
    case(x64, needs=("jax",), x64=True, workaround=well),
    case(x64, "not_x64", needs=("jax",), expected="wrong", workaround=_ENABLE_X64),
    case(host_devices, needs=("jax",), host_devices=2),
    case(
        warned,
        needs=("jax",),
        expected="refused",
        signatures={"refused": Signature("UserWarning", "requested dtype float64…not available", "jax._src")},
    ),
    case(
        leaked_tracer,
        needs=("jax",),
        expected="refused",
        signatures={
            "missing": Signature("TracerBoolConversionError", module="equinox"),
            "refused": Signature("TracerBoolConversionError", "boolean conversion of traced array", "jax._src"),
        },
    ),
)
