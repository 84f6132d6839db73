"""Checks of ids, versions and requirements in our files; each raises ValueError. Pure.

Checked text can be parsed, and used in a path.
"""

from __future__ import annotations

import re
from functools import cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

# A release in a sentence: 0.4.30.
RELEASE = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,3}(?!\w|\.\d)")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CELL = re.compile(r"[a-z0-9]+([.+_-][a-z0-9]+)*")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+!_-]*")
# Names become paths, and a folder's name has at most 255 bytes.
NAME_LETTERS, _VERSION_LETTERS, _CELL_LETTERS, _REQUIREMENT_LETTERS = 100, 60, 200, 1000


@cache
def identifier(text: str) -> str:
    """Return `text` if it is the id of an issue or of a case. Raises ValueError."""
    if len(text) > NAME_LETTERS or not _ID.fullmatch(text):
        raise ValueError(
            f"{quoted(text)} is not an id: up to {NAME_LETTERS} lower-case letters, digits and single dashes"
        )
    return text


@cache
def cell_id(text: str) -> str:
    """Return `text` if it is the id of a cell. Raises ValueError."""
    if len(text) > _CELL_LETTERS or not _CELL.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not the id of a cell, such as jax-0.4.30 or jax-0.4.36+diffrax-0.6.0")
    return text


@cache
def is_version(text: str) -> bool:
    """Return True if `text` is a version by PEP 440 that a file name can hold."""
    # Python refuses to convert thousands of digits to a number.
    if len(text) > _VERSION_LETTERS or not _VERSION.fullmatch(text):
        return False
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def version(text: str) -> str:
    """Return `text` if it is a version. Raises ValueError."""
    if not is_version(text):
        raise ValueError(f"{quoted(text)} is not a version")
    return text


@cache
def requirement(text: str) -> Requirement:
    """Parse a requirement as metadata writes it, with extras and markers. Raises ValueError."""
    try:
        if len(text) > _REQUIREMENT_LETTERS:
            raise InvalidRequirement(f"it has more than {_REQUIREMENT_LETTERS} characters")
        found = Requirement(text)
        if found.marker is not None:
            # A marker with an unknown variable parses, and fails only when evaluated.
            found.marker.evaluate({"extra": ""})
    except (InvalidRequirement, ValueError, KeyError) as error:
        raise ValueError(f"{quoted(text)} is not a requirement: {_first_line(error)}") from error
    return found


@cache
def plain_requirement(text: str) -> Requirement:
    """Parse a requirement as we write it: a name, perhaps with versions. Raises ValueError."""
    found = requirement(text)
    odd = {"extras": found.extras, "a marker": found.marker, "an address": found.url}
    if has := [what for what, there in odd.items() if there]:
        raise ValueError(f"{quoted(text)} has {' and '.join(has)}: write a name and versions only")
    return found


@cache
def specifiers(text: str) -> SpecifierSet:
    """Parse clauses of versions, such as `>=3.11,<4`. Raises ValueError."""
    try:
        if len(text) > _REQUIREMENT_LETTERS:
            raise InvalidSpecifier(f"it has more than {_REQUIREMENT_LETTERS} characters")
        return SpecifierSet(text)
    except InvalidSpecifier as error:
        raise ValueError(f"{quoted(text)} is not a specifier: {_first_line(error)}") from error


def quoted(value: object) -> str:
    """Return foreign text or a number in ASCII, clipped, for a sentence."""
    told = ascii(value)
    return told if len(told) <= 60 else f"{told[:59]}…"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
