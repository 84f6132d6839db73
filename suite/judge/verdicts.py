"""Observations and expectations → verdicts, agreements, intervals. Pure functions: no file, no clock, no process."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from suite.cell.issue import Case, Expectation
from suite.run.records import Attempt, Outcome, Part

Verdict = Literal[
    "clear",
    "affected",
    "guarded",
    "different",
    "crashed",
    "hung",
    "absent",
    "conflict",
    "unavailable",
    "flaky",
    "error",
    "not-run",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Agreement = Literal["as-expected", "regressed", "fixed", "changed", "new", "spurious"]
Workaround = Literal["holds", "fails", "not-needed", "none"]
Declared = Literal["allows", "excludes"]
DeclaredObserved = Literal["supported", "latent", "guarded", "over-tight"]

GLYPHS: Mapping[Verdict, str] = {
    "clear": "✓",
    "affected": "✗",
    "guarded": "◐",
    "different": "≠",
    "crashed": "☠",
    "hung": "⧖",
    "absent": "–",
    "conflict": "⊘",
    "unavailable": "∅",
    "flaky": "~",
    "error": "!",
    "not-run": "·",
}
# Where nothing was learned of upstream, nothing can agree or disagree with what was expected of it.
UNDECIDED: frozenset[Verdict] = frozenset({"conflict", "unavailable", "flaky", "error", "not-run"})
# Where nothing goes wrong silently; of what was decided, the rest is bad.
GOOD: frozenset[Verdict] = frozenset({"clear", "absent", "guarded"})

# How an attempt that did not return is judged, and under which reason code.
_ENDINGS: Mapping[Outcome, tuple[Verdict, str]] = {
    "raised": ("different", "run.exception"),
    "import-error": ("different", "import.exception"),
    "signal": ("crashed", "run.signal"),
    "timeout": ("hung", "run.timeout"),
    "memory": ("error", "run.memory"),
    "output": ("different", "run.output"),
    "exit": ("different", "run.exit"),
    "no-result": ("different", "run.no-result"),
    "garbled": ("error", "run.garbled"),
}
# The behaviours that the probe gives itself, which a case may list as its documented symptom.
_GIVEN: Mapping[Outcome, str] = {"signal": "crashed", "timeout": "hung", "import-error": "import-error"}


@dataclass(frozen=True)
class Judged:
    """A verdict with its grounds. `behaviour` is None where none of the case's own was seen; `reason` where clear."""

    verdict: Verdict
    behaviour: str | None
    reason: str | None
    detail: str
    workaround: Workaround = "none"


@dataclass(frozen=True)
class Point:
    """One place on a release line: the version there, and what was seen; `None` where nothing was learned."""

    version: str
    seen: tuple[str, Verdict] | None


@dataclass(frozen=True)
class Interval:
    """A run of releases, `first` to `last`, that show one behaviour; `exact` where both ends are known to the release.

    `package` is what `first` and `last` are versions of; `order` says how the releases were ordered.
    """

    behaviour: str
    verdict: Verdict
    package: str
    first: str
    last: str
    exact: bool
    order: Literal["version", "date"] = "version"


def judge(case: Case, attempts: Sequence[Attempt]) -> Judged:
    """The verdict on all attempts of a case in one cell: theirs where they agree, else `flaky`, with k of n."""
    judged = [judge_attempt(case, attempt) for attempt in attempts]
    kinds = {(each.verdict, each.behaviour) for each in judged}
    # A workaround holds only if it always does.
    telling = next((each for each in judged if each.workaround == "fails"), judged[-1])
    if len(kinds) == 1:
        return telling
    told = [each.behaviour or each.verdict for each in judged]
    counts = ", ".join(f"{told.count(name)} of {len(told)} {name}" for name in sorted(set(told)))
    return Judged("flaky", None, "run.flaky", counts, telling.workaround)


def judge_attempt(case: Case, attempt: Attempt) -> Judged:
    """The verdict on one attempt."""
    control = attempt.parts.get("control")
    if control is not None and control.outcome != "returned":
        return Judged("error", None, "run.control", tidy(f"the control failed: {explain(control)}"))
    part = attempt.parts["reproducer"]
    given = part.behaviour if part.outcome == "returned" else _GIVEN.get(part.outcome)
    if _is_error(part):
        given = None
    if given is not None and given in case.behaviours:
        verdict: Verdict = case.behaviours[given]
        reason = None if verdict == "clear" else _ENDINGS.get(part.outcome, (verdict, f"run.{given}"))[1]
        detail = part.detail if part.outcome == "returned" else explain(part)
    elif given is not None and part.outcome == "returned":
        verdict, reason = "error", "run.unknown-behaviour"
        detail, given = f"{given!r} is not among the behaviours of {case.id}", None
    else:
        verdict, reason = _ending(part)
        detail, given = explain(part), None
    return Judged(verdict, given, reason, tidy(detail), _workaround(case, attempt, verdict))


def is_affected(verdict: Verdict) -> bool | None:
    """Whether a release with this verdict has the documented symptom; None where the verdict does not tell."""
    if verdict in GOOD:
        return False
    return True if verdict == "affected" else None


def confirmed(attempts: Sequence[Attempt]) -> bool:
    """Whether a verdict has more than one attempt behind it, or as many as the probe would ever make."""
    return len(attempts) > 1 or attempts[0].parts["reproducer"].outcome == "import-error"


def expected(case: Case, packages: Mapping[str, str]) -> Expectation | None:
    """What these releases are known to show in `case`, if anything is known.

    Raises ValueError where two expectations both claim them: the issue's table contradicts itself.
    """
    matching = [each for each in case.expectations if all(_met(text, packages) for text in each.on)]
    if len({each.behaviour for each in matching}) > 1:
        names = ", ".join(each.behaviour for each in matching)
        raise ValueError(f"{case.id}: {names} are all expected of {dict(packages)}")
    return matching[0] if matching else None


def workaround_expected(judged: Judged, expectation: Expectation | None) -> bool:
    """Whether what became of the workaround is what is known of it: that it holds, where nobody says that it fails."""
    if judged.workaround not in ("holds", "fails"):
        return True
    return judged.workaround == (expectation.workaround if expectation else "holds")


def not_imported(judged: Judged) -> str | None:
    """The probe's own name for a case that came to nothing because a package that it needs did not import."""
    return _GIVEN["import-error"] if judged.reason == _ENDINGS["import-error"][1] else None


def agree(case: Case, judged: Judged, expectation: Expectation | None) -> Agreement:
    """How a verdict goes with what was expected."""
    if judged.verdict in UNDECIDED:
        return "spurious"
    if expectation is None:
        return "new"
    if (judged.behaviour or not_imported(judged)) == expectation.behaviour:
        return "as-expected"
    was = case.behaviours.get(expectation.behaviour, "different")
    if (was in GOOD) != (judged.verdict in GOOD):
        return "fixed" if judged.verdict in GOOD else "regressed"
    return "changed"


def intervals(
    points: Sequence[Point], package: str, releases: Sequence[str], caused: Collection[str] | None = None
) -> tuple[Interval, ...]:
    """The runs of one behaviour along `points`, in their order; a point where nothing was learned ends none.

    `releases` are all that could be had, in the same order. An interval is exact when, at each end, the release next to
    it outside was seen to differ, or there is none; and, where `caused` is given, when the change came with one of
    these: what stood before it on its day still did as before.
    """
    place = {version: number for number, version in enumerate(releases)}
    seen = [(point.version, point.seen) for point in points if point.seen is not None]
    runs: list[list[tuple[str, tuple[str, Verdict]]]] = []
    for version, what in seen:
        if runs and runs[-1][-1][1] == what:
            runs[-1].append((version, what))
        else:
            runs.append([(version, what)])

    def adjacent(before: str | None, after: str | None) -> bool:
        if before is None:
            return after is not None and place.get(after) == 0
        if after is None:
            return place.get(before) == len(releases) - 1
        came_with_it = caused is None or after in caused
        return came_with_it and before in place and place.get(after) == place[before] + 1

    found = []
    for number, run in enumerate(runs):
        (first, (behaviour, verdict)), (last, _) = run[0], run[-1]
        before = runs[number - 1][-1][0] if number else None
        after = runs[number + 1][0][0] if number + 1 < len(runs) else None
        exact = adjacent(before, first) and adjacent(last, after)
        found.append(Interval(behaviour, verdict, package, first, last, exact))
    return tuple(found)


def reconciled(tried: Mapping[str, bool], declared: str) -> str | None:
    """The specifier that admits what works of `tried` and nothing else of it; None where none of it works.

    `tried` maps a version to whether it works. Where `declared` already agrees with that, it is the answer; else its
    lower bound is kept where what lies below it was not seen to work, and the rest of it where no release that works
    contradicts it.
    """
    works = [version for version in in_version_order(list(tried)) if tried[version]]
    if not works:
        return None
    says = SpecifierSet(declared)
    if all((version in says) == good for version, good in tried.items()):
        return declared
    first, last = works[0], works[-1]
    broken = [version for version in in_version_order(list(tried)) if not tried[version]]
    below = [version for version in broken if Version(version) < Version(first)]
    above = [version for version in broken if Version(version) > Version(last)]
    lower = max((each.version for each in says if each.operator == ">="), key=Version, default=None)
    if below or (lower is not None and Version(lower) > Version(first)):
        lower = first
    parts = [f">={lower}"] if lower is not None else []
    parts += [f"<{above[0]}"] if above else []
    parts += [f"!={version}" for version in broken if version not in below and version not in above]
    # What it says of releases that were not tried here has its reasons elsewhere.
    for each in says:
        already = each.operator == "!=" and each.version not in SpecifierSet(",".join(parts))
        if each.operator != ">=" and not already and all(map(each.contains, works)):
            parts.append(str(each))
    return ",".join(dict.fromkeys(parts))


def broken_in(part: Part, packages: Collection[str]) -> str | None:
    """The package in which a reproducer broke: the one that did not import, or whose code raised."""
    if named := re.match(r"import (\w+): ", part.detail):
        return named[1] if named[1] in packages else None
    frames = re.findall(r"/site-packages/(\w+)/", part.traceback or "")
    return next((name for name in reversed(frames) if name in packages), None)


def declared_observed(says: Declared, works: bool | None) -> DeclaredObserved | None:
    """What metadata says against what was seen; None where nothing was."""
    if works is None:
        return None
    if says == "allows":
        return "supported" if works else "latent"
    return "over-tight" if works else "guarded"


def in_version_order(versions: Sequence[str]) -> list[str]:
    """Sorted as PEP 440 orders them."""
    return sorted(versions, key=Version)


def explain(part: Part) -> str:
    """What came of a part, in one line."""
    if part.outcome == "raised":
        # JAX's last line is boilerplate about its own traceback; the first says what happened.
        return f"{part.exception}: {part.detail.strip().splitlines()[0] if part.detail.strip() else ''}".rstrip(": ")
    if part.said is not None:
        # Which signal it is can differ from run to run.
        return f"{part.outcome} after its answer, {part.said.behaviour or part.said.outcome}: {part.said.detail}"
    return f"{part.outcome}: {part.detail}" if part.detail else part.outcome


def tidy(detail: str) -> str:
    """One line of somebody else's text, without what differs between two runs of the same thing: addresses, paths."""
    line = " ".join(detail.split())
    line = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in line)
    line = re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", line)
    line = re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "…/", line)
    return line if len(line) <= 400 else line[:399] + "…"


def _is_error(part: Part) -> bool:
    """Whether what ended this part says nothing of upstream."""
    return part.outcome != "returned" and _ending(part)[0] == "error"


def _ending(part: Part) -> tuple[Verdict, str]:
    verdict, reason = _ENDINGS[part.outcome]
    if part.outcome == "signal" and part.detail == "SIGKILL":
        # Not ours, and no program does this to itself: the kernel was short of memory, or somebody ended it.
        return "error", "run.killed"
    return verdict, reason


def _workaround(case: Case, attempt: Attempt, verdict: Verdict) -> Workaround:
    part = attempt.parts.get("workaround")
    if case.workaround is None or part is None or verdict not in ("affected", "guarded", "clear"):
        # It is written for the documented symptom, and says nothing where something else is wrong.
        return "none"
    if _is_error(part):
        return "none"
    if part.outcome != "returned":
        return "fails"
    return "not-needed" if verdict == "clear" else "holds"


def _met(text: str, packages: Mapping[str, str]) -> bool:
    requirement = Requirement(text)
    version = packages.get(requirement.name)
    return version is not None and requirement.specifier.contains(version, prereleases=True)
