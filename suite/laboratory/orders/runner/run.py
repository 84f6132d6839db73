"""Carries out orders with an interpreter that has jax, and leaves one archive of results.

    python3 FOLDER/run.py --python PATH --minutes 9 --jobs 8

It needs the standard library alone. It installs and fetches nothing, and writes nothing outside the folder. Finished
work is kept: the same command continues where it ended. Cases run side by side, the most informative first; timings run
last, and alone.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue

from jax_stack_compat.cell.machine import cores
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.probe_call import Stop
from laboratory.orders.runner import device_stack, unpack
from laboratory.orders.runner.device_stack import DeviceStack, NoStack
from laboratory.orders.runner.kept import SIDES, Json, ResultsFolder, Side
from laboratory.orders.runner.pieces import Bench, CallPiece, CasePiece, OrderedCase, Piece, ProgramPiece, TimingPiece

# A probe imports the stack once for so many cases; calls of functions come in larger portions.
_CASES, _CALLS = 12, 160
# The part of the time that is kept for timings.
_FOR_TIMINGS = 0.25
_MOST_JOBS = 8
# A case whose two sides differ is run so many times in all.
_CONFIRMED = 3
_DONE, _WRONG, _LEFT = 0, 2, 3


def main(folder: Path, words: Sequence[str]) -> int:
    """Run the command line. Return 0 if all is done, 2 if nothing can be run here, and 3 if something is left."""
    asked, started = _parser().parse_args(words), time.monotonic()
    # A virtual environment's python is a link, which must not be followed.
    python = Path(os.path.abspath(asked.python))  # noqa: PTH100
    try:
        orders = json.loads((folder / "orders.json").read_text(encoding="utf-8"))
        (folder / "results").mkdir(exist_ok=True)
        packages = unpack.unpacked(folder, asked.release) if asked.release else None
        stack = device_stack.ask(python, folder / "results", orders["packages"], packages)
    except (OSError, ValueError) as error:
        print(f"{folder}: the orders cannot be used: {error}", file=sys.stderr)
        return _WRONG
    except KeyError as error:
        print(f"{folder}: the orders cannot be used: orders.json has no {error}", file=sys.stderr)
        return _WRONG
    except NoStack as error:
        print(error, file=sys.stderr)
        return _WRONG
    if stack.platform != orders["wants"]:
        wants, here = orders["wants"], f"jax finds {stack.kind} ({stack.platform}) in {python}"
        print(f"these orders are for a {wants}, and {here}", file=sys.stderr)
        return _WRONG
    if why := probe_call.limited(asked.jobs):
        print(why, file=sys.stderr)
        return _WRONG
    try:
        return _Run(folder, orders, python, packages, stack, asked.jobs, started, asked.minutes).carry_out()
    except OSError as error:
        print(f"{folder}: results cannot be written: {error}", file=sys.stderr)
        return _WRONG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run.py",
        description="Carry out these orders with an interpreter that has jax, and leave one archive of results. The "
        "same command continues what was cut off.",
        epilog="Exit codes: 0 all is done; 2 nothing can be run with this interpreter; 3 something is left.",
    )
    parser.add_argument("--python", default=sys.executable, help="an interpreter with jax (default: this one)")
    parser.add_argument("--release", help="use the packages of this release of jax, which came with the orders")
    parser.add_argument("--minutes", type=_positive, default=60.0, help="when to stop (default: %(default)g)")
    jobs = max(1, min(_MOST_JOBS, cores()))
    parser.add_argument("--jobs", type=_count, default=jobs, help="processes side by side (default: %(default)s)")
    return parser


def _positive(text: str) -> float:
    with suppress(ValueError):
        if 0 < (number := float(text)) < 10_000:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")


def _count(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")


class _Run:
    """One run: the pieces of work, the time left, and what was done."""

    def __init__(
        self,
        folder: Path,
        orders: Json,
        python: Path,
        packages: Path | None,
        stack: DeviceStack,
        jobs: int,
        started: float,
        minutes: float,
    ) -> None:
        self._orders, self._jobs = orders, jobs
        self._started = started
        self._deadline = self._started + 60 * minutes
        place = ResultsFolder(folder / "results" / f"{stack.cell}-{stack.digest[:8]}", stack)
        place.scratch.mkdir(parents=True, exist_ok=True)
        bench = Bench(python, folder / "code", packages, place, self._jobs)
        flags = bench.variables("device")
        kept = {name: flags[name] for name in flags if name.startswith("XLA")}
        self._place = replace(place, stack=replace(stack, flags=kept))
        self._bench = replace(bench, place=self._place)
        self._archive = folder / f"results-{stack.cell}-{stack.digest[:8]}.json.xz"
        self._remark = ""
        self._stops: set[Stop] = set()
        self._over = threading.Event()

    def carry_out(self) -> int:
        """Do what fits into the time, and write the archive each minute and at the end."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._end())
        stack = self._place.stack
        print(f"{stack.cell}: {stack.kind}, {stack.count} of them, {self._jobs} processes side by side", flush=True)
        teller = threading.Thread(target=self._tell, daemon=True)
        teller.start()
        try:
            self._do_all()
        except KeyboardInterrupt:
            self._end()
        finally:
            self._over.set()
            teller.join()
            self._save()
        left = [piece for piece in self._pieces() if not piece.is_done()]
        print(f"{self._done()}; {self._archive} has the results{self._remark}", flush=True)
        if left:
            print("something is left: the same command continues", flush=True)
        return _LEFT if left else _DONE

    def _do_all(self) -> None:
        timings = self._timings()
        reserved = 0.0 if timings is None or timings.is_done() else _FOR_TIMINGS * (self._deadline - self._started)
        beside_until = self._deadline - reserved
        alone = set(self._orders["alone"])
        beside = [piece for piece in self._ordered() if not _runs_alone(piece, alone)]
        self._side_by_side(beside, self._jobs, beside_until)
        self._side_by_side(self._confirmations(), self._jobs, beside_until)
        # Most of these wait for their limit of time.
        apart = [piece for piece in self._ordered() if _runs_alone(piece, alone)]
        self._side_by_side(apart, 1, beside_until)
        self._side_by_side([timings] if timings else [], 1, self._deadline)

    def _side_by_side(self, pieces: Sequence[Piece], jobs: int, until: float) -> None:
        """Do these pieces in so many threads, and end the ones that run at the end of the time."""
        queue: SimpleQueue[Piece] = SimpleQueue()
        for piece in pieces:
            if not piece.is_done():
                queue.put(piece)
        threads = [threading.Thread(target=self._work, args=(queue, until), daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
                if time.monotonic() > until:
                    self._stop_running()

    def _work(self, queue: SimpleQueue[Piece], until: float) -> None:
        while time.monotonic() < until and not self._over.is_set():
            try:
                piece = queue.get_nowait()
            except Empty:
                return
            stop = Stop()
            self._stops.add(stop)
            try:
                piece.do(stop)
            except OSError as error:
                print(f"{piece.name}: {error}", file=sys.stderr, flush=True)
            finally:
                self._stops.discard(stop)

    def _stop_running(self) -> None:
        for stop in list(self._stops):
            stop.request()

    def _end(self) -> None:
        self._over.set()
        self._stop_running()

    # The pieces of work

    def _pieces(self) -> Iterator[Piece]:
        yield from self._ordered()
        timings = self._timings()
        if timings is not None:
            yield timings

    def _ordered(self) -> Iterator[Piece]:
        """Yield what runs side by side: first the cases that say most, then calls, programs, and the other cases."""
        cases = self._orders["cases"]
        first = [case for case in cases if case["first"]]
        rest = [case for case in cases if not case["first"]]
        yield from self._cases(first, 0)
        yield from self._programs()
        calls = list(self._calls())
        half = len(calls) // 2
        yield from calls[:half]
        yield from self._cases(rest, 500)
        yield from calls[half:]

    def _cases(self, cases: Sequence[Json], start: int) -> Iterator[CasePiece]:
        alone = set(self._orders["alone"])
        # What came home from this stack before is not run again.
        known: Json = self._orders["known"].get(self._place.stack.digest, {})
        together = [case for case in cases if _name(case) not in alone]
        apart = [case for case in cases if _name(case) in alone]
        portions = [together[place : place + _CASES] for place in range(0, len(together), _CASES)]
        portions += [[case] for case in apart]
        for number, portion in enumerate(portions, start):
            for side in SIDES:
                there = set(known.get(side, ()))
                wanted = [each for each in portion if side in each["sides"] and _name(each) not in there]
                mine = tuple(self._case(each, side) for each in wanted)
                if mine:
                    yield CasePiece(self._bench, side, mine, number)

    def _case(self, case: Json, side: Side) -> OrderedCase:
        stack = self._place.stack
        minor = ".".join(stack.python.split(".")[:2])
        system, machine = os.uname().sysname, os.uname().machine
        key = {
            **{"lock": stack.digest, "issue": case["key"], "probe": self._orders["probe"]},
            **{"python": minor, "platform": f"{system}-{machine}"},
        }
        record = self._place.record(side, case["issue"], case["case"])
        return OrderedCase(case["module"], case["issue"], case["case"], key, record)

    def _confirmations(self) -> list[Piece]:
        """Return the cases whose two sides differ, to be run again on both."""
        behaviours = {side: {_name(each): _behaviour(each) for each in self._place.records(side)} for side in SIDES}
        device, cpu = behaviours["device"], behaviours["cpu"]
        differ = {name for name in device.keys() & cpu.keys() if device[name] != cpu[name]}
        found: list[Piece] = []
        for number, case in enumerate(self._orders["cases"], 1000):
            if _name(case) in differ:
                for side in SIDES:
                    mine = (self._case(case, side),)
                    found.append(CasePiece(self._bench, side, mine, number, attempts=_CONFIRMED))
        return found

    def _calls(self) -> Iterator[CallPiece]:
        keys = self._orders["calls"]
        for number, start in enumerate(range(0, len(keys), _CALLS)):
            for side in SIDES:
                yield CallPiece(self._bench, side, tuple(keys[start : start + _CALLS]), number)

    def _programs(self) -> Iterator[ProgramPiece]:
        for target in self._orders["targets"]:
            if self._place.stack.kind.startswith(tuple(target["kinds"])):
                yield ProgramPiece(self._bench, target["id"], tuple(self._orders["programs"]))

    def _timings(self) -> TimingPiece | None:
        wanted = self._orders["benchmarks"]
        return TimingPiece(self._bench, wanted) if wanted else None

    # What is told

    def _tell(self) -> None:
        while not self._over.wait(60):
            self._save()
            left = max(self._deadline - time.monotonic(), 0) / 60
            passed = (time.monotonic() - self._started) / 60
            print(f"{passed:.0f} min: {self._done()}; at most {left:.0f} min left", flush=True)

    def _done(self) -> str:
        pieces = list(self._pieces())
        told = []
        cases = [piece for piece in pieces if isinstance(piece, CasePiece)]
        for side in SIDES:
            mine = [piece for piece in cases if piece.side == side]
            count = sum(len(piece.cases) for piece in mine)
            done = count - sum(len(piece.left()) for piece in mine)
            told.append(f"{done} of {count} cases on the {'device' if side == 'device' else 'CPU'}")
        calls = [piece for piece in pieces if isinstance(piece, CallPiece)]
        if calls:
            made = sum(len(piece.keys) for piece in calls if piece.is_done())
            told.append(f"{made} of {sum(len(piece.keys) for piece in calls)} calls")
        for piece in pieces:
            if isinstance(piece, (ProgramPiece, TimingPiece)):
                count = len(piece.wanted)
                told.append(f"{count - len(piece.left())} of {count} {piece.name}")
        return ", ".join(told)

    def _save(self) -> None:
        remark = self._place.archive(self._archive, self._orders)
        self._remark = f" ({remark})" if remark else ""


def _runs_alone(piece: Piece, alone: set[str]) -> bool:
    return isinstance(piece, CasePiece) and all("/".join(case.name) in alone for case in piece.cases)


def _name(found: Json) -> str:
    return f"{found['issue']}/{found['case']}"


def _behaviour(record: Json) -> str:
    """Return what a record's last attempt saw, or how it ended."""
    part = record["attempts"][-1]["parts"]["reproducer"]
    return str(part.get("behaviour") or part["outcome"])
