"""Split work over the cores of this machine, with a fork for each share but the first."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def over_cores(work: Callable[[T], R], shares: Sequence[T]) -> list[R]:
    """Return the result of `work` on each share: the first share runs in this process, the others in forks.

    If a fork gives no result, because `work` raised or the fork failed, its share also runs here. If other threads
    exist, all shares run here: a fork would inherit the threads' locks but not the threads.
    """
    started = []
    if threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("fork")
        for share in shares[1:]:
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=_send, args=(there, work, share), daemon=True)
            with suppress(OSError), _without_interrupts():
                process.start()
            there.close()
            started.append((here, process))
    made = [work(share) for share in shares[:1]]
    for place, share in enumerate(shares[1:]):
        try:
            here, process = started[place]
            with here:
                made.append(here.recv())
            process.join()
        except (IndexError, EOFError):
            made.append(work(share))
    return made


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT for the forks that start meanwhile: Ctrl-C reaches them too, and this process ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _send(there: Connection, work: Callable[[T], R], share: T) -> None:
    # The parent runs the share again, and raises the error.
    with suppress(Exception), there:
        there.send(work(share))
