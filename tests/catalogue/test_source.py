"""An issue module's source: the code that readers copy, the code that a case runs, and its upstream names."""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator
from dataclasses import replace

from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.cell.issue import Case, Issue, Seen, Workaround
from laboratory.sources import source

# The text of an issue module; the functions below are those in its table.
MODULE = '''
"""It goes wrong."""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, compare

LIMIT = 3
OTHER = 4
UNUSED = 5


def _values():
    import jax.numpy as jnp

    return jnp.pad(jnp.arange(LIMIT), 1, constant_values=2)


def headline() -> tuple[str, str]:
    """Does it?"""
    import jax
    import numpy as np
    from jax import lax
    from jax.experimental import pallas as pl

    jax.config.update("jax_enable_x64", True)
    lax.scan(pl.when, None, np.zeros(3), unroll=2)
    return compare(_values(), np.ones(LIMIT + 2))


def instead() -> None:
    """Do this."""
    import equinox as eqx

    eqx.filter_jit(_values)()


def control() -> None:
    """Is well."""
    assert OTHER


ISSUE = Issue("crash", (), ())
'''


def headline() -> Seen:
    """Return a stand-in for the function of this name in MODULE."""
    return "bad", "seen"


def instead() -> None:
    """The same."""


def control() -> None:
    """The same."""


CASE = Case(headline, control, {"bad": "affected"}, (), Workaround("Do this.", instead))
ISSUE = Issue("crash", (), (CASE,), touches=("the tracing cache",))


def unresolved(text: str) -> set[str]:
    """Return the undefined names that a program uses: neither defined, nor imported, nor built in."""
    space: dict[str, object] = {"__name__": "copied"}
    exec(compile(text, "copied.py", "exec", dont_inherit=True), space)

    def tables(of: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
        yield of
        for each in of.get_children():
            yield from tables(each)

    names = {
        each.get_name()
        for table in tables(symtable.symtable(text, "copied.py", "exec"))
        for each in table.get_symbols()
        if each.is_referenced() and (each.is_global() or table.get_type() == "module")
    }
    return names - space.keys() - set(dir(builtins))


PARTS = (source.reproducer, source.workaround, source.control)


def test_what_a_reader_copies_runs_alone() -> None:
    """The code of a case that a page shows defines every name, and does not import this suite."""
    lacks = {}
    for entry in catalogue.entries():
        text = entry.source.read_text(encoding="utf-8")
        shared = source.shared(text, entry.issue)
        for case in entry.issue.cases:
            shown = "\n".join([shared, *(part(text, case) for part in PARTS)])
            of_suite = re.findall(r"^\s*(?:from|import) (jax_stack_compat|laboratory)\b", shown, re.MULTILINE)
            lacks[f"{entry.issue.id}/{case.id}"] = {*unresolved(shown), *of_suite}

    assert {} == {name: names for name, names in lacks.items() if names}


def test_a_copy_has_what_it_names_and_no_more() -> None:
    """The source has all helpers and constants that it uses, directly or not, and the oracle, but nothing else."""
    shared = source.shared(MODULE, ISSUE)
    shown = "\n".join(part(MODULE, CASE) for part in PARTS)

    defined = {node.name for node in ast.parse(shared).body if isinstance(node, ast.FunctionDef)}
    assert {"compare", "_values"} <= defined
    assert ("LIMIT = 3" in shared, "OTHER" in shared, "UNUSED" in shared, "instead" in shared) == (
        True,
        True,
        False,
        False,
    )
    assert set() == unresolved(f"{shared}\n{shown}")
    assert ("def headline" in shown, "def instead" in shown, "_values():" in shown) == (True, True, False)


def test_what_an_issue_touches_is_what_it_says() -> None:
    """Listed touches are an issue's only touches; without a list, its touches are the names in its reproducers."""
    assert ["the tracing cache"] == list(source.touches(MODULE, ISSUE))
    assert source.used(MODULE, ISSUE) == source.touches(MODULE, replace(ISSUE, touches=()))


def test_what_reproducers_use_is_read_off_them() -> None:
    """Functions and keywords get their full names, even if imported under an alias."""
    assert [
        "jax.config.update",
        "jax.experimental.pallas.when",
        "jax.lax.scan",
        "jax.lax.scan(unroll=)",
        "jax.numpy.arange",
        "jax.numpy.pad",
        "jax.numpy.pad(constant_values=)",
        "numpy.ones",
        "numpy.zeros",
    ] == list(source.used(MODULE, ISSUE))
