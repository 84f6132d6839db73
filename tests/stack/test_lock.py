"""The locks: those in the tree, and those that are not locks."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from suite.errors import BadFile
from suite.stack import lock, plan, releases

PATH = Path("suite/stack/locks/jax-0.4.30.txt")
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
    """A lock in order, less the lines that hold `without`, with `more` at its end."""
    return "\n".join([*(line for line in LINES if without not in line), *more]) + "\n"


# What the plan knows cannot be had has no lock.
LOCKED = [cell for cell in plan.cells() if cell.unavailable is None]


def faults(lines: str) -> list[tuple[str, str]]:
    """The faults in a lock, as key and message."""
    with pytest.raises(BadFile) as caught:
        lock.parse(lines, PATH)
    assert {PATH} == {fault.path for fault in caught.value.faults}
    return [(fault.key, fault.message) for fault in caught.value.faults]


def test_a_lock_is_read() -> None:
    """A lock is its pins, its text, and the sha256 of that."""
    found = lock.parse(text(), PATH)

    assert {"diffrax": "0.5.1", "equinox": "0.11.4", "jax": "0.4.30", "jaxlib": "0.4.30"} == found.pins
    assert text() == found.text
    assert hashlib.sha256(text().encode()).hexdigest() == found.sha256


def test_every_planned_cell_has_a_lock() -> None:
    """A planned cell's lock is in the tree, and pins what the cell holds, and the stack itself."""
    lacking = []
    for cell in LOCKED:
        pins = lock.load(cell).pins
        lacking += [f"{cell.id}: {name}" for name in ("jax", "jaxlib", "equinox", "diffrax") if name not in pins]
        lacking += [f"{cell.id}: {name} {each}" for name, each in cell.holds if pins.get(name, cell.python) != each]

    assert [] == lacking


def test_a_cell_s_id_says_what_its_lock_pins() -> None:
    """A cell's name is made of the releases that its lock pins, and of its interpreter where that is not the line's."""
    said = [
        (cell.id, dict(part.rsplit("-", 1) for part in cell.id.split("+") if part != plan.TODAY)) for cell in LOCKED
    ]
    pins = {cell.id: {**lock.load(cell).pins, "python": cell.python} for cell in LOCKED}
    wrong = [name for name, parts in said if not parts.items() <= pins[name].items()]

    assert [] == wrong


def test_a_lock_names_no_index() -> None:
    """A lock holds pins and sha256 hashes alone: no address, no option, no path, so that a user's own index serves."""
    entry = re.compile(r"[\w.+-]+==[\w.+-]+|--hash=sha256:[0-9a-f]{64}|\\")
    odd = []
    for cell in LOCKED:
        body = lock.load(cell).text
        words = {word for line in body.splitlines() if not line.startswith("#") for word in line.split()}
        odd += [f"{cell.id}: {word}" for word in words if not entry.fullmatch(word)]
        odd += [f"{cell.id}: an address"] * ("://" in body)

    assert [] == odd


def test_a_lock_pins_what_there_was() -> None:
    """Every release of the stack in a lock is one in releases.json, uploaded before the cell's day was over."""
    known = releases.load().packages
    wrong = []
    for cell in LOCKED:
        late, pins = dict(cell.as_of_package), lock.load(cell).pins
        for name in releases.PACKAGES.keys() & pins.keys():
            release = known[name].get(pins[name])
            if release is None or release.uploaded >= late.get(name, cell.as_of) or release.yanked is not None:
                wrong.append(f"{cell.id}: {name} {pins[name]}")

    assert [] == wrong


def test_a_lock_pins_what_its_interpreter_can_have() -> None:
    """Every release of the stack in a lock has wheels for the cell's Python, and allows it."""
    known = releases.load().packages
    wrong = [
        f"{cell.id}: {name} {pins[name]}"
        for cell in LOCKED
        for pins in [lock.load(cell).pins]
        for name in releases.PACKAGES.keys() & pins.keys()
        for release in [known[name][pins[name]]]
        if release.newest_wheel(cell.python) is None or not release.allows(cell.python)
    ]

    assert [] == wrong


def test_no_lock_is_left_over() -> None:
    """The folder of locks holds those of the cells that can be had and no others."""
    assert {cell.lock_name for cell in LOCKED} == {path.name for path in lock.LOCKS.iterdir()}


def test_the_sizes_are_of_what_is_pinned() -> None:
    """sizes.json has a size for every package that a lock pins, and for no other."""
    pinned = {f"{name}=={version}" for cell in plan.cells() for name, version in lock.load(cell).pins.items()}

    assert pinned == set(lock.sizes())
    assert min(lock.sizes().values()) > 0


@pytest.mark.parametrize(
    ("lines", "key", "message"),
    [
        (text("numpy==1.26.4"), "line 9", "numpy has no hash"),
        (text("numpy==1.26.4 \\", f"    --hash=md5:{SHA[:32]}"), "line 9", f"numpy: '--hash=md5:{SHA[:32]}' is not a"),
        (text(f"numpy==1.26.4 --hash=sha256:{SHA[:-1]}"), "line 9", "numpy: '--hash=sha256:"),
        (text(f"numpy==1.26.4 --hash=sha256:{SHA.upper()}"), "line 9", "numpy: '--hash=sha256:"),
        (text(f"numpy>=1.26.4 --hash=sha256:{SHA}"), "line 9", "'numpy>=1.26.4' is not a pin"),
        (text(f"numpy --hash=sha256:{SHA}"), "line 9", "'numpy' is not a pin"),
        (text(f"numpy==1.* --hash=sha256:{SHA}"), "line 9", "'numpy==1.*' is not a pin"),
        (text(f"numpy==banana --hash=sha256:{SHA}"), "line 9", ""),
        (text("--index-url https://index.example/simple"), "line 9", "'--index-url' is not a pin"),
        (text("--extra-index-url=https://index.example/simple"), "line 9", "'--extra-index-url="),
        (text(f"numpy @ https://index.example/numpy.whl --hash=sha256:{SHA}"), "line 9", "'numpy' is not a pin"),
        (text("-r other.txt"), "line 9", "'-r' is not a pin"),
        (text("-e ."), "line 9", "'-e' is not a pin"),
        (text(f"jax==0.4.31 --hash=sha256:{SHA}"), "line 9", "jax is pinned twice"),
        (text(without="equinox==").replace("    --hash", "# --hash"), "equinox", "is not pinned"),
    ],
)
def test_what_is_no_lock_is_a_fault(lines: str, key: str, message: str) -> None:
    """A line that is no pin with a sha256 hash is a fault, said with its number; so is a package that is missing."""
    ((found_key, found_message),) = faults(lines)

    assert key == found_key
    assert message in found_message


@pytest.mark.parametrize("twice", ["Ml_Dtypes", "ml_dtypes", "ml.dtypes"])
def test_one_package_under_two_spellings_is_a_fault(twice: str) -> None:
    """A package is pinned under its canonical name, so that it cannot be pinned twice unseen."""
    lines = text(f"ml-dtypes==0.4.0 --hash=sha256:{SHA}", f"{twice}==0.5.0 --hash=sha256:{SHA}")

    assert ["line 10"] == [key for key, _ in faults(lines)]


def test_a_line_is_counted_over_continued_ones() -> None:
    """The number of a faulty line counts the continued lines, comments and empty lines before it."""
    lines = ["# one", "numpy==1 \\", f"  --hash=sha256:{SHA} \\", f"  --hash=sha256:{SHA}", "", "here"]

    key, message = faults("\n".join(lines))[0]

    assert "line 6" == key
    assert message.startswith("'here' is not a pin")


def test_all_faults_of_a_lock_are_said_at_once() -> None:
    """A lock with several faults is told all of them."""
    found = faults("--index-url https://index.example\njax==0.4.30\njax==0.4.30 --hash=sha256:1 --hash=md5:2\n")

    keys = ["line 1", "line 2", "line 3", "line 3", "line 3", "jaxlib", "equinox", "diffrax"]
    assert keys == [key for key, _ in found]


def test_an_empty_lock_lacks_the_stack() -> None:
    """An empty file is a lock that pins nothing of the stack."""
    assert [(name, "is not pinned") for name in ("jax", "jaxlib", "equinox", "diffrax")] == faults("")


def test_a_lock_that_is_not_there_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a cell has no lock, that is a fault that names the command which writes it."""
    monkeypatch.setattr(lock, "LOCKS", tmp_path)

    with pytest.raises(BadFile, match="nox -s lock"):
        lock.load(plan.cells()[0])


def test_a_lock_that_is_not_text_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that a disk has garbled is a fault that names the file."""
    monkeypatch.setattr(lock, "LOCKS", tmp_path)
    cell = plan.cells()[0]
    (tmp_path / cell.lock_name).write_bytes(b"jax==\xff\xfe\x00")

    with pytest.raises(BadFile, match=cell.lock_name):
        lock.load(cell)


def test_writing_a_lock_says_whether_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock is written where it is new or differs, and the same text is left alone."""
    monkeypatch.setattr(lock, "LOCKS", tmp_path)
    cell = plan.cells()[0]

    assert [True, False, True] == [lock.write_lock(cell, each) for each in ("one", "one", "other")]
    assert "other" == (tmp_path / cell.lock_name).read_text(encoding="utf-8")


def test_pruning_removes_only_locks_that_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The locks of cells that are no longer planned are removed, and named; nothing else is."""
    monkeypatch.setattr(lock, "LOCKS", tmp_path)
    for name in ("jax-1.txt", "jax-2.txt", "jax-3.txt", "README.md"):
        (tmp_path / name).touch()

    assert ["jax-1.txt", "jax-3.txt"] == lock.prune({"jax-2.txt"})
    assert {"jax-2.txt", "README.md"} == {path.name for path in tmp_path.iterdir()}


def test_a_cell_that_cannot_be_had_has_an_empty_lock() -> None:
    """What the plan knows to be yanked, or excluded, needs no lock and pins nothing."""
    yanked = next(cell for cell in plan.cells() if cell.unavailable)

    assert ({}, "") == (lock.load(yanked).pins, lock.load(yanked).sha256)


def test_what_is_installed_over_metadata_says_so() -> None:
    """The lock of a cell that its packages' metadata excludes pins it all the same, and its first lines say how."""
    excluded = [cell for cell in LOCKED if cell.excluded]

    assert excluded
    for cell in excluded:
        assert "installed over all metadata" in lock.load(cell).text.split("\nabsl")[0]


def test_a_lock_that_somebody_asked_for_lies_outside_of_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock of a stack that nobody planned is looked for in the state folder, and is not resolved again."""
    monkeypatch.setattr(lock, "ASKED_FOR", tmp_path)
    cell = plan.stack("jax-0.4.30+equinox-0.11.4")
    lock.write_lock(cell, text())

    assert [cell.lock_name] == [path.name for path in tmp_path.iterdir()]
    assert text() == lock.obtain(cell).text
