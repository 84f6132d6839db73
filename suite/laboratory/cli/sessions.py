"""The table of the nox sessions that call a command. The noxfile makes the sessions, and has the few others itself."""

from __future__ import annotations

from dataclasses import dataclass

from jax_stack_compat.base.errors import Exit


@dataclass(frozen=True)
class Session:
    """A nox session that calls a command.

    `of` are the command's arguments, by default the session's name. `group` is the dependency group in pyproject.toml
    that the session needs. The exit code `fine` is not a failure. The table in `document` has a line for each of the
    `examples`, which follow `--`.
    """

    name: str
    of: tuple[str, ...] = ()
    about: str = ""
    group: str = ""
    fine: Exit = Exit.AS_EXPECTED
    document: str = ""
    examples: tuple[str, ...] = ("",)

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of the command line."""
        return self.of or (self.name,)


def _of_asv(name: str, work: str, *examples: str) -> Session:
    return Session(name, ("bench", work), "", "bench", Exit.UNDECIDED, document="timings", examples=examples)


# fmt: off
# In the order of `nox --list`.
_CHANGED, _ALL = "tracer-hash-while-loop/hash-tracer", ("compat", "--tag", "full")
SESSIONS = (
    Session("compat", document="running", examples=("", "--plan", "--all-headlines", "--all-cases", "--fresh")),
    Session("compat-line", ("compat", "--tag", "line"), document="running", about=
            "Run all cases of all issues in every cell of the line, and report as compat does."),
    Session("compat-full", _ALL, "Run all cases of all issues in every planned cell, and report as compat does.",
            document="running"),
    Session("publish"),
    Session("run", document="running", examples=("jax-0.4.36+diffrax-0.6.0",)),
    Session("report", document="running", examples=("", "--verbose")),
    Session("check"),
    Session("try", document="running", examples=("equinox=../equinox",)),
    Session("explain"),
    Session("merge", group="numbers"),
    Session("orders", document="running", examples=("--for gpu --to orders",)),
    Session("diff", document="running", examples=("OLD reports/latest",)),
    Session("rebuild", document="upkeep"),
    Session("bisect", document="running", examples=(_CHANGED, f"--hold jax==0.9.2 --package equinox {_CHANGED}")),
    Session("clean", document="running"),
    Session("discover", document="running", examples=("", "--plan")),
    *(Session(name, document="upkeep") for name in ("snapshot", "elsewhere", "libraries", "threads", "names")),
    Session("numbers", group="numbers", document="upkeep"),
    Session("receive", document="upkeep", examples=("FOLDER",)),
    *(Session(name, document="upkeep") for name in ("lock",)),
    Session("rekey", document="upkeep", examples=("HEAD~1",)),
    Session("pins", document="upkeep"),
    Session("device-programs", ("programs",), fine=Exit.INCOMPLETE, document="timings", examples=(
        "jax-0.9.0 jax-0.11.0", "--diff jax-0.10.2 jax-0.11.0 scan")),
    Session("line", group="bench", document="timings"),
    _of_asv("bench", "run", "", "--bench Scan jax-0.9.2", "--python PATH"),
    _of_asv("bench-compare", "compare", "jax-0.9.2 jax-0.10.2"),
    _of_asv("bench-count", "count", "jax-0.9.2", "--calls --line"),
    _of_asv("bench-noise", "noise", ""),
    _of_asv("bench-publish", "publish", ""),
)
# fmt: on
