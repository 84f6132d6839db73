"""A run on a lab's own machines, through Dask distributed: `--scheduler tcp://host:8786`.

Only that option imports this module, and only this module needs the `cluster` extra. One machine runs the scheduler.
Each machine that runs cells has a checkout of this project at the driver's commit, with a worker started in its folder
`suite`:

    python -m dask scheduler
    SUITE_STATE=~/compat python -m dask worker tcp://host:8786 --nthreads 1

Dask can check with TLS who connects, if its configuration and a `tls://` address say so on all machines. Without TLS,
a worker runs any order that reaches it. Our worker checks that its checkout is the driver's. Orders and answers are
plain data. The driver writes its workers' records among its own, as if it had run the cells itself.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, Future, KilledWorker, Security, get_worker
from distributed.client import FutureCancelledError
from distributed.comm.core import connect
from distributed.versions import VersionMismatchWarning
from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.errors import BadFile, Failed, Fault
from jax_stack_compat.base.fields import this_moment
from jax_stack_compat.base.files import parse
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.judge.record import Record
from jax_stack_compat.stack.plan import Cell
from laboratory.records import keys, records
from laboratory.records.records import Status
from laboratory.records.work import Work
from laboratory.run import cell_run, environment
from laboratory.run.schedule import scheduler as schedule
from laboratory.run.spread import worker
from laboratory.run.spread.worker import Order, WorkerReply

# In seconds. PATIENCE is the longest wait for a worker while nothing runs.
CONNECTING = 10.0
PATIENCE = 300.0
# If a cell fails on so many workers for one reason, the cell is at fault, and not its workers.
MOST_TRIES = 3
# A worker gets no more cells after so many of its cells failed and then ran on another worker.
STRIKES = 2


def run_cells(scheduler: str, work: Sequence[Work], *, console: Console, patience: float = PATIENCE) -> None:
    """Run the cases without a valid record on the workers of `scheduler`, and keep the records here.

    A fault in a cell ends in its status. Raises Failed if cells did not run, and BadFile.
    """
    told = Counter[str]()
    orders: list[tuple[Work, Order]] = []
    for asked in work:
        if asked.cell.unavailable is not None:
            schedule.run([asked], lambda _: worker.Kept())
            told["unavailable"] += 1
            continue
        with environment.reserve(asked.cell.id):
            records.begin(asked.cell.id, asked.cases, fresh=asked.fresh)
        if (order := worker.order(asked)) is None:
            told["reused"] += 1
        else:
            orders.append((asked, order))
    try:
        if orders:
            with _connected(scheduler, console) as client:
                _Errands(scheduler, client, console, told, patience).run(orders)
    finally:
        counts = [f"{told[name]} {name}" for name in ("run", "reused", "unavailable", "failed")]
        counts.append(f"{len(work) - told.total()} not run")
        console.print(f"{len(work)} cells on {scheduler}: {', '.join(counts)}", soft_wrap=True)


@contextmanager
def _connected(scheduler: str, console: Console) -> Iterator[Client]:
    # We report a broken connection ourselves. Dask's loggers have levels of their own.
    for name in [logger for logger in logging.root.manager.loggerDict if logger.partition(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(asyncio.wait_for(_knock(scheduler), CONNECTING))
        with warnings.catch_warnings():
            # The warning is a table of every differing package; the version that matters is printed below.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            client = Client(scheduler, timeout=CONNECTING, set_as_default=False)
    except Exception as error:  # another program on that port may answer anything
        raise Failed(
            f"no Dask scheduler answers at {scheduler} ({str(error).strip() or type(error).__name__}): "
            "start one there with `python -m dask scheduler`, or correct the address after --scheduler"
        ) from error
    try:
        there, here = _ask(client, "versions")["packages"]["distributed"], version("distributed")
        if there != here:
            console.print(
                f"{scheduler} runs distributed {there}, but this machine has {here}; a failure may be due to that"
            )
        yield client
    finally:
        client.close(timeout=CONNECTING)


async def _knock(scheduler: str) -> None:
    """Check that a Dask process answers: a client waits forever for a port that listens and stays silent."""
    there = await connect(scheduler, timeout=CONNECTING, **Security().get_connection_args("client"))
    await there.close()


def _ask(client: Client, operation: str, **words: Any) -> dict[str, Any]:
    """Ask the scheduler for one of its operations."""
    answer: dict[str, Any] = client.sync(getattr(client.scheduler, operation), callback_timeout=CONNECTING, **words)
    return answer


# The scheduler reads every task, and a worker dies of a task that it cannot read. As text, the task needs no import of
# this project before it runs.
_TASK = f"__import__({__name__!r}, fromlist=['_']).on_worker(order)"


def on_worker(order: Order) -> tuple[str, WorkerReply]:
    """Carry out an order on a worker; return its address and the answer."""
    try:
        answer = worker.carry_out(order)
    except Exception as error:  # the driver must learn which worker it was
        answer = WorkerReply(failed=f"{type(error).__name__}: {error}")
    return get_worker().address, answer


@dataclass(frozen=True)
class _Result:
    """A worker's results for a cell, as checked; `why` says why the cell did not run, and is empty if it did."""

    address: str
    answer: WorkerReply
    status: Status | None
    texts: Mapping[Path, str]
    why: str

    @property
    def reason(self) -> str:
        """The reason code of a cell that did not run."""
        return self.status.reason if self.status else "run.worker"


@dataclass(frozen=True)
class _Sent:
    """The work on a running cell, the workers that may run it, if not all may, and the tries that failed."""

    future: Future[tuple[str, WorkerReply]]
    work: Work
    order: Order
    only: frozenset[str]
    tried: Sequence[_Result]


@dataclass
class _Errands:
    """The sender of orders and receiver of answers."""

    scheduler: str
    client: Client
    console: Console
    told: Counter[str]
    patience: float
    sent: dict[Any, _Sent] = field(default_factory=dict)
    done: SimpleQueue[Future[tuple[str, WorkerReply]]] = field(default_factory=SimpleQueue)
    unfit: set[str] = field(default_factory=set)
    strikes: Counter[str] = field(default_factory=Counter)
    stranded: list[str] = field(default_factory=list)
    said: bool = False
    under_way: float = field(default_factory=time.monotonic)
    answered: int = 0
    total: int = 0

    def run(self, orders: Sequence[tuple[Work, Order]]) -> None:
        """Send every order, and receive the answers. Raises Failed if some orders were not carried out."""
        self.total = len(orders)
        for work, order in orders:
            self._send(work, order)
        while self.sent:
            try:
                future = self.done.get(timeout=1)
            except Empty:
                self._look()
            else:
                self._take(future)
        if self.stranded:
            raise Failed(f"no worker can run {_listed(self.stranded)}: fix the workers and rerun")

    def _send(self, work: Work, order: Order, tried: Sequence[_Result] = ()) -> None:
        """Send an order to the workers that may run it; without any, keep the best of the tries, if any."""
        avoided = self.unfit | {result.address for result in tried}
        workers = self._workers().keys() if avoided else frozenset()
        only = frozenset(workers - avoided)
        if workers and not only:
            if tried:
                self._keep(work, max(tried, key=lambda result: len(result.texts)))
            else:
                self.stranded.append(work.cell.id)
            return
        future = self.client.submit(
            eval,
            _TASK,
            {"order": order},
            key=f"{work.cell.id}-{uuid.uuid4().hex}",
            workers=sorted(only) or None,
        )
        self.sent[future.key] = _Sent(future, work, order, only, tried)
        future.add_done_callback(self.done.put)

    def _workers(self) -> dict[str, Any]:
        """Return the scheduler's description of its workers, by address. Raises Failed if it is gone."""
        try:
            workers: dict[str, Any] = _ask(self.client, "identity", n_workers=-1)["workers"]
        except Exception as error:  # any failure to answer
            raise self._lost() from error
        return workers

    def _take(self, future: Future[tuple[str, WorkerReply]]) -> None:
        """Receive the answer to an order. Raises Failed if the scheduler is gone."""
        sent = self.sent.pop(future.key, None)
        if sent is None:  # the order was sent again, to another worker
            return
        self.under_way = time.monotonic()
        cell = sent.work.cell
        try:
            address, answer = future.result()
        except FutureCancelledError as error:
            raise self._lost() from error
        except KilledWorker as error:
            last = f"see what the last one, {error.last_worker.address}, printed"
            self._fail(cell, f"{error.allowed_failures + 1} workers died while running this cell: {last}")
        except ImportError as error:
            if self._refuse_strangers(sent):
                self._send(sent.work, sent.order, sent.tried)
            else:
                self._fail(cell, f"on its worker: {error}")
        except Exception as error:  # a fault of one cell must not stop the others
            self._fail(cell, f"on its worker: {type(error).__name__}: {error}")
        else:
            if answer.refused:
                self._refuse(address, answer.refused)
                self._send(sent.work, sent.order, sent.tried)
            else:
                self._receive(sent, self._checked(sent, address, answer))

    def _receive(self, sent: _Sent, result: _Result) -> None:
        """Keep a worker's results, or send the cell to another worker: this one's machine may be at fault."""
        if not result.why:
            self._strike(sent.tried)
            self._keep(sent.work, result)
            return
        tried = (*sent.tried, result)
        alike = sum(each.reason == result.reason for each in tried)
        others = self._workers().keys() - self.unfit - {each.address for each in tried}
        if alike < MOST_TRIES and others:
            told = f" {result.why} on {result.address}: another worker tries it"
            self.console.print(Text.assemble((sent.work.cell.id, "bold"), told), soft_wrap=True)
            self._send(sent.work, sent.order, tried)
        else:
            self._keep(sent.work, max(tried, key=lambda each: len(each.texts)))

    def _strike(self, tried: Sequence[_Result]) -> None:
        """Count the workers on which a cell failed that has run; refuse a worker after some of these."""
        for result in tried:
            self.strikes[result.address] += 1
            if self.strikes[result.address] >= STRIKES:
                self._refuse(result.address, f"cells failed there that ran on other workers: {result.why}")

    def _checked(self, sent: _Sent, address: str, answer: WorkerReply) -> _Result:
        """Return the results in an answer; results that do not fit the order count as a fault of the worker."""
        if answer.status is None:
            return _Result(address, answer, None, {}, answer.failed or "no answer")
        try:
            status, texts = self._read(sent, answer, answer.status)
        except BadFile as error:
            return _Result(address, answer, None, {}, f"the answer cannot be used: {error}")
        why = "" if status.verdict == "ran" else f"{status.verdict}: {status.detail or status.reason}"
        return _Result(address, answer, status, texts, why)

    def _keep(self, work: Work, result: _Result) -> None:
        """Write a worker's records, and then the status, which makes them count."""
        cell, address, status, answer = work.cell, result.address, result.status, result.answer
        if status is None:
            self._fail(cell, f"on {address}: {result.why}")
            return
        with environment.reserve(cell.id):
            for path, text in result.texts.items():
                write(path, text)
            records.settle(cell.id, back=False)
            records.write_status(status)
        if status.verdict == "ran" and not answer.ran:
            self._finish(cell, "reused", f"all cases were cached on {address}")
            return
        for message in answer.said:
            self.console.print(Text.assemble((cell.id, "bold"), f" on {address}: {message}"), soft_wrap=True)
        if status.verdict == "ran":
            self._finish(cell, "run", f"{answer.ran} cases run on {address}")
        else:
            how = "failed" if status.verdict == "error" else "unavailable"
            self._finish(cell, how, f"{status.reason} on {address}")

    def _read(self, sent: _Sent, answer: WorkerReply, status_text: str) -> tuple[Status, dict[Path, str]]:
        """Return the status, and the records' texts by path. Raises BadFile if they do not fit the order."""
        cell = sent.work.cell
        folder = records.RECORDS / cell.id
        status = parse(Status, status_text, folder / "cell.json")
        if status.cell != cell.id:
            raise BadFile([Fault(folder / "cell.json", "cell", f"{status.cell!r} was not in the order")])
        wanted = {
            (entry.issue.id, case.id): keys.key(entry, case, sent.order["lock"], cell.python, status.platform)
            for entry, case in sent.work.cases
        }
        texts: dict[Path, str] = {}
        for text in answer.records:
            record = parse(Record, text, folder)
            path = records.path_of(cell.id, record.issue, record.case)
            if (record.cell, wanted.get((record.issue, record.case))) != (cell.id, record.key):
                raise BadFile([Fault(path, "key", "differs from the key in the order")])
            texts[path] = text
        return status, texts

    def _fail(self, cell: Cell, detail: str) -> None:
        """Record that a cell failed; its earlier records stay."""
        failed = {"verdict": "error", "reason": "run.worker", "detail": detail}
        before = records.status(cell.id) or cell_run.note(cell, "error", "run.worker")
        records.write_status(before.model_copy(update={"at": this_moment(), **failed}))
        self._finish(cell, "failed", detail)

    def _finish(self, cell: Cell, how: str, detail: str) -> None:
        self.told[how] += 1
        self.answered += 1
        told = Text.assemble(f"{self.answered}/{self.total} ", (cell.id, "bold"), f" {how}: {detail}")
        self.console.print(told, soft_wrap=True)

    def _refuse(self, address: str, why: str) -> None:
        if address not in self.unfit:
            self.console.print(Text.assemble(("refused", "red"), f" {address}: {why}"), soft_wrap=True)
        self.unfit.add(address)

    def _refuse_strangers(self, sent: _Sent) -> bool:
        """Exclude the workers that cannot import this module; return True if one of them may have received `sent`."""
        answers: dict[str, Any] = self.client.run(importlib.import_module, __name__, on_error="return")
        found = {address: answer for address, answer in answers.items() if isinstance(answer, ImportError)}
        for address, error in found.items():
            where = "start it in the folder `suite` of a checkout, with `python -m dask worker`"
            self._refuse(address, f"it cannot import this project ({error}): {where}")
        return any(not sent.only or address in sent.only for address in found)

    def _look(self) -> None:
        """Print the cells that wait for a worker. Raises Failed if no cell ran for `patience` seconds."""
        there = self._workers().keys()
        for key, sent in list(self.sent.items()):
            if there and sent.only and sent.only.isdisjoint(there):
                del self.sent[key]
                sent.future.cancel()
                self._send(sent.work, sent.order, sent.tried)
        if there:
            self.said = False
            self.under_way = time.monotonic()
            return
        waiting = [sent.work.cell.id for sent in self.sent.values()]
        sentence = f"{_listed(waiting)} {'waits' if len(waiting) == 1 else 'wait'} for a worker"
        if not self.said:
            self.console.print(f"{sentence}, and {self.scheduler} has none", soft_wrap=True)
        self.said = True
        if time.monotonic() - self.under_way >= self.patience:
            raise Failed(f"gave up after {self.patience:.0f} seconds: {sentence}")

    def _lost(self) -> Failed:
        return Failed(
            f"the Dask scheduler at {self.scheduler} is gone. {self.answered} of {self.total} cells are kept;"
            " start it again and rerun"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
