"""The results of a stack, in a folder beside the orders, and their archive."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from jax_stack_compat.cell import atomic
from laboratory.orders.runner.device_stack import DeviceStack

Side = Literal["device", "cpu"]
SIDES: tuple[Side, ...] = ("device", "cpu")
SCHEMA = 1
# In bytes. The texts of programs are left out of an archive that would be larger.
MOST = 15_000_000
Json = dict[str, Any]


@dataclass(frozen=True)
class ResultsFolder:
    """The folder of one stack's results: a record for each case and side, and a file for each other piece of work."""

    folder: Path
    stack: DeviceStack

    @property
    def scratch(self) -> Path:
        """A folder for what processes write and nobody keeps."""
        return self.folder / "scratch"

    def record(self, side: Side, issue: str, case: str) -> Path:
        """Return the path of a case's record."""
        return self.folder / side / issue / f"{case}.json"

    def calls(self, side: Side, number: int) -> Path:
        """Return the path of the outcomes of one portion of calls."""
        return self.folder / f"numbers-{side}" / f"{number:04}.json"

    @property
    def programs(self) -> Path:
        """The folder of the programs' counts and texts."""
        return self.folder / "programs"

    @property
    def timings(self) -> Path:
        """The file with a line for each benchmark."""
        return self.folder / "timings.jsonl"

    def records(self, side: Side) -> Iterator[Json]:
        """Yield the finished records of a side."""
        for path in sorted((self.folder / side).glob("*/*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))

    def timed(self) -> list[Json]:
        """Return the finished benchmarks."""
        return lines(self.timings)

    def archive(self, path: Path, orders: Mapping[str, Any]) -> str:
        """Write the results so far to `path`; return a remark about what did not fit, or an empty text."""
        held = self._held(orders)
        packed = _packed(held)
        if len(packed) <= MOST:
            atomic.write(path, packed)
            return ""
        atomic.write(path, _packed({**held, "texts": {}}))
        return f"the texts of the programs are left out: with them, {path.name} has more than {MOST / 1e6:.0f} MB"

    def _held(self, orders: Mapping[str, Any]) -> Json:
        outcomes: dict[str, Json] = {side: {} for side in SIDES}
        machines: dict[str, Json] = {}
        for side in SIDES:
            for path in sorted((self.folder / f"numbers-{side}").glob("*.json")):
                portion = json.loads(path.read_text(encoding="utf-8"))
                outcomes[side].update(portion["outcomes"])
                machines[side] = portion["machine"]
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(self.programs.glob("*.hlo.txt"))}
        return {
            "schema_version": SCHEMA,
            "orders": {name: orders[name] for name in ("made_at", "suite_version", "wants")},
            "stack": {**asdict(self.stack), "cell": self.stack.cell, "digest": self.stack.digest},
            "records": {side: list(self.records(side)) for side in SIDES},
            "numbers": outcomes,
            "numbers_machine": machines,
            "programs": lines(self.programs / "counts.jsonl"),
            "texts": texts,
            "timings": self.timed(),
        }


def lines(path: Path) -> list[Json]:
    """Return the objects of a file with a line of JSON for each; a line that was cut off is left out."""
    found: list[Json] = []
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _packed(held: Json) -> bytes:
    return lzma.compress(json.dumps(held, separators=(",", ":")).encode(), preset=6)
