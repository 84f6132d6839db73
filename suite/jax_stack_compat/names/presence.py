"""Names that a release lacks, and arguments that a function does not accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature

from packaging.version import Version

from jax_stack_compat.names import query
from jax_stack_compat.names.model import Parameters
from jax_stack_compat.names.spans import at

# Precedes the name of a keyword that a function does not accept.
UNKNOWN = "no argument "
_CURRIED = ("transformation", "transformation_with_aux", "transformation2", "transformation_with_aux2")
# `inspect.signature` misleads for these, on all releases up to this one; empty: on all releases.
MISLEADING: Mapping[str, str] = {
    # The metaclass accepts `step_ts` and `jump_ts` since 0.7.0, which the class's signature does not show. On three
    # stacks, with jax 0.4.35 to 0.12.0.1, no other public class of the stack has such a metaclass.
    "diffrax.PIDController": "",
    # A curried function takes its first argument alone. On 13 stacks, with jax 0.4.18 to 0.12.0.1, `dir` of the public
    # modules lists no other.
    **{f"{module}.{name}": "" for module in ("jax.linear_util", "jax.extend.linear_util") for name in _CURRIED},
    "jax.core.jaxpr_as_fun": "",
    "jax.extend.core.jaxpr_as_fun": "",
    # The wrapper accepts `concrete`, which the signature of the wrapped function does not show. On the same stacks,
    # `dir` lists no other wrapper with parameters of its own.
    "jax.checkpoint": "0.8.1",
    "jax.remat": "0.8.1",
}
# On jax 0.4.31, 0.6.2 and 0.12.0.1, the functions of these modules were called with a negative size in `shape`,
# and with a number or a sequence for a word as `mode` or `method`. All refused them, except three a negative size.
_CALLED = ("jax.numpy", "jax.random")
_ANY_SHAPE = ("jax.numpy.fromfunction", "jax.numpy.reshape", "jax.numpy.unravel_index")
_WORDS = ("method", "mode")
_KINDS = {
    "/": Parameter.POSITIONAL_ONLY,
    "*": Parameter.VAR_POSITIONAL,
    "=": Parameter.KEYWORD_ONLY,
    "**": Parameter.VAR_KEYWORD,
}


@cache
def lacks(dotted: str, version: str, bound: int = 0, *, module: bool = False) -> str | None:
    """Return the first part of a name that a release is known to lack; None if no part is known to be missing.

    The first `bound` parts are not checked. With `module`, only modules count, as in `import a.b`. Raises BadFile.
    """
    here, *parts = dotted.split(".")
    if query.place_of(dotted, version) is None or not query.is_listed(dotted):
        return None
    for number, part in enumerate(parts, 2):
        name = f"{here}.{part}"
        # Walks skip names such as `__version__`.
        if part.startswith("__"):
            return None
        known, is_module = query.has(name, version), query.is_module(name, version)
        if number > bound and not is_module and (module or known is False):
            return None if module and query.fails(here, version) else name
        # Members of objects are unknown: `jax.config` was a module first, and is now an object.
        if module or known is False:
            if not is_module:
                return None
        elif known is None or query.kind(name, version) not in ("module", None) or not is_module:
            return None
        here = name
    return None


def is_there(dotted: str, version: str) -> bool:
    """Return True if a release is known to have a name or a module. Raises BadFile."""
    return query.has(dotted, version) is True or query.is_module(dotted, version)


def is_no_longer_a_module(dotted: str, version: str) -> bool:
    """Return True if a name is an object on a release and was a module on another, so that `from` it fails.

    `jax.config` is one. Raises BadFile.
    """
    if not query.module_life(dotted) or query.is_module(dotted, version):
        return False
    return query.has(dotted, version) is True and query.kind(dotted, version) != "module"


@cache
def misfit(
    dotted: str, version: str, positions: int, keywords: tuple[str, ...], *, open: tuple[bool, bool], partial: bool
) -> str | None:
    """Return a release's error message for a call; None if the function accepts all arguments, or is unknown.

    `open` has two flags: the call has `*`, and the call has `**`. Raises BadFile.
    """
    found = query.parameters(dotted, version)
    if found is None or is_misleading(dotted, version):
        return None
    signature = _signature(found)
    kinds = {parameter.name: parameter.kind for parameter in signature.parameters.values()}
    if Parameter.VAR_KEYWORD not in kinds.values():
        for keyword in keywords:
            if kinds.get(keyword) not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
                return f"{UNKNOWN}{keyword}"
    if open[0]:
        return None
    bind = signature.bind_partial if partial or open[1] else signature.bind
    try:
        bind(*range(positions), **dict.fromkeys(keywords))
    except TypeError as error:
        return str(error)
    return None


def reads_literals(dotted: str) -> bool:
    """Return True if some literals are known that a function refuses."""
    return dotted.rpartition(".")[0] in _CALLED


def refuses(dotted: str, parameter: Sequence[str], value: object) -> bool:
    """Return True if a function is known to refuse a literal: as `shape` a negative size, as `mode` not a word."""
    if not reads_literals(dotted):
        return False
    name, *defaults = parameter
    match name.lstrip("/*="):
        case "shape":
            sizes = value if isinstance(value, tuple | list) else (value,)
            return dotted not in _ANY_SHAPE and any(isinstance(size, int) and size < 0 for size in sizes)
        case word if word in _WORDS:
            return defaults[:1] != [] and defaults[0][0] in "'\"" and isinstance(value, int | float | tuple | list)
    return False


def is_misleading(dotted: str, version: str) -> bool:
    """Return True if the known parameters of a function are not those that a call accepts."""
    last = MISLEADING.get(dotted)
    return last is not None and (not last or Version(version) <= Version(last))


@cache
def _signature(parameters: Parameters) -> Signature:
    return Signature(list(map(_parameter, parameters)), __validate_parameters__=False)


def _parameter(of: Sequence[str]) -> Parameter:
    name = of[0].lstrip("/*=")
    kind = _KINDS.get(of[0][: len(of[0]) - len(name)], Parameter.POSITIONAL_OR_KEYWORD)
    return Parameter(name, kind, default=None if len(of) > 1 else Parameter.empty)


def is_deprecated(dotted: str, version: str) -> str | None:
    """Return a release's warning on access to a name, or None. Raises BadFile."""
    public, place = query.public(dotted), query.place_of(dotted, version)
    warns = at(public.warns, place) if public and place is not None else None
    return warns[1] if warns else None
