"""The machine's slots: one per core, shared by all runs through file locks, and given out by free memory.

A probe takes one slot. A case that must run alone takes all slots.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from jax_stack_compat.base.files import STATE
from jax_stack_compat.cell import machine
from jax_stack_compat.environments import probe_call

FOLDER = STATE / "slots"
# The least memory that is set aside for a probe.
LEAST_MIB = 1024
# Seconds between requests for a slot.
WAIT = 0.2
_CGROUP = Path("/sys/fs/cgroup")


class Slots:
    """The slots of this machine, as many as the cores that this process can use."""

    def __init__(self) -> None:
        self.count = machine.cores()
        while self.count > 1 and probe_call.limited(self.count):
            self.count -= 1
        FOLDER.mkdir(parents=True, exist_ok=True)

    def take(self, mib: int) -> ExitStack | None:
        """Take a slot for a probe that needs so much memory, until the stack is closed; None if no slot is free.

        Other probes count with their requested memory, since they may not have allocated it yet. A probe without others
        is always admitted.
        """
        with ExitStack() as held, contextlib.suppress(Timeout):
            # A run that waits to be alone has locked the gate.
            with self._lock("gate", 0):
                others = 0
                mine: int | None = None
                for number in range(self.count):
                    try:
                        lock = self._lock(str(number), 0)
                        if mine is None:
                            held.enter_context(lock)
                            mine = number
                        else:
                            lock.release()
                    except Timeout:
                        others += self._needs(number)
                free = free_mib()
                if mine is None or (others and free is not None and free - others < mib):
                    return None
                (FOLDER / f"{mine}.mib").write_text(str(mib), encoding="ascii")
            return held.pop_all()
        return None

    @contextmanager
    def all(self) -> Iterator[None]:
        """Wait for every slot, so that no other probe runs meanwhile."""
        with ExitStack() as held:
            for name in ("gate", *map(str, range(self.count))):
                held.enter_context(self._lock(name, -1))
            yield

    def _needs(self, number: int) -> int:
        with contextlib.suppress(OSError, ValueError):
            return int((FOLDER / f"{number}.mib").read_text(encoding="ascii"))
        return LEAST_MIB

    @staticmethod
    def _lock(name: str, timeout: float) -> FileLock:
        """Acquire one of the lock files. Raises Timeout."""
        lock = FileLock(FOLDER / f"{name}.lock", thread_local=False, is_singleton=False)
        lock.acquire(timeout=timeout, poll_interval=WAIT)
        return lock


def free_mib() -> int | None:
    """Return the free MiB of the machine or of this control group, whichever is less; None if unknown."""
    found = [free for free in (_of_machine(), _of_group()) if free is not None]
    return min(found) // 1024**2 if found else None


def _of_machine() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _of_group() -> int | None:
    """Return the bytes that the control groups above this process have left, counting cached files as free."""
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                names, root = ("memory.max", "memory.current"), _CGROUP
            elif "memory" in controllers.split(","):
                names, root = ("memory.limit_in_bytes", "memory.usage_in_bytes"), _CGROUP / "memory"
            else:
                continue
            group = root / path.lstrip("/")
            for folder in (group, *group.parents):
                if not folder.is_relative_to(root):
                    break
                found += _left(folder, *names)
    return min(found) if found else None


def _left(folder: Path, limit: str, usage: str) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        most = int((folder / limit).read_text(encoding="ascii"))
        used = int((folder / usage).read_text(encoding="ascii"))
        stat = dict(line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
        cached = sum(int(stat.get(name, 0)) for name in ("inactive_file", "active_file"))
        return [max(most - used + cached, 0)]
    return []
