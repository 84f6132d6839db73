"""Matching exceptions and warnings against signatures. Pure: no stack, no file, no process.

Cell side, but the driver can use it too, to look a traceback up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from jax_stack_compat.cell.issue import Signature

Signatures = Mapping[str, Signature | tuple[Signature, ...]]


def match(raised: BaseException, signatures: Signatures, through: Collection[str] = ()) -> str | None:
    """The name of the first signature that matches an exception or a warning, or None.

    `through` adds modules to those of its traceback, for a warning, which has no traceback.
    """
    modules = {*through, *_modules(raised)}
    for name, signature in _each(signatures):
        if (
            signature.type == type(raised).__name__
            and contains(text(raised), signature.message)
            and (not signature.module or any(_within(module, signature.module) for module in modules))
        ):
            return name
    return None


def about_warnings(signatures: Signatures) -> bool:
    """Whether any signature is one of a warning, by the name of its type."""
    return any(signature.type.endswith("Warning") for _, signature in _each(signatures))


def contains(words: str, message: str) -> bool:
    """Whether `message` is a part of `words`. A `…` in it matches any text, the empty one and newlines included."""
    at = 0
    for piece in message.split("…"):
        at = words.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def text(raised: BaseException) -> str:
    """The message of an exception; where its `__str__` raises, a sentence that says so."""
    try:
        return str(raised)
    except Exception as unspeakable:
        return f"its text cannot be had: {type(unspeakable).__name__}"


def _each(signatures: Signatures) -> Iterator[tuple[str, Signature]]:
    for name, some in signatures.items():
        yield from ((name, each) for each in (some if isinstance(some, tuple) else (some,)))


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _modules(raised: BaseException) -> set[str]:
    found, at = set(), raised.__traceback__
    while at is not None:
        found.add(str(at.tb_frame.f_globals.get("__name__")))
        at = at.tb_next
    return found
