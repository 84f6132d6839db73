"""Reports in folders, as a run or CI leaves them."""

from collections.abc import Iterable
from pathlib import Path

from jax_stack_compat.base import files
from laboratory.report.folder import compat_json as stored
from laboratory.report.model import Report
from laboratory.report.site.build import site


def saved(reports: Iterable[Report], folder: Path) -> list[Path]:
    """Write each report's data into a folder of its own; return the folders."""
    found = []
    for number, of in enumerate(reports, 1):
        path = folder / f"shard-{number}"
        save(of, path)
        found.append(path)
    return found


def save(report: Report, folder: Path) -> None:
    """Write only the files that `report` is read from."""
    files.replace_all(folder, stored.texts(report))


def there(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file in a folder, by name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pages(of: Report) -> dict[str, str]:
    """Return the text of each page of a report's site, without timings, by path."""
    return {path: text for path, text in sorted(site(of, ()).items()) if path.endswith(".html")}
