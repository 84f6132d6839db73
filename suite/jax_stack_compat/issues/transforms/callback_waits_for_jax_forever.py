"""On a CPU, a callback that calls JAX can wait forever for the result

f255fb700a dispatches large CPU computations asynchronously, and a callback then occupies a thread of the pool. JAX
waits for that thread if the callback starts a computation (83457c115a) or gets a large result (`large_argument`); with
one thread (`NPROC=1`), one callback is enough. 83457c115a dispatches jitted programs with callbacks synchronously, and
9d39ab305a programs that a callback starts; neither ended the wait for an argument from another program
(`pending_argument`).
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def _comes(array: Any) -> bool:
    """Return True if an array is computed within five seconds."""
    end = time.monotonic() + 5.0
    while hasattr(array, "is_ready") and not array.is_ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def _answer(seen: list[bool]) -> tuple[str, str]:
    told = "is there in the callback" if all(seen) else "is not there after 5 s in the callback, and is when it returns"
    return ("comes" if all(seen) else "stuck"), f"it {told}"


def reads_a_product() -> tuple[str, str]:
    """Does a jitted function of a jnp.dot and a jax.pure_callback return if the callback reads another jnp.dot?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    matrix = jnp.ones((256, 256))

    def callback(x: Any) -> Any:
        return np.asarray(jnp.dot(matrix, matrix)[0, 0])

    wanted = jax.ShapeDtypeStruct((), "float32")
    return compare(jax.jit(lambda x: jax.pure_callback(callback, wanted, jnp.dot(x, x)[0, 0]))(matrix), 256.0)


def one_number() -> None:
    """A callback that receives one number and does not call JAX returns."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    wanted = jax.ShapeDtypeStruct((), "float32")
    jitted = jax.jit(lambda x: jax.pure_callback(lambda x: np.negative(np.asarray(x)), wanted, jnp.dot(x, x)[0, 0]))
    assert float(jitted(jnp.ones((256, 256)))) == -256.0


def dispatched_at_once() -> None:
    """With asynchronous dispatch disabled before the first computation, callbacks get arguments and results."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    with contextlib.suppress(AttributeError):  # an early release, where there is nothing to set
        jax.config.update("jax_cpu_enable_async_dispatch", False)
    matrix, kept = jnp.ones((256, 256)), []

    def callback(x: Any) -> Any:
        kept.append((x, jnp.dot(matrix, matrix)))
        assert all(map(_comes, kept[-1]))
        return np.float32(1.0)

    wanted = jax.ShapeDtypeStruct((), "float32")
    jitted = jax.jit(lambda x: jax.pure_callback(callback, wanted, jnp.dot(x, x)))
    assert [float(jitted(jnp.ones((size, size)))) for size in range(256, 276)] == [1.0] * 20


def callbacks_in_a_loop() -> None:
    """Without asynchronous dispatch, callbacks in a loop read large arguments and integer products."""
    from functools import partial

    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import io_callback

    with contextlib.suppress(AttributeError):
        jax.config.update("jax_cpu_enable_async_dispatch", False)
    seen: list[bool] = []

    def compared(x: Any) -> Any:
        product = jnp.dot(jnp.asarray(x), jnp.asarray(x))
        seen.append(_comes(x) and _comes(product))
        return np.asarray(product)[:2, 0]

    for dtype in ("int32", "float16"):
        wanted = jax.ShapeDtypeStruct((2,), dtype)

        def step(i: Any, x: Any, wanted: Any = wanted) -> Any:
            jax.debug.callback(compared, jnp.dot(x, x))
            return x + io_callback(compared, wanted, x)[0] + jax.pure_callback(compared, wanted, x)[1]

        jax.block_until_ready(jax.jit(partial(jax.lax.fori_loop, 0, 5, step))(jnp.zeros((300, 300), dtype)))
    jax.effects_barrier()
    assert len(seen) == 30
    assert all(seen)


def pure_callback() -> tuple[str, str]:
    """Does a jnp.dot finish within the jax.pure_callback callback that starts it?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    matrix, products, seen = jnp.ones((256, 256)), [], []

    def callback(x: Any) -> Any:
        products.append(jnp.dot(matrix, matrix))
        seen.append(_comes(products[0]))
        return np.float32(0.0)

    wanted = jax.ShapeDtypeStruct((), "float32")
    float(jax.jit(lambda x: jax.pure_callback(callback, wanted, jnp.dot(x, x)[0, 0]))(matrix))
    assert float(products[0][0, 0]) == 256.0
    return _answer(seen)


def debug_callback() -> tuple[str, str]:
    """Does a jnp.dot finish within the jax.debug.callback callback that starts it?"""
    import jax
    import jax.numpy as jnp

    matrix, products, seen = jnp.ones((256, 256)), [], []

    def callback(x: Any) -> None:
        products.append(jnp.dot(matrix, matrix))
        seen.append(_comes(products[0]))

    def called(x: jax.Array) -> jax.Array:
        product = jnp.dot(x, x)
        jax.debug.callback(callback, product[0, 0])
        return product

    jax.block_until_ready(jax.jit(called)(matrix))
    jax.effects_barrier()
    assert float(products[0][0, 0]) == 256.0
    return _answer(seen)


def large_argument() -> tuple[str, str]:
    """Do twenty calls of jax.pure_callback get their arguments, of 256 rows or more, before they return?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    kept, seen = [], []

    def callback(x: Any) -> Any:
        kept.append(x)
        seen.append(_comes(x))
        return np.float32(0.0)

    wanted = jax.ShapeDtypeStruct((), "float32")
    jitted = jax.jit(lambda x: jax.pure_callback(callback, wanted, jnp.dot(x, x)))
    for size in range(256, 276):
        float(jitted(jnp.ones((size, size))))
        if not seen[-1]:
            break
    return _answer(seen)


def pending_argument() -> tuple[str, str]:
    """Does a jitted jax.pure_callback get a jnp.dot that JAX still computes when the function is called?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    matrix, kept, seen = jnp.ones((1024, 1024)), [], []

    def callback(x: Any) -> Any:
        kept.append(x)
        seen.append(_comes(x))
        return np.float32(0.0)

    wanted = jax.ShapeDtypeStruct((), "float32")
    jitted = jax.jit(lambda x: jax.pure_callback(callback, wanted, x))
    for _ in range(20):
        float(jitted(jnp.dot(matrix, matrix)))
        if not seen[-1]:
            break
    return _answer(seen)


_NEW = Rule("comes", "", "83457c115a and 9d39ab305a")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#24255 jax#24219 jax#25861",
        cause="jax@f255fb700a",
        fix="jax@83457c115a jax@9d39ab305a",
        discussion="jax#25982 invrs-io/agjax#43 pasteurlabs/tesseract-jax#177",
    ),
    control=one_number,
    behaviours={"stuck": "affected", "comes": "clear"},
    rules=(Rule("comes", "jaxlib<0.4.32"), Rule("stuck", "jaxlib<0.5.1"), _NEW),
    workaround=Workaround(
        'With one CPU device, first call jax.config.update("jax_cpu_enable_async_dispatch", False); calls then wait.',
        dispatched_at_once,
        elsewhere=callbacks_in_a_loop,
    ),
    environment={"NPROC": "1"},
    alone="it waits five seconds for a callback, and a busy machine takes longer",
    cases=(
        Case(
            reads_a_product,
            behaviours={"hung": "affected", "agrees": "clear", "differs": "different"},
            rules=(
                Rule("agrees", "jaxlib<0.4.32"),
                Rule("hung", "jaxlib<0.5.1", "jax#24255"),
                Rule("agrees", "", "83457c115a and 9d39ab305a"),
            ),
            seconds=20.0,
            touches=("jax.pure_callback",),
        ),
        Case(pure_callback, touches=("jax.pure_callback",)),
        Case(debug_callback, touches=("jax.debug.callback", "jax.experimental.io_callback")),
        Case(
            large_argument,
            rules=(Rule("comes", "jaxlib<0.4.35"), Rule("stuck", "jaxlib<0.5.1"), _NEW),
            touches=("jax.pure_callback",),
        ),
        Case(
            pending_argument,
            rules=(Rule("comes", "jaxlib<0.4.35"), Rule("stuck", "jaxlib<0.11.2"), Rule("comes")),
            touches=("jax.pure_callback",),
        ),
    ),
)
