"""Keys change only with the inputs of an observation; and one run may count for many cells."""

import ast
import shutil
import subprocess
import sys
from dataclasses import fields, make_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.files import PACKAGES, ROOT
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case, Signature, Workaround
from jax_stack_compat.environments import interpreter
from jax_stack_compat.judge.record import Part
from jax_stack_compat.packages import guests
from jax_stack_compat.stack import lock, plan
from laboratory.records import archive, keys, records
from laboratory.records.alike import LAYERS, alike
from laboratory.records.work import ask, planned
from laboratory.report.assemble import assemble
from laboratory.sources import source
from laboratory.sources.syntax import canonical
from tests.catalogue.test_source import CASE, instead
from tests.catalogue.test_source import MODULE as ISSUE_MODULE
from tests.cell.test_wall import PROBE, module_of, reached
from tests.report.test_report import put_record, put_status

# Prints the syntax tree of each named file.
READ = """
import ast, hashlib, pathlib, sys
from laboratory.sources.syntax import canonical
for path in sys.argv[1:]:
    print(hashlib.sha256(canonical(ast.parse(pathlib.Path(path).read_text(encoding="utf-8"))).encode()).hexdigest())
"""


def hashes(tmp_path: Path, text: str, case: Case = CASE) -> str:
    """Return the hash of a case in a module with this text."""
    keys._text.cache_clear()
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    return keys.case_sha256(Entry(catalogue.entries()[0].issue, "module", path), case)


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("LIMIT = 3", "LIMIT = 5", True),
        ("OTHER = 4", "OTHER = 5", True),
        ("jnp.arange(LIMIT)", "jnp.arange(LIMIT) + 0", True),
        ("from __future__ import annotations\n", "", True),
        ("import Case, Issue, compare", "import compare", False),
        (
            "from jax_stack_compat.cell import Case, Issue, compare",
            "from jax_stack_compat.cell.oracle import compare",
            False,
        ),
        ("Does it?", "Is it?", False),
        ("LIMIT = 3", "LIMIT = 3  # or more", False),
        ("LIMIT = 3", "UNUSED = 3\nLIMIT = (\n    3\n)", False),
        ("LIMIT = 3\nOTHER = 4\n", "OTHER = 4\nLIMIT = 3\n", False),
        (ISSUE_MODULE, ast.unparse(ast.parse(ISSUE_MODULE)), False),
    ],
)
def test_a_case_s_hash_is_of_what_it_runs(tmp_path: Path, old: str, new: str, counts: bool) -> None:
    """A hash covers all code that a case's functions use, directly or not, but not text, layout, order, our imports."""
    assert old in ISSUE_MODULE
    assert counts == (hashes(tmp_path, ISSUE_MODULE) != hashes(tmp_path, ISSUE_MODULE.replace(old, new)))


def widened(of: Any) -> Any:
    """Return an equal part of a table, whose class has one more field."""
    wider = make_dataclass("Wider", [("another", str, "")], bases=(type(of),), frozen=True)
    return wider(**{each.name: getattr(of, each.name) for each in fields(of)})


def test_a_new_word_changes_no_key(tmp_path: Path) -> None:
    """A new field in a class of the vocabulary does not change the key of a case that leaves it out."""
    helps, warning = Workaround("Do this.", instead, {"A": "1"}), Signature("UserWarning")
    case = replace(CASE, workaround=helps, signatures={"bad": warning})
    wider = widened(replace(case, workaround=widened(helps), signatures={"bad": widened(warning)}))

    assert hashes(tmp_path, ISSUE_MODULE, case) == hashes(tmp_path, ISSUE_MODULE, wider)


def test_the_oracle_counts_where_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed oracle changes only the keys of cases that use it."""
    plain = ISSUE_MODULE.replace("compare(_values(), np.ones(LIMIT + 2))", "('bad', '')")
    before = hashes(tmp_path, ISSUE_MODULE), hashes(tmp_path, plain)
    text = source._oracle().replace("_SHOWN_WHOLE = 8", "_SHOWN_WHOLE = 9")
    monkeypatch.setattr(source, "_oracle", lambda: text)
    keys._code.cache_clear()
    keys._KNOWN.clear()
    after = hashes(tmp_path, ISSUE_MODULE), hashes(tmp_path, plain)
    keys._code.cache_clear()
    keys._KNOWN.clear()

    assert [True, False] == [one != other for one, other in zip(before, after, strict=True)]


GIVEN: list[dict[str, Any]] = [
    *({"x64": True}, {"seconds": 60.0}, {"memory_mib": 512}, {"host_devices": 2}, {"environment": {"A": "1"}}),
    *({"isolation": "interpreter"}, {"needs": ("jax", "equinox")}, {"signatures": {"bad": Signature("UserWarning")}}),
    {"workaround": Workaround("Do this.", instead, {"A": "1"})},
]
# Meanings of behaviours and signatures of exceptions are applied after the run.
WORDS: dict[str, Any] = {"behaviours": {"bad": "guarded"}, "signatures": {"bad": Signature("TypeError")}}


@pytest.mark.parametrize(("changed", "counts"), [*((each, True) for each in GIVEN), (WORDS, False)])
def test_what_a_process_is_given_counts(tmp_path: Path, changed: dict[str, Any], counts: bool) -> None:
    """Fields that decide how the process runs change the key; texts do not."""
    assert counts == (hashes(tmp_path, ISSUE_MODULE) != hashes(tmp_path, ISSUE_MODULE, replace(CASE, **changed)))


def test_the_probe_is_all_that_runs_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each module of the probe counts, except the vocabulary and other code of cells; comments do not."""
    words = {"issue", "oracle", "standalone", "touches"}
    vocabulary = {"jax_stack_compat", "jax_stack_compat.cell", *(f"jax_stack_compat.cell.{name}" for name in words)}
    modules = {module_of(path): path for path in reached([PROBE])}
    assert {f"jax_stack_compat.cell.{name}" for name in keys.PROBE} == modules.keys() - vocabulary
    for path in modules.values():
        (tmp_path / path.relative_to(PACKAGES)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(PACKAGES))
    there = keys.probe_sha256()
    monkeypatch.setattr(keys, "PACKAGES", tmp_path)

    def probe() -> str:
        keys._text.cache_clear()
        keys.probe_sha256.cache_clear()
        return keys.probe_sha256()

    unchanged = probe()
    # The copy lacks all that the probe does not import.
    assert there == unchanged
    for name in keys.PROBE:
        copy = tmp_path / "jax_stack_compat/cell" / f"{name}.py"
        text = copy.read_text(encoding="utf-8")
        copy.write_text(f"{text}# said\n", encoding="utf-8")
        assert unchanged == probe(), name
        copy.write_text(f"{text}CHANGED = True\n", encoding="utf-8")
        assert unchanged != probe(), name
        copy.write_text(text, encoding="utf-8")
    assert unchanged == probe()
    monkeypatch.undo()
    probe()


def test_a_key_is_the_same_for_every_python() -> None:
    """The cells' Python gives the same syntax tree for every issue and the probe as the driver's."""
    paths = [*ROOT.glob("suite/jax_stack_compat/issues/**/*.py"), *ROOT.glob("suite/jax_stack_compat/cell/*.py")]
    other, _ = interpreter.find("3.12" if sys.version_info[:2] != (3, 12) else "3.13")
    read = [
        subprocess.run([python, "-c", READ, *paths], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for python in (sys.executable, other)
    ]

    assert read[0] == read[1]
    assert len(paths) == len(read[0].split())


def test_values_that_look_alike_differ() -> None:
    """A number, a boolean and a text that print alike have different hashes."""
    texts = ["1", "True", "'1'", "1.0", "b'1'", "None", "...", "1j"]

    assert len(texts) == len({canonical(ast.parse(each)) for each in texts})


LINE = [cell for cell in plan.tagged("line") if cell.unavailable is None]
BARE, WITH_DIFFRAX = ["jax"], ["jax", "equinox", "diffrax"]
(BYPASS,) = catalogue.select(["wraps-lower-bypass"])
(SMOKE,) = catalogue.select(["stack-smoke"])


@pytest.mark.parametrize("needs", [BARE, ["jax", "equinox"], ["jax", "lineax"], WITH_DIFFRAX])
def test_alike_is_what_differs_above_alone(needs: list[str]) -> None:
    """Two cells that are alike for a case differ only in packages that build on the case's last need."""
    last = max((at for at, layer in enumerate(LAYERS) if not layer.isdisjoint(needs)), default=-1)
    above = frozenset().union(*LAYERS[last + 1 :])
    pairs = [
        (cell, other, {name for name, _ in lock.load(cell).pins.items() ^ held.pins.items()})
        for cell in LINE
        for other, held in alike(cell, needs, lock.load(cell).pins)
    ]

    assert pairs or needs == WITH_DIFFRAX
    assert all(differing <= above for _, _, differing in pairs)
    assert all(cell.python == other.python for cell, other, _ in pairs)


def test_to_a_guest_nothing_is_above() -> None:
    """A guest's record does not count in cells with other packages: a guest may import any package."""
    holding = [cell for cell in plan.cells() if cell.unavailable is None and guests(dict(cell.holds))]

    for cell in holding:
        pins = lock.load(cell).pins
        assert all(held.pins == pins for _, held in alike(cell, ["jax", *guests(dict(cell.holds))], pins))
    assert any(alike(cell, BARE, lock.load(cell).pins) for cell in holding)


def test_one_run_counts_in_the_cells_that_are_alike(elsewhere: Path) -> None:
    """A jax-only case with a record in one cell is known in a cell of a library release, which names the first cell."""
    cell, other = next(
        (cell, found[0][0])
        for cell in LINE
        if cell.moves != "jax" and (found := alike(cell, BARE, lock.load(cell).pins)) and found[0][0].moves == "jax"
    )
    case = BYPASS.issue.cases[0]
    put_status(other)
    put_record(other, BYPASS, case, Part(outcome="returned", behaviour="bypassed"))
    for smoke in SMOKE.issue.cases:
        put_record(other, SMOKE, smoke, Part(outcome="returned", behaviour="works"))

    seen, *rest = assemble([cell], [BYPASS, SMOKE]).observations

    assert (cell.id, other.id, "bypassed") == (seen.cell, seen.ran_in, seen.behaviour)
    assert {("not-run", None)} == {(each.verdict, each.ran_in) for each in rest}
    assert len(ask(planned(cell, [BYPASS])).left) == len(BYPASS.issue.cases) - 1
    assert len(ask(planned(cell, [SMOKE])).left) == len(SMOKE.issue.cases)


def test_its_own_record_comes_first(elsewhere: Path) -> None:
    """A cell's own record takes precedence over records of alike cells."""
    cell = next(cell for cell in LINE if alike(cell, BARE, lock.load(cell).pins))
    (other, _), *_ = alike(cell, BARE, lock.load(cell).pins)
    case = BYPASS.issue.cases[0]
    for each, behaviour in ((other, "bypassed"), (cell, "lowered")):
        put_status(each)
        put_record(each, BYPASS, case, Part(outcome="returned", behaviour=behaviour))

    record = records.in_force(cell, BYPASS, case, lock.load(cell))

    assert record is not None
    assert cell.id == record.cell


def test_the_packed_records_have_the_keys_of_this_tree() -> None:
    """Moving a module changes no key: each packed record of a case in the tree still counts."""
    there, _ = archive.load(archive.FOLDER)
    cases = {(entry.issue.id, case.id): (entry, case) for entry in catalogue.entries() for case in entry.issue.cases}
    cells = {cell.id: cell for cell in plan.cells()}

    outdated = [
        (cell, issue, case)
        for (cell, issue, case), packed in there.items()
        if (issue, case) in cases and not archive.holds(packed.key, cells[cell], *cases[issue, case])
    ]
    assert there
    assert [] == outdated
