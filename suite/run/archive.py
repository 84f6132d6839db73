"""The records behind the published report, packed beside it: so that publishing one new issue runs that issue alone.

`reports/published/records.tar.xz`, a few hundred kilobytes. A record that is unpacked is one like any other: it counts
where its key agrees with the tree, and is run again where not.
"""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterable
from pathlib import Path

from suite.cell.atomic import write
from suite.errors import BadFile, Fault
from suite.files import REPORTS
from suite.run import records

PACKED = REPORTS / "published" / "records.tar.xz"


def pack(cells: Iterable[str], path: Path = PACKED) -> int:
    """Put the records and the statuses of these cells into the archive; how many files. Raises OSError."""
    found = [each for cell in sorted(cells) for each in sorted((records.RECORDS / cell).rglob("*.json"))]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for each in found:
            # Neither when nor by whom: the same records are the same bytes.
            entry = tarfile.TarInfo(each.relative_to(records.RECORDS).as_posix())
            entry.size = each.stat().st_size
            with each.open("rb") as stream:
                archive.addfile(entry, stream)
    write(path, buffer.getvalue())
    return len(found)


def unpack(path: Path = PACKED) -> int:
    """Put what the archive has, and this machine has not, among the records; how many. Raises BadFile, OSError."""
    if not path.exists():
        return 0
    try:
        with tarfile.open(path, "r:xz") as archive:
            lacking = [each for each in archive if each.isreg() and not (records.RECORDS / each.name).exists()]
            archive.extractall(records.RECORDS, lacking, filter="data")
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        message = f"{error}; `git checkout` brings back the one that was published"
        raise BadFile([Fault(path, "archive", message)]) from error
    return len(lacking)
