"""Real messages against the published knowledge: the right page, or none."""

import csv
from pathlib import Path

import pytest

from jax_stack_compat.check.explain import arguments, matching, missing
from jax_stack_compat.check.explain.ordinary import ORDINARY
from jax_stack_compat.check.find.index import Signed, load

LINES = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8").splitlines()
MESSAGES = [line.split(" | ", 1) for line in LINES if not line.startswith("#")]
THROUGH_EQUINOX = """Traceback (most recent call last):
  File "/home/x/train.py", line 8, in <module>
    jax.jit(loss, static_argnums=1)(parameters, static)
  File "/home/x/.venv/lib/python3.12/site-packages/equinox/_module/_module.py", line 554, in __hash__
    return hash(
TypeError: unhashable type: 'list'
"""


def pages(text: str) -> list[str]:
    """Return the published issues that match a text."""
    return [match.issue.id for match in matching.matches(load().issues, text)]


@pytest.mark.parametrize(("told", "message"), MESSAGES)
def test_a_page_is_about_this_error_or_there_is_none(told: str, message: str) -> None:
    """If nothing matches, no issue is named: a wrong page costs the reader an hour."""
    assert ([] if told in ("-", "name") else [told]) == pages(message)
    assert (told == "name") == bool([*missing.told(message), *arguments.told(message)])


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "AttributeError: module 'jax' has no attribute 'tree_map'",
            "jax.tree_map exists on jax 0.4.18 (or older) to 0.5.3. Upstream: jax.tree_map was removed in JAX v0.6.0",
        ),
        (
            "ImportError: cannot import name 'AxisTypes' from 'jax.sharding' (/x/jax/sharding.py)",
            "jax.sharding.AxisTypes exists on jax 0.5.0 to 0.5.2. On 0.12.0.1, use jax.sharding.AxisType.",
        ),
    ],
)
def test_a_missing_name_is_told(message: str, told: str) -> None:
    """The releases that have a name come first, then its replacement on the newest."""
    (line,) = missing.told(f"Traceback (most recent call last):\n{message}\n{message}")
    assert line.startswith(told)


def test_a_list_in_a_module_is_found_by_its_traceback() -> None:
    """equinox#1097: Equinox raised in the hash of a module; the signature has a dict in it."""
    assert ["modules-of-lists-are-unhashable"] == pages(THROUGH_EQUINOX)
    assert ["modules-of-lists-are-unhashable"] == pages(THROUGH_EQUINOX.replace("\n", "\x1b[0m\n"))


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: unhashable type: 'list'",
        THROUGH_EQUINOX.replace("equinox/_module/_module", "networkx/classes/graph"),
        THROUGH_EQUINOX.replace("TypeError", '  File "/home/x/model.py", line 3, in __call__\nTypeError'),
    ],
)
def test_a_list_that_is_unhashable_elsewhere_is_nobodys_fault(text: str) -> None:
    """The message alone does not match Equinox, because any list as a key of a dict raises it.

    A traceback without Equinox, or one in which Equinox calls the raising code, does not match either.
    """
    assert [] == pages(text)


def test_where_jax_raises_tells_of_an_everyday_class() -> None:
    """Any code can raise an error about a tracer's truth value; `clamp_index` of jax 0.4.21 raises the issue's."""
    said = "jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].."
    files = '  File "/x/site-packages/jax/_src/{}.py", line 7, in {}\n'
    inside = files.format("numpy/lax_numpy", "clamp_index") + files.format("core", "__bool__")

    assert ["closed-over-index-in-a-slice"] == pages(inside + said)
    assert [] == pages(files.format("core", "__bool__") + said)


def is_ordinary(signed: Signed) -> bool:
    """Return True if others' mistakes have these words too."""
    signature = signed.signature
    is_known = signature.everyday or signature.type in ORDINARY
    return is_known or bool(signature.module) or len(signature.message.split()) < 2


def test_issues_are_found_by_what_was_seen_of_them(report_folder: Path) -> None:
    """The first evidence of an issue finds it, unless its signature is ordinary: then a traceback must tell."""
    found, missed = [], []
    for issue in load().issues:
        signatures = {(case, signed.behaviour): signed for signed in issue.signed for case in signed.cases}
        with (report_folder / "observations" / f"{issue.id}.csv").open(encoding="utf-8", newline="") as file:
            seen = [row for row in csv.DictReader(file) if (row["case"], row["behaviour"]) in signatures]
        for row in seen[:1]:
            if issue.id in pages(row["detail"]):
                found.append(issue.id)
            elif not issue.row_zero:
                missed.append(signatures[row["case"], row["behaviour"]])

    assert [] == [each for each in missed if not is_ordinary(each)]
    assert len(found) > 40


def test_an_argument_of_a_misleading_signature_is_not_dated() -> None:
    """The signature of `jax.checkpoint` hides `concrete` up to jax 0.8.1, and `static_argnames` came later."""
    refused = "TypeError: checkpoint() got an unexpected keyword argument"
    assert not [said for said in arguments.told(f"{refused} 'concrete'") if said.startswith("jax.checkpoint ")]
    [told] = arguments.told(f"{refused} 'static_argnames'")
    assert told.startswith("jax.checkpoint takes static_argnames on jax 0.10.2 to ")
