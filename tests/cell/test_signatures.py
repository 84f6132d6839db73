"""Signatures: what is recognised of an exception or a warning, and what is not taken for it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.cell import Signature
from suite.cell.signatures import Signatures, about_warnings, contains, match

PIECES = st.lists(st.text(alphabet="ab\n.*", max_size=4), min_size=1, max_size=5)


def raised() -> ValueError:
    """An exception from inside of json."""
    with pytest.raises(ValueError, match="line 1") as caught:
        json.loads("{]")
    return caught.value


@given(pieces=PIECES, between=PIECES)
def test_an_ellipsis_stands_for_anything(pieces: list[str], between: list[str]) -> None:
    """A message is found in a text that has its pieces in their order, whatever stands between, before and after."""
    filled = "".join(f"{some}{piece}" for piece, some in zip(pieces, between * len(pieces), strict=False))

    assert contains(f"{filled}{between[0]}", "…".join(pieces))


@given(words=st.text(alphabet="ab.*\n"), message=st.text(alphabet="ab.*\n"))
def test_all_else_stands_for_itself(words: str, message: str) -> None:
    """Without an ellipsis a message is found just where it is a part of the text, to the letter."""
    assert (message in words) == contains(words, message)


@given(pieces=PIECES)
def test_pieces_are_not_found_twice(pieces: list[str]) -> None:
    """One occurrence of a piece does not serve for two of them."""
    assert not contains("".join(pieces), "…".join([*pieces, "c"]))
    assert not contains("c".join(pieces), "c".join(["", *pieces, ""]))


@pytest.mark.parametrize(
    ("signature", "is_it"),
    [
        (Signature("JSONDecodeError"), True),
        (Signature("ValueError"), False),
        (Signature("json.decoder.JSONDecodeError"), False),
        (Signature("JSONDecodeError", "double quotes…line 1"), True),
        (Signature("JSONDecodeError", "line 1…double quotes"), False),
        *((Signature("JSONDecodeError", module=module), True) for module in ("json", "json.decoder")),
        *((Signature("JSONDecodeError", module=module), False) for module in ("js", "decoder", "json.encoder")),
    ],
)
def test_a_signature_is_matched_whole(signature: Signature, is_it: bool) -> None:
    """The class's own name, a part of the message and a module of the traceback, or its package, must all be met."""
    assert ("known" if is_it else None) == match(raised(), {"known": signature})


def test_the_first_match_counts() -> None:
    """Of several signatures that an exception has, the one that stands first in the table names it."""
    table: Signatures = {"other": Signature("KeyError"), "one": (Signature("OSError"), Signature("JSONDecodeError"))}

    assert "one" == match(raised(), {**table, "two": Signature("JSONDecodeError")})


def test_a_warning_is_of_the_modules_it_came_through() -> None:
    """A warning has no traceback: the modules that it came through are told."""
    table = {"known": Signature("FutureWarning", module="jax._src")}
    warning = FutureWarning("soon")

    assert (None, "known") == (match(warning, table, ["jax"]), match(warning, table, ["__main__", "jax._src.core"]))


def test_only_a_warning_is_waited_for() -> None:
    """Warnings are asked about where a signature's type says that it is one."""
    assert not about_warnings({"a": Signature("ValueError", "Warning")})
    assert about_warnings({"a": Signature("ValueError"), "b": (Signature("KeyError"), Signature("FutureWarning"))})
