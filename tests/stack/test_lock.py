"""The locks in the tree, and files that are not valid locks."""

import hashlib
import re
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Fault
from jax_stack_compat.packages import PACKAGES
from jax_stack_compat.stack import lock, plan, releases
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.run import sizes
from tests.worlds import refused

PATH = Path("suite/jax_stack_compat/stack/locks/jax-0.4.30.txt")
SHA = "0123456789abcdef" * 4
LINES = [
    "# a comment",
    f"diffrax==0.5.1 --hash=sha256:{SHA}",
    "equinox==0.11.4 \\",
    f"    --hash=sha256:{SHA} \\",
    f"    --hash=sha256:{SHA[::-1]}",
    "",
    f"jax==0.4.30 --hash=sha256:{SHA}",
    f"jaxlib==0.4.30 --hash=sha256:{SHA}",
]


def text(*more: str, without: str = "\n") -> str:
    """Return a valid lock without the lines that contain `without`, and with `more` at its end."""
    return "\n".join([*(line for line in LINES if without not in line), *more]) + "\n"


@pytest.fixture(scope="module")
def locks() -> dict[Cell, Lock]:
    """Every planned cell's lock. Unavailable cells have none."""
    return {cell: lock.load(cell) for cell in plan.cells() if cell.unavailable is None}


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cell:
    """A planned cell with an empty folder of locks."""
    monkeypatch.setattr(lock, "LOCKS", tmp_path)
    return plan.cells()[0]


def test_a_lock_is_read() -> None:
    """A lock is its pins, its text, and the sha256 of that."""
    found = lock.parse(text(), PATH)

    assert {"diffrax": "0.5.1", "equinox": "0.11.4", "jax": "0.4.30", "jaxlib": "0.4.30"} == found.pins
    assert text() == found.text
    assert hashlib.sha256(text().encode()).hexdigest() == found.sha256


def test_every_planned_cell_has_a_lock_and_no_lock_is_left_over(locks: dict[Cell, Lock]) -> None:
    """The folder has the locks of all available cells; each pins the releases in its cell's id, and has no address."""
    wrong = []
    for cell, locked in locks.items():
        said = dict(part.rsplit("-", 1) for part in cell.id.split("+") if part not in (plan.TODAY, plan.ALONE))
        if not said.items() <= {**locked.pins, "python": cell.python}.items() or "://" in locked.text:
            wrong.append(cell.id)

    assert [] == wrong
    assert {cell.lock_name for cell in locks} == {path.name for path in lock.LOCKS.iterdir()}


def test_a_lock_pins_what_there_was_for_its_interpreter(locks: dict[Cell, Lock]) -> None:
    """Each release in a lock is in releases.json, is no newer than the cell's day, and supports the cell's Python."""
    known = releases.load().packages
    wrong = []
    for cell, locked in locks.items():
        for name in PACKAGES.keys() & locked.pins.keys():
            release = known[name].get(locked.pins[name])
            if (
                release is None
                or release.yanked is not None
                or release.uploaded >= dict(cell.as_of_package).get(name, cell.as_of)
                or release.newest_wheel(cell.python) is None
                or not release.allows(cell.python)
            ):
                wrong.append(f"{cell.id}: {name} {locked.pins[name]}")

    assert [] == wrong


def test_the_sizes_are_of_what_is_pinned(locks: dict[Cell, Lock]) -> None:
    """sizes.json has a size for every package that a lock pins, and for no other."""
    pinned = {f"{name}=={version}" for each in locks.values() for name, version in each.pins.items()}

    assert pinned == set(sizes.load())
    assert min(sizes.load().values()) > 0


def test_sizes_are_kept_of_what_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the index gives no size, the known one stays; sizes of unused pins are removed."""
    monkeypatch.setattr(sizes, "PATH", tmp_path / "sizes.json")
    sizes.save({"jax==1": 7, "jax==2": 8, "jax==3": 9})
    sizes.save({"jax==1": 0, "jax==2": 10, "jax==4": 0})

    assert {"jax==1": 7, "jax==2": 10} == sizes.load()


def test_what_is_installed_over_metadata_says_so(locks: dict[Cell, Lock]) -> None:
    """If metadata excludes a cell, its lock pins the packages anyway, and its first lines say so."""
    excluded = [locked.text.split("\nabsl")[0] for cell, locked in locks.items() if cell.excluded]

    assert excluded
    assert [] == [each for each in excluded if "installed over all metadata" not in each]


@pytest.mark.parametrize(
    ("lines", "key", "message"),
    [
        (text("numpy==1.26.4"), "line 9", "numpy has no hash"),
        (text("numpy==1.26.4 \\", f"    --hash=md5:{SHA[:32]}"), "line 9", f"numpy: '--hash=md5:{SHA[:32]}' is not a"),
        (text(f"numpy==1.26.4 --hash=sha256:{SHA[:-1]}"), "line 9", "numpy: '--hash=sha256:"),
        (text(f"numpy==1.26.4 --hash=sha256:{SHA.upper()}"), "line 9", "numpy: '--hash=sha256:"),
        (text(f"numpy>=1.26.4 --hash=sha256:{SHA}"), "line 9", "'numpy>=1.26.4' is not a pin"),
        (text(f"numpy==banana --hash=sha256:{SHA}"), "line 9", ""),
        (text("--index-url https://index.example/simple"), "line 9", "'--index-url' is not a pin"),
        (text("--extra-index-url=https://index.example/simple"), "line 9", "'--extra-index-url="),
        (text(f"numpy @ https://index.example/numpy.whl --hash=sha256:{SHA}"), "line 9", "'numpy' is not a pin"),
        (text("-r other.txt"), "line 9", "'-r' is not a pin"),
        (text("-e ."), "line 9", "'-e' is not a pin"),
        (text(f"jax==0.4.31 --hash=sha256:{SHA}"), "line 9", "jax is pinned twice"),
        *(
            # A package is pinned under its canonical name, so that it cannot be pinned twice unseen.
            (text(f"{name}==0.5.0 --hash=sha256:{SHA}"), "line 9", f"'{name}==0.5.0' is not a pin")
            for name in ("Ml_Dtypes", "ml_dtypes", "ml.dtypes")
        ),
        (text(without="equinox==").replace("    --hash", "# --hash"), "equinox", "is not pinned"),
    ],
)
def test_what_is_no_lock_is_a_fault(lines: str, key: str, message: str) -> None:
    """A line that is not a pin with a sha256 hash is a fault, with its number; so is a missing package."""
    (fault,) = refused(lock.parse, lines, PATH)

    assert (PATH, key) == (fault.path, fault.key)
    assert message in fault.message


def test_all_faults_of_a_lock_are_said_at_once() -> None:
    """All faults of a lock are reported; an empty lock lacks the stack."""
    text = "--index-url https://index.example\njax==0.4.30\njax==0.4.30 --hash=sha256:1 --hash=md5:2\n"
    stack = ("jax", "jaxlib", "equinox", "diffrax")

    keys = ["line 1", "line 2", "line 3", "line 3", "line 3", *stack[1:]]
    assert keys == [fault.key for fault in refused(lock.parse, text, PATH)]
    assert [Fault(PATH, name, "is not pinned") for name in stack] == refused(lock.parse, "", PATH)


def test_a_lock_that_is_missing_garbled_or_of_other_releases_is_a_fault(cell: Cell) -> None:
    """A missing lock's error names the command that writes it; a garbled lock's error names the lock.

    A lock that contradicts its cell's requirements is refused.
    """
    path = lock.path_of(cell)
    assert "nox -s lock" in str(refused(lock.load, cell))
    path.write_bytes(b"jax==\xff\xfe\x00")
    assert [path] == [fault.path for fault in refused(lock.load, cell)]
    path.write_text(text())
    (fault,) = refused(lock.load, cell)
    assert re.search(r"the cell asks for jax.*, and 0\.4\.30 is pinned", fault.message)


def test_writing_a_lock_says_whether_it_changed(cell: Cell) -> None:
    """A lock is written only if it is new or differs."""
    assert [True, False, True] == [lock.write_lock(cell, each) for each in ("one", "one", "other")]
    assert "other" == lock.path_of(cell).read_text(encoding="utf-8")


def test_pruning_removes_only_locks_that_are_not_kept(cell: Cell) -> None:
    """The locks of cells that are no longer planned are removed, and named; nothing else is."""
    for name in ("jax-1.txt", "jax-2.txt", "jax-3.txt", "README.md"):
        (lock.LOCKS / name).touch()

    assert ["jax-1.txt", "jax-3.txt"] == lock.prune({"jax-2.txt"})
    assert {"jax-2.txt", "README.md"} == {path.name for path in lock.LOCKS.iterdir()}


def test_a_cell_that_cannot_be_had_has_an_empty_lock() -> None:
    """An unavailable cell needs no lock and pins nothing."""
    yanked = next(cell for cell in plan.cells() if cell.unavailable)

    assert ({}, "") == (lock.load(yanked).pins, lock.load(yanked).sha256)


def test_a_lock_that_somebody_asked_for_lies_outside_of_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unplanned stack has an empty lock; once resolved into the state folder, it is not resolved again."""
    monkeypatch.setattr(lock, "ASKED_FOR", tmp_path)
    cell = plan.stack("jax-0.4.30+equinox-0.11.4")
    assert "" == lock.load(cell).text
    lock.write_lock(cell, text())

    assert [cell.lock_name] == [path.name for path in tmp_path.iterdir()]
    assert text() == lock.obtain(cell).text
