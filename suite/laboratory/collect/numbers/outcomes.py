"""Outcomes of calls, as the cell's side reports them, and the file with the outcomes of all releases."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from packaging.version import Version

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.files import REPORTS, content
from jax_stack_compat.names.spans import track

PUBLISHED = REPORTS / "published"
PATH = PUBLISHED / "numbers.json.xz"
# The forms of an outcome: `{"values": [[dtype, shape, bytes]]}`, `{"raises": class}`, `{"ended": how}`, `{"same":
# "eager"}`.
Outcome = Mapping[str, Any]
# An outcome, with the places of its first and last release.
Span = tuple[int, int, Outcome]
Array = NDArray[Any]


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of each call, by key, on `releases` of jax in version order.

    `features` has the features of each CPU. The CPU of a call is the first, or the one whose place is in `elsewhere`,
    by key. A release may be measured later on another CPU: a call that changed with it has an outcome of that CPU.
    `mixed` has outcomes of calls that changed with a release of jax, by release and key: on that jax, with the jaxlib
    of the release before.
    """

    releases: tuple[str, ...]
    features: tuple[str, ...]
    calls: Mapping[str, tuple[Span, ...]]
    mixed: Mapping[str, Mapping[str, Outcome]] = field(default_factory=dict)
    elsewhere: Mapping[str, int] = field(default_factory=dict)


def join(walks: Mapping[str, Mapping[str, Outcome]], cpus: Mapping[str, str]) -> Outcomes:
    """Return the spans of outcomes measured by release; `cpus` has the features of each call's CPU, by key."""
    releases = sorted(walks, key=Version)
    keys = sorted({key for walk in walks.values() for key in walk})
    calls = {key: track([walks[release].get(key) for release in releases]) for key in keys}
    features = tuple(dict.fromkeys(cpus.values()))
    elsewhere = {key: features.index(cpu) for key, cpu in sorted(cpus.items()) if cpu != features[0]}
    return Outcomes(tuple(releases), features, calls, elsewhere=elsewhere)


def split(outcomes: Outcomes) -> dict[str, dict[str, Outcome]]:
    """Return the measured outcomes, by release."""
    found: dict[str, dict[str, Outcome]] = {release: {} for release in outcomes.releases}
    for key, spans in outcomes.calls.items():
        for first, last, outcome in spans:
            for release in outcomes.releases[first : last + 1]:
                found[release][key] = outcome
    return found


def load(path: Path = PATH) -> Outcomes:
    """Return the published outcomes; empty without a file. Raises BadFile."""
    if not path.exists():
        return Outcomes((), (), {})
    try:
        read = json.loads(lzma.decompress(content(path)))
        calls = {
            key: tuple((first, last, outcome) for first, last, outcome in spans) for key, spans in read["calls"].items()
        }
        features = tuple(read["features"])
        return Outcomes(tuple(read["releases"]), features, calls, read.get("mixed", {}), read.get("elsewhere", {}))
    except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as error:
        raise BadFile([Fault(path, "file", str(error))]) from error


def packed(outcomes: Outcomes) -> bytes:
    """Return the bytes of the file, the same for the same outcomes."""
    calls = {key: outcomes.calls[key] for key in sorted(outcomes.calls)}
    data = {
        **{"releases": outcomes.releases, "features": outcomes.features},
        **{"calls": calls, "mixed": outcomes.mixed, "elsewhere": outcomes.elsewhere},
    }
    return lzma.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), preset=9)


def arrays(outcome: Outcome) -> list[Array] | None:
    """Return the arrays that a call returned; None if it did not return, or only a digest is known."""
    if "values" not in outcome:
        return None
    found = [_array(*leaf) for leaf in outcome["values"]]
    return None if any(each is None for each in found) else [each for each in found if each is not None]


def _array(dtype: str, shape: Sequence[int], told: str) -> Array | None:
    if told.startswith("sha256:") or dtype == "text":
        return None
    read, name = bytes.fromhex(told), dtype.removeprefix("python ")
    if name == "bfloat16":
        # A bfloat16 is the upper half of a float32.
        return (np.frombuffer(read, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    try:
        return np.frombuffer(read, name).reshape(shape)
    except (TypeError, ValueError):
        return None
