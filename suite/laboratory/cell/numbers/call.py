"""Makes the calls on this interpreter's release of jax, and prints what they return.

    echo '["eager jax.numpy.sin(float32)"]' | python -m laboratory.cell.numbers.call > numbers.json

Cell side. A process makes many calls; where one of them ends or hangs, another goes on after it. The same
release gives the same bits. The keys of the calls to make are read as JSON from standard input.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import json
import os
import resource
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from jax_stack_compat.cell import machine
from laboratory.cell.numbers.inputs import INPUTS, SHAPES
from laboratory.cell.numbers.recipes import OF_DEVICES, NumericCall, calls

_TOGETHER = 1000
# A call that computes for so long, or that waits for so long, has hung: a busy machine is no reason.
_SECONDS, _LONGEST_WAIT = 30.0, 600.0
_BYTES = 8 << 30
# Longer values are told by a digest.
_LONGEST = 400
Outcome = dict[str, Any]


def main() -> int:
    """Print the outcome of each call as JSON, by the call's key; nothing of a function that the release lacks."""
    asked = frozenset(json.load(sys.stdin))
    # What imports print is no part of the answer.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    import jax  # noqa: F401  before the forks: once

    # Tracing leaves much garbage. To look for it in all of jax at the usual rate takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    found: dict[str, Outcome] = {}
    for wide in (False, True):
        every = (*calls(), *calls(OF_DEVICES))
        wanted = [call for call in every if call.x64 is wide and call.key in asked]
        for start in range(0, len(wanted), _TOGETHER):
            found.update(apart(wanted[start : start + _TOGETHER]))
    versions = {name: importlib.metadata.version(name) for name in ("jax", "jaxlib")}
    json.dump({**versions, "machine": machine.describe(()), "outcomes": found}, out, separators=(",", ":"))
    out.close()
    return 0


def apart(wanted: Sequence[NumericCall]) -> dict[str, Outcome]:
    """Return the outcomes of calls, made in processes of their own; one at which a process ended says how."""
    found: dict[str, Outcome] = {}
    place = 0
    while place < len(wanted):
        told, ended = _forked(wanted[place:])
        found.update(told.items())
        if ended is None:
            break
        # The calls before it have told, also those that have nothing to tell.
        place += ended[0]
        found[wanted[place].key] = {"ended": ended[1]}
        place += 1
    return found


def _forked(wanted: Sequence[NumericCall]) -> tuple[dict[str, Outcome], tuple[int, str] | None]:
    """Return what a process told, and the place of the call at which it ended, with how."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.close(read)
        if os.environ.get("JAX_PLATFORMS") == "cpu":
            # A GPU's driver maps more than this before the first call.
            resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
        with os.fdopen(write, "w", encoding="utf-8") as out:
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            for call, outcome in _made(wanted):
                signal.setitimer(signal.ITIMER_PROF, _SECONDS)
                out.write(json.dumps([call.key, outcome]) + "\n")
                out.flush()
        os._exit(0)
    os.close(write)
    found: dict[str, Outcome] = {}
    rest, count = b"", 0
    while True:
        if not select.select([read], [], [], _LONGEST_WAIT)[0]:
            os.kill(child, signal.SIGPROF)
            break
        told = os.read(read, 1 << 20)
        if not told:
            break
        *lines, rest = (rest + told).split(b"\n")
        for line in lines:
            key, outcome = json.loads(line)
            count += 1
            if outcome is not None:
                found[key] = outcome
    os.close(read)
    _, status = os.waitpid(child, 0)
    if count == len(wanted):
        return found, None
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGPROF:
        return found, (count, "hung")
    return found, (count, signal.Signals(-code).name if code < 0 else f"exit {code}")


def _made(wanted: Sequence[NumericCall]) -> Iterator[tuple[NumericCall, Outcome | None]]:
    import jax

    if wanted[0].x64:
        jax.config.update("jax_enable_x64", True)
    eager: dict[str, Outcome] = {}
    for call in wanted:
        if call.form == "eager":
            eager[call.text] = outcome = _outcome(call)
        elif "values" not in eager.get(call.text, {"values": ()}):
            # What raises as it is does so in every form, and what is absent is absent.
            yield call, None
            continue
        else:
            outcome = _outcome(call)
            if outcome == eager.get(call.text):
                outcome = {"same": "eager"}
        yield call, outcome or None


def _outcome(call: NumericCall) -> Outcome:
    """Return what a call returns or raises; nothing if the release has no such function, or the form does not apply."""
    import jax

    if not _is_there(call.function):
        return {}
    try:
        function = eval(f"lambda {', '.join(call.inputs)}: {call.text}", {"jax": jax})
        made = FORMS[call.form](function, [array(name) for name in call.inputs])
        if made is None:
            return {}
        return {"values": [_encoded(leaf) for leaf in jax.tree_util.tree_leaves(made)]}
    except Exception as error:
        return {"raises": type(error).__name__}


def _is_there(function: str) -> bool:
    """Return True if the release has a function; the modules on the way are imported."""
    here: Any = importlib.import_module("jax")
    path = "jax"
    for part in function.split(".")[1:-1]:
        path = f"{path}.{part}"
        try:
            here = getattr(here, part, None) or importlib.import_module(path)
        except ImportError:
            return False
    name = function.rpartition(".")[2]
    try:
        return function.startswith("jax.numpy.ndarray.") or callable(getattr(here, name, None))
    except Exception:
        return False


@cache
def array(name: str) -> Any:
    """Return an input as an array of jax. NumPy makes it, as jax would compile a program for each shape and dtype."""
    import jax.numpy as jnp
    import numpy as np

    dtype, values = INPUTS[name]
    if values is None:
        values = np.zeros(SHAPES[name])
    if dtype == "bfloat16":
        return jnp.asarray(np.asarray(values, np.float32).astype(jnp.bfloat16))
    return jnp.asarray(np.asarray(values, dtype))


def _vmapped(function: Callable[..., Any], inputs: list[Any]) -> Any:
    """Return what the mapped function gives for two rows that are the same: one of them, or both if they differ."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    made = jax.vmap(function)(*(jnp.asarray(np.stack([each, each])) for each in inputs))

    def row(leaf: Any) -> Any:
        rows = np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
        return rows[0] if rows[0].tobytes() == rows[1].tobytes() else leaf

    return jax.tree_util.tree_map(row, made)


def _gradient(function: Callable[..., Any], inputs: list[Any]) -> Any:
    """Return the gradient of the sum of what the function returns, by the inputs that are real numbers."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    by = [place for place, each in enumerate(inputs) if jnp.issubdtype(each.dtype, jnp.floating)]

    def of(*moved: Any) -> Any:
        given = list(inputs)
        for place, each in zip(by, moved):  # noqa: B905  Python 3.9 has no strict
            given[place] = each
        return function(*given)

    if not by:
        return None
    out, pull = jax.vjp(of, *(inputs[place] for place in by))
    if not all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree_util.tree_leaves(out)):
        return None
    return pull(jax.tree_util.tree_map(lambda leaf: jnp.asarray(np.ones(leaf.shape, leaf.dtype)), out))


def _jitted(function: Callable[..., Any], inputs: list[Any]) -> Any:
    import jax

    return jax.jit(function)(*inputs)


FORMS: dict[str, Callable[[Callable[..., Any], list[Any]], Any]] = {
    "eager": lambda function, inputs: function(*inputs),
    "jit": _jitted,
    "vmap": _vmapped,
    "grad": _gradient,
}


def _is_key(leaf: Any) -> bool:
    return "key<" in str(getattr(leaf, "dtype", ""))


def _encoded(leaf: Any) -> list[Any]:
    """Return the dtype, the shape and the bytes of an array, with one kind of NaN; of many numbers, a digest."""
    import hashlib

    import jax
    import numpy as np

    if not hasattr(leaf, "dtype") and not isinstance(leaf, (bool, int, float, complex)):
        return ["text", [], str(leaf)]
    if _is_key(leaf):
        leaf = jax.random.key_data(leaf)
    value = np.asarray(leaf)
    kind = "" if hasattr(leaf, "dtype") else "python "
    if value.dtype.kind in "fc" or value.dtype.name == "bfloat16":
        value = value.copy()
        value[np.isnan(value)] = np.nan
    told = value.tobytes()
    text = told.hex() if value.size <= _LONGEST else f"sha256:{hashlib.sha256(told).hexdigest()[:16]}"
    return [kind + value.dtype.name, list(value.shape), text]


if __name__ == "__main__":
    sys.exit(main())
