"""What `check --source` says of the code of every case, on the newest release that shows its symptom.

bodies.toml lists the cases that fail a test today, by the folder of their module. A list may only shrink.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from jax_stack_compat.check.finding import Level
from jax_stack_compat.check.knowledge import Knowledge
from tests.check.bodies import bodies, levels

LISTED = tomllib.loads(Path(__file__).with_name("bodies.toml").read_text(encoding="utf-8"))
# The part of a case, and whether `check` is wrong to say this of it.
OFFENCES: Mapping[str, tuple[str, Callable[[Level | None], bool]]] = {
    "reproducer-is-not-seen": ("reproducer", lambda level: level is None),
    "workaround-is-reported": ("workaround", lambda level: level is not None),
    "control-is-likely": ("control", lambda level: level in ("certain", "likely")),
}


def test_a_case_offends_where_it_is_listed(published: Knowledge, tmp_path: Path) -> None:
    """The lists have exactly the cases of which `check` is wrong."""
    said = levels([*bodies(published)], tmp_path)
    found = {
        f"{offence}: {body.area}: {body.name}"
        for offence, (part, offends) in OFFENCES.items()
        for body, level in said.items()
        if body.part == part and offends(level)
    }
    listed = {f"{kind}: {area}: {name}" for kind, areas in LISTED.items() for area, of in areas.items() for name in of}

    assert [] == sorted(found - listed), "these offend, and did not"
    assert [] == sorted(listed - found), "these offend no longer: take them from bodies.toml"
