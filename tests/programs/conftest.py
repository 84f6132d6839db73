"""Invented programs, in the form in which they are kept."""

from collections.abc import Mapping
from datetime import date

from laboratory.programs.model import Program, Programs, ReleasePrograms, Workload

DAYS = {"0.9.0": date(2026, 1, 20), "0.9.1": date(2026, 3, 2), "0.8.3": date(2026, 1, 29), "0.8.2": date(2025, 12, 18)}
WORKLOADS = {"softmax": Workload(title="A softmax."), "solve": Workload(title="A solve.", needs=("diffrax",))}


def release(jax: str, programs: list[Program], *, diffrax: str = "0.7.0", recipe: str = "one") -> ReleasePrograms:
    """A release with these programs."""
    return ReleasePrograms(
        cell=f"jax-{jax}",
        released_on=DAYS[jax],
        packages={"jax": jax, "diffrax": diffrax},
        wheels={"libtpu": "0.0.1"},
        recipe=recipe,
        key=f"key of {jax}",
        programs=programs,
    )


def counted(
    workload: str = "softmax", counts: Mapping[str, int] | None = None, source: str = "one", **absent: str
) -> Program:
    """A program with these counts."""
    return Program(workload=workload, source=source, counts=dict(counts or {}), absent=absent, compile_seconds=1.5)


def programs(*releases: ReleasePrograms, target: str = "h100") -> Programs:
    """Return the kept programs of a target."""
    found = Programs(target=target, title="A device, compiled, not run")
    for each in releases:
        found = found.plus(each, WORKLOADS)
    return found
