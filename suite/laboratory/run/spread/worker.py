"""A worker's run of one cell on a machine of the cluster: orders and results are plain data.

A worker has its own checkout and its own `.suite`. It runs a cell as `nox -s run` does, and refuses orders for
code that differs from its own, so that two trees never mix in one report.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from jax_stack_compat.base.errors import BadFile, Failed, Misused
from jax_stack_compat.base.files import PACKAGES, dump
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.environments import interpreter
from jax_stack_compat.environments.probe_call import Progress
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.records import keys, records
from laboratory.records.work import Work, planned
from laboratory.records.work import known as is_known
from laboratory.run.schedule import scheduler


class OrderedIssue(TypedDict):
    """An issue by its module and the module's sha256, its cases, and True if the driver has their records."""

    module: str
    sha256: str
    cases: list[str]
    known: bool


class Order(TypedDict):
    """A cell to run, and the hashes of everything that its records depend on.

    `platform` is the platform of the driver's own records of the known issues.
    """

    cell: str
    lock: str
    probe: str
    issues: list[OrderedIssue]
    fresh: bool
    platform: str


@dataclass(frozen=True)
class WorkerReply:
    """An answer to an order: the texts of the status and of the records, or the reason why they are missing.

    `ran` counts cases, and `said` is for people.
    """

    refused: str = ""
    failed: str = ""
    status: str | None = None
    records: Sequence[str] = ()
    ran: int = 0
    said: Sequence[str] = ()


class Kept(Progress):
    """A collector of messages, which the driver prints."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.ran: set[Name] = set()

    def say(self, message: str) -> None:
        """Keep a message."""
        self.said.append(message)

    def step(self, issue: str, case: str) -> None:
        """Count a case."""
        self.ran.add((issue, case))


def order(work: Work) -> Order | None:
    """Return the order for the unknown cases of a cell; None if all are known."""
    cell, status = work.cell, records.status(work.cell.id)
    known = [
        not work.fresh and all(is_known(work, entry, case) for case in entry.cases(cell)) for entry in work.entries
    ]
    if all(known):
        if status is not None and status.verdict == "ran":
            return None
        known = [False for _ in known]
    return Order(
        cell=cell.id,
        lock=work.pinned.sha256,
        probe=keys.probe_sha256(),
        issues=[
            OrderedIssue(
                module=entry.module,
                sha256=records.source_sha256(entry.source),
                cases=[case.id for case in entry.issue.cases],
                known=each,
            )
            for entry, each in zip(work.entries, known, strict=True)
        ],
        fresh=work.fresh,
        platform=status.platform if status else "",
    )


def carry_out(order: Order) -> WorkerReply:
    """Carry out an order in this process's checkout and state."""
    if _tree() != _AT_START:
        return WorkerReply(refused="its checkout has changed since the worker was started: restart the worker")
    # An interpreter may have been installed since the last order.
    interpreter.looked_for.cache_clear()
    try:
        cell = plan.stack(order["cell"])
        pinned = lock.obtain(cell)
        entries = [catalogue.narrowed(catalogue.entry(issue["module"]), issue["cases"]) for issue in order["issues"]]
    except (Misused, Failed, BadFile, ImportError) as error:
        return WorkerReply(refused=f"its checkout is not the driver's: {error}")
    if differing := _differing(order, pinned, entries):
        return WorkerReply(refused=f"its checkout is not the driver's: {', '.join(differing)} differs")
    try:
        return _run(order, cell, entries)
    except BadFile as error:
        return WorkerReply(failed=str(error))
    except OSError as error:
        return WorkerReply(failed=f"{error.strerror or error}: {error.filename or 'a file'}")


def _run(order: Order, cell: Cell, entries: Sequence[Entry]) -> WorkerReply:
    # The driver's records of another platform do not count: all records of a cell are from one platform.
    alike = order["platform"] == keys.here()
    todo = [entry for entry, issue in zip(entries, order["issues"], strict=True) if not (alike and issue["known"])]
    work, kept = planned(cell, todo, fresh=order["fresh"]), Kept()
    # The driver lacks the records of this machine's other cells, so cases that rely on them run here, too.
    found = [(both, records.in_force(cell, *both, work.pinned)) for both in work.cases]
    if lent := [both for both, record in found if record and record.cell != cell.id]:
        scheduler.run([replace(work, cases=lent, fresh=True)], lambda _: kept)
    (status,) = scheduler.run([work], lambda _: kept)
    texts = [
        records.path_of(cell.id, entry.issue.id, case.id).read_text(encoding="utf-8")
        for entry, case in work.cases
        if records.of_cell(cell, entry, case, work.pinned)
    ]
    return WorkerReply(status=dump(status.model_dump(mode="json")), records=texts, ran=len(kept.ran), said=kept.said)


def _differing(order: Order, pinned: Lock, entries: Sequence[Entry]) -> list[str]:
    """List the parts of the tree that the order depends on, and that differ here."""
    found = [f"the lock of {order['cell']}"] if order["lock"] != pinned.sha256 else []
    found += ["the probe"] if order["probe"] != keys.probe_sha256() else []
    for entry, issue in zip(entries, order["issues"], strict=True):
        if issue["sha256"] != records.source_sha256(entry.source):
            found.append(entry.source.name)
    return found


def _tree() -> str:
    """Return a hash of this checkout's code. A long-lived worker keeps running the code that it has imported."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGES.rglob("*")):
        if path.suffix in (".py", ".toml", ".json", ".txt"):
            digest.update(str(path.relative_to(PACKAGES)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


_AT_START = _tree()
