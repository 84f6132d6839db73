"""The words an issue module is written in: tables of frozen dataclasses, and nothing that needs the stack.

Cell side and driver side both read these. A module in `suite/issues` imports jax, equinox and diffrax inside its
functions only: so the driver can read its tables without a JAX, and each function can be copied out and run as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["silent-wrong", "silent-change", "crash", "import-error", "warning", "retrace", "slow", "by-design"]
Role = Literal["report", "fix", "docs"]
JudgedAs = Literal["clear", "affected", "guarded", "different", "absent"]
Isolation = Literal["fork", "fork-and-exit", "interpreter"]


@dataclass(frozen=True)
class Seen:
    """What a reproducer saw: the name of one of its case's behaviours, and the evidence in one line."""

    behaviour: str
    detail: str = ""


@dataclass(frozen=True)
class Upstream:
    """A thread, pull request or page upstream, e.g. `Upstream("jax-ml/jax#27829", "report", "closed")`."""

    ref: str
    role: Role
    state: str = ""


@dataclass(frozen=True)
class Expectation:
    """The behaviour that releases are known to show, and how it is known.

    `on` holds requirements that must all be met (`"jax>=0.4.36,<0.5"`, `"equinox<0.11.4"`); none means every release.
    `workaround` is whether the case's workaround is known to hold there, where it is needed.
    """

    behaviour: str
    on: tuple[str, ...]
    evidence: str
    workaround: Literal["holds", "fails"] = "holds"


@dataclass(frozen=True)
class Case:
    """One variant of an issue.

    `reproducer` names what it saw; an exception it does not know leaves it unhandled, and is judged `different`.
    `control` is the nearest code that must be right on every release, and raises if it is not.
    `workaround` is what upstream tells its users to write instead, and raises if it does not help.
    `behaviours` maps every name that `reproducer` can give to its verdict. The names `crashed`, `hung` and
    `import-error` are given by the probe; a case lists one where that is the documented symptom itself.
    `isolation`: a forked child leaves without the interpreter's farewell; `fork-and-exit` has the reproducer end as a
    program does, so that a crash at exit is seen; `interpreter` gives it one of its own, started afresh.
    """

    id: str
    question: str
    reproducer: Callable[[], Seen]
    control: Callable[[], None]
    behaviours: Mapping[str, JudgedAs]
    expectations: tuple[Expectation, ...]
    workaround: Callable[[], None] | None = None
    needs: tuple[str, ...] = ("jax",)
    isolation: Isolation = "fork"
    seconds: float = 120.0
    memory_mib: int = 4096


@dataclass(frozen=True)
class Issue:
    """One documented upstream problem; the first case is the headline."""

    id: str
    title: str
    kind: Kind
    story: str
    upstream: tuple[Upstream, ...]
    workaround: str
    cases: tuple[Case, ...]


def main(issue: Issue) -> None:
    """Run every case of `issue` here, in this interpreter: what `python -m suite.issues.X` does."""
    print(f"{issue.id}: {issue.title}\n")
    for case in issue.cases:
        parts: dict[str, Callable[[], Seen | None] | None] = {
            "saw": case.reproducer,
            "workaround": case.workaround,
            "control": case.control,
        }
        print(f"{case.id}: {case.question}")
        for name, part in parts.items():
            if part is None:
                continue
            try:
                seen = part()
                answer = "holds"
                if seen is not None:
                    answer = f"{seen.behaviour} ({case.behaviours[seen.behaviour]}) {seen.detail}"
            except Exception as exception:
                answer = f"raised {type(exception).__name__}: {str(exception).strip()[:300]}"
            print(f"  {name:<10} {answer}")
