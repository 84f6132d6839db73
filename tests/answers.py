"""What every command that needs no environment answers, and a small report: one file for each, in a folder.

    python -m tests.answers FOLDER

Nothing in it may depend on the hash seed of Python.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

from suite.__main__ import main
from suite.check import knowledge
from suite.files import ROOT
from suite.report.compare.changes import since
from suite.report.site import timings
from suite.timings.results import COMPARED, NOISE, RESULTS
from tests.report.on_disk import save, saved
from tests.worlds import as_known, few, otherwise, some

DAY = datetime(2026, 11, 21, 10, tzinfo=UTC)
SAMPLES = ROOT / "tests" / "check" / "samples"
OLD = "jax==0.4.30 jaxlib==0.4.30 equinox==0.11.8 diffrax==0.6.0 lineax==0.0.5 optimistix==0.0.7 numpy==1.26.4"
NEW = "jax==0.9.2 equinox==0.13.2 diffrax==0.7.0"
# Bounds that admit much, code that uses much, and an error that several issues have.
BOUNDS = """
[project]
dependencies = ["jax>=0.4.20", "equinox>=0.11", "diffrax>=0.5", "optimistix", "lineax", "numpy", "scipy"]
"""
CODE = """
import jax, jax.numpy as jnp, jax.numpy, equinox as eqx, diffrax
from jax.experimental import host_callback

clip = jnp.clip
clip = other = jax.numpy.clip
f = jax.jit(lambda x: other(x, a_min=0) + jnp.pad(x, 1), static_argnums=(0,))
jax.tree_map(f, [jax.random.normal(jax.random.PRNGKey(0), (3,))])
"""
ERROR = "jax.errors.TracerArrayConversionError\nAttributeError: module 'jax' has no attribute 'tree_map'\n"


def commands() -> Iterator[list[str]]:
    """Yield the commands, as they are typed in a folder with those files."""
    for format in ("text", "json", "markdown", "sarif", "github", "constraints"):
        yield ["check", "--lock", str(SAMPLES / "project" / "uv.lock"), "--source", "code.py", "--format", format]
    yield ["check", "--from", OLD, "--format", "constraints"]
    yield ["check", "--from", OLD, "--to", NEW]
    yield ["check", "--from", NEW, "--source", "code.py", "--format", "json"]
    yield ["check", "--bounds", "pyproject.toml"]
    yield ["check", "--lock", str(SAMPLES / "conflicts" / "uv.lock")]
    yield ["explain", "error.txt"]
    yield ["compat", "--plan"]
    for format in ("terminal", "markdown", "json"):
        yield ["diff", "reports/shard-1", "reports/shard-2", "--format", format]
    yield ["rebuild", "report"]


def answer(folder: Path) -> None:
    """Carry out all of it in a folder that is not there yet; a small report is in its `report`."""
    known = as_known(few()[::3], some()[::4]).model_copy(update={"generated_at": DAY})
    changed = {(each.cell, each.issue, each.case): each for each in otherwise(known).observations}
    observations = [changed.get((each.cell, each.issue, each.case), each) for each in known.observations]
    before = known.model_copy(update={"observations": observations, "generated_at": DAY - timedelta(days=1)})
    saved([before, known], folder / "reports")
    machines = timings.machines(RESULTS, NOISE, COMPARED)
    (folder / "timings.json").write_text(timings.text(machines), encoding="utf-8")
    # Its pages, but for those of timings, `rebuild` makes.
    save(known.model_copy(update={"since": since(before, known)}), folder / "report")
    for name, text in (("pyproject.toml", BOUNDS), ("code.py", CODE), ("error.txt", ERROR)):
        (folder / name).write_text(text, encoding="utf-8")
    published = knowledge.load()
    # Every twelfth issue, what the code uses, and row zero, whose failures several packages explain equally well.
    used = {
        "static-argnums-out-of-order",
        "clip-takes-other-keywords",
        "deprecated-when-called",
        "pad-value-gradient-fails",
    }
    issues = [
        each for place, each in enumerate(published.issues) if each.row_zero or each.id in used or place % 12 == 0
    ]
    some_of_it = replace(published, issues=tuple(issues))
    knowledge.load = lambda *_: some_of_it
    with chdir(folder):
        for number, words in enumerate(commands()):
            with redirect_stdout(StringIO()) as said, redirect_stderr(said):
                code = main(words)
            (folder / f"{number:02}.txt").write_text(f"{words}\n{said.getvalue()}\n{code}\n", encoding="utf-8")


if __name__ == "__main__":
    answer(Path(sys.argv[1]).resolve())
