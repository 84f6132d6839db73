"""The command `nox -s names`: walk releases that are not published yet, and write their spans."""

from __future__ import annotations

from suite.console import Terminal
from suite.files import replace_all
from suite.names import collect, spans, store
from suite.names.model import FOLDER


def publish(*, fresh: bool, console: Terminal) -> None:
    """Walk unknown releases, or all with `fresh`, and write the files of each package.

    Raises Failed, BadFile, OSError.
    """
    there = [] if fresh else [package for package in collect.PACKAGES if (FOLDER / f"{package}.json").exists()]
    known = {package: spans.split(store.detailed(store.load(package))) for package in there}
    new = collect.collect({package: tuple(walks) for package, walks in known.items()}, console)
    files = {"names.schema.json": store.schema()}
    for package in collect.PACKAGES:
        names = spans.join(package, {**known.get(package, {}), **new[package]})
        files |= store.texts(names)
        count, first, last = len(names.releases), names.releases[0], names.releases[-1]
        walked = f"{len(new[package])} of them walked now"
        console.print(f"{package}: {count} releases, {first} to {last}, {walked}", soft_wrap=True)
    replace_all(FOLDER, files)
