"""Which records an earlier probe's change moves."""

import lzma
import shutil
from functools import partial
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.base.files import read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.judge.record import Part, Record
from jax_stack_compat.stack import lock, plan
from laboratory.records import archive, keys
from laboratory.records.packed import Packed
from laboratory.upkeep import rekey
from tests.report.test_report import put_record, put_status

ENTRY = catalogue.entries()[0]
NOW = keys.key(ENTRY, ENTRY.issue.cases[0], "1" * 64, "3.12")
BEFORE = "2" * 64


@pytest.mark.parametrize(
    ("changed", "moves"),
    [
        ({"probe": BEFORE}, True),
        ({"probe": BEFORE, "issue": "3" * 64}, False),
        ({"probe": BEFORE, "lock": "3" * 64}, False),
        ({"probe": "3" * 64}, False),
    ],
)
def test_a_record_of_the_earlier_probe_moves_if_nothing_else_differs(changed: dict[str, str], moves: bool) -> None:
    """A record moves if its case's code is this tree's; a record of other code stays as it is."""
    assert moves == (rekey.standing(NOW.model_copy(update=changed), NOW, BEFORE) == rekey.MOVED)


def test_the_probe_of_a_commit_is_read_from_git() -> None:
    """HEAD's probe is found without a checkout, and a commit that git lacks is named."""
    assert 64 == len(rekey.earlier_probe("HEAD"))
    with pytest.raises(Failed, match="git cannot show the probe of nowhere"):
        rekey.earlier_probe("nowhere")


def test_a_rekey_moves_and_packs_in_a_clone(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The packed records alone suffice: those of the earlier probe count again, and those of other code do not."""
    cell, entry, part = plan.cell("jax-0.4.30"), catalogue.entries()[0], Part(outcome="returned", behaviour="works")
    monkeypatch.setattr(archive, "FOLDER", elsewhere / "archive")
    for folder in ("pack", "unpack"):
        monkeypatch.setattr(archive, folder, partial(getattr(archive, folder), folder=elsewhere / "archive"))
    put_status(cell)
    path = put_record(cell, entry, entry.issue.cases[0], part)
    now = read(Record, path).key
    archive.pack([cell])
    # As if the probe had been another one when the record was made.
    (packed,) = (elsewhere / "archive").glob(f"{entry.issue.id}.*")
    packed.write_bytes(lzma.compress(lzma.decompress(packed.read_bytes()).replace(now.probe.encode(), BEFORE.encode())))
    shutil.rmtree(elsewhere / "records")
    monkeypatch.setattr(rekey, "earlier_probe", lambda _: BEFORE)

    assert Exit.AS_EXPECTED == rekey.rekey("HEAD", draw=0)
    assert "1 moved" in capsys.readouterr().out
    assert now == read(Record, path).key
    assert Packed().of_cell(cell, entry, entry.issue.cases[0], lock.load(cell)) is not None
