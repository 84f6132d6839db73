"""Answers and reports do not depend on Python's hash seed, which differs between processes.

`python -m tests.test_repeatable FOLDER` puts all answers, and a small report, into files of a folder.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

from jax_stack_compat.base.files import ROOT, replace_all
from jax_stack_compat.check import knowledge
from laboratory.cli.command_line import main
from laboratory.report.compare import since
from laboratory.report.folder.write import write
from laboratory.report.site import timings
from laboratory.timings.results import COMPARED, NOISE, RESULTS
from tests.report.on_disk import saved, there
from tests.worlds import as_known, few, otherwise, some

SEEDS = ("0", "1", "2")
DAY = datetime(2026, 11, 21, 10, tzinfo=UTC)
SAMPLES = ROOT / "tests" / "check" / "samples"
OLD = "jax==0.4.30 jaxlib==0.4.30 equinox==0.11.8 diffrax==0.6.0 lineax==0.0.5 optimistix==0.0.7 numpy==1.26.4"
NEW = "jax==0.9.2 equinox==0.13.2 diffrax==0.7.0"
# Wide bounds, code with many uses, and an error that several issues raise.
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


def answer(folder: Path) -> None:
    """Carry out all commands in a folder that is not there yet; a small report is in its `report`."""
    known = as_known(few()[::3], some()[::4]).model_copy(update={"generated_at": DAY})
    changed = {(each.cell, each.issue, each.case): each for each in otherwise(known).observations}
    observations = [changed.get((each.cell, each.issue, each.case), each) for each in known.observations]
    before = known.model_copy(update={"observations": observations, "generated_at": DAY - timedelta(days=1)})
    saved([before, known], folder / "reports")
    machines = timings.machines(RESULTS, NOISE, COMPARED)
    (folder / "timings.json").write_text(timings.text(machines), encoding="utf-8")
    write(known.model_copy(update={"since": since(before, known)}), folder / "report")
    replace_all(folder, {"pyproject.toml": BOUNDS, "code.py": CODE, "error.txt": ERROR})
    published = knowledge.load()
    # Every twelfth issue, those that the code uses, and row zero, whose failures have several equal explanations.
    used = {"static-argnums-out-of-order", "clip-takes-other-keywords"}
    used |= {"deprecated-when-called", "pad-value-gradient-fails"}
    kept = (each for at, each in enumerate(published.issues) if each.row_zero or each.id in used or at % 12 == 0)
    some_of_it = replace(published, issues=tuple(kept))
    knowledge.load = lambda *_: some_of_it
    with chdir(folder):
        for number, words in enumerate(commands()):
            with redirect_stdout(StringIO()) as said, redirect_stderr(said):
                code = main(words)
            (folder / f"{number:02}.txt").write_text(f"{words}\n{said.getvalue()}\n{code}\n", encoding="utf-8")


def test_every_answer_is_the_same_under_every_hash_seed(tmp_path: Path) -> None:
    """Three processes with three seeds write the same bytes: of each command in each format, and of a small report."""
    answering = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.test_repeatable", str(tmp_path / seed)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "SUITE_STATE": str(tmp_path / "state"), "COLUMNS": "120"},
        )
        for seed in SEEDS
    ]
    assert [0] * len(SEEDS) == [process.wait() for process in answering]

    first, *others = [there(tmp_path / seed) for seed in SEEDS]
    assert {"report/index.html", "report/compat.json", "timings.json"} < first.keys()
    assert [] == sorted({name for other in others for name in other if other[name] != first.get(name)})
    assert all(first.keys() == other.keys() for other in others)


if __name__ == "__main__":
    answer(Path(sys.argv[1]).resolve())
