"""Offences in what an issue says of upstream's threads, and in its kind: both must follow from data and runs."""

import re
from collections.abc import Iterator

from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case, Issue, Signature, Upstream
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.rules import requirements
from jax_stack_compat.packages import guests
from laboratory.report.model import Observation
from laboratory.sources import threads
from tests.issues.last_run import Change, changes, oldest, seen

# What upstream made good: the symptom is absent, or is refused loudly instead of passing in silence.
_GOOD = ("clear", "guarded")
_SETTLED = ("affected", "documented")
_DIES = ("crashed", "hung")
# Errors that an import raises: a missing module, a missing name, a missing attribute of a module.
_OF_IMPORTS = ("ImportError", "ModuleNotFoundError", "AttributeError")
_ROLLED_BACK = re.compile(r"\brolled\s+back\b|\breverted\b", re.IGNORECASE)


def _named(entry: Entry, *roles: str) -> list[Upstream]:
    return [each for each in threads.upstream(entry.issue) if each.role in roles]


def _is_thread(ref: str) -> bool:
    return threads.REFERENCE.fullmatch(ref) is not None


def _packages(ref: str) -> tuple[str, ...]:
    """Return the packages that are released from a reference's repository."""
    name = re.split("[#@]", ref)[0].rpartition("/")[2]
    return ("jax", "jaxlib") if name == "jax" else (name,)


def _releases(entry: Entry, role: str) -> Iterator[tuple[str, str]]:
    """Yield each reference of a role with its first release, if one is known and has it."""
    known = threads.load().first_releases
    for each in _named(entry, role):
        release = known.get(each.ref)
        if release is not None:
            yield each.ref, release


def _begins(issue: Issue, ref: str, release: str, *, good: bool) -> bool:
    """Return True if a case becomes good, or bad, with a release of the reference's package."""
    for case in issue.cases:
        for change in changes(issue.id, case.id):
            if change.package not in _packages(ref) or not change.is_in(release):
                continue
            if _is_good(change) if good else change.after not in ("clear", "absent"):
                return True
        # The report has no intervals along the releases of a guest.
        if not guests(_packages(ref)).isdisjoint(_bounds(case, release)):
            return True
    return False


def _is_good(change: Change) -> bool:
    """Return True if a fault ends: it is absent now, or refused loudly, or documented."""
    return change.before != "clear" and (change.after in _GOOD or (change.before, change.after) == _SETTLED)


def _bounds(case: Case, release: str) -> set[str]:
    """Return the packages that a case's rules bound at a release."""
    on = (each for rule in case.rules for each in requirements(rule.on))
    return {each.name for each in on if release in {specifier.version for specifier in each.specifier}}


def _was_there(issue: Issue, ref: str, release: str) -> bool:
    """Return True if a case is bad on the oldest release that was run, which is not older than `release`."""
    for case in issue.cases:
        for package in _packages(ref):
            for first, verdict in oldest(issue.id, case.id, package):
                if parsed(release) <= parsed(first) and verdict not in ("clear", "absent"):
                    return True
    return False


def fix_is_no_boundary(entry: Entry) -> bool:
    """The first release that has a fix, where it is known, is the one with which a case becomes clear or guarded."""
    return any(not _begins(entry.issue, *fix, good=True) for fix in _releases(entry, "fix"))


def cause_is_no_boundary(entry: Entry) -> bool:
    """The first release that has a cause, where it is known, is the one with which a case goes wrong."""
    causes = _releases(entry, "cause")
    return any(not (_begins(entry.issue, *each, good=False) or _was_there(entry.issue, *each)) for each in causes)


def docs_are_a_thread(entry: Entry) -> bool:
    """Documentation is a published page, not a thread or a commit."""
    return any(not each.ref.startswith("https://") for each in _named(entry, "docs"))


def attempt_is_merged(entry: Entry) -> bool:
    """An attempt is a pull request that is not merged, or the story or a rule says that it was rolled back."""
    known = threads.load().threads
    notes = (rule.evidence for case in entry.issue.cases for rule in case.rules)
    is_told = _ROLLED_BACK.search("\n".join([entry.issue.story, *notes])) is not None
    for each in _named(entry, "attempt"):
        thread = known.get(each.ref)
        if thread is None or thread.kind != "pull" or (thread.state == "merged" and not is_told):
            return True
    return False


def change_is_open(entry: Entry) -> bool:
    """A change is merged: an open pull request is an attempt."""
    known = threads.load().threads
    changes_named = (known.get(each.ref) for each in _named(entry, "change"))
    return any(thread is not None and thread.state == "open" for thread in changes_named)


def report_or_discussion_is_no_thread(entry: Entry) -> bool:
    """A report and a discussion are threads, not pages and commits."""
    return any(not _is_thread(each.ref) for each in _named(entry, "report", "discussion"))


def _signatures(case: Case, behaviour: str | None) -> tuple[Signature, ...]:
    some = case.signatures.get(behaviour or "", ())
    return some if isinstance(some, tuple) else (some,)


def _is_warning(signature: Signature) -> bool:
    return signature.type.endswith("Warning")


def _observed(issue: Issue, *cases: Case) -> Iterator[tuple[Case, Observation]]:
    for case in cases or issue.cases:
        for row in seen().get((issue.id, case.id), ()):
            yield case, row


def _raises(case: Case, row: Observation) -> bool:
    """Return True if an observation is an exception, a death or a run into the time limit."""
    is_raised = any(not _is_warning(each) for each in _signatures(case, row.behaviour))
    return is_raised or row.behaviour in _DIES or row.reason in ("run.signal", "run.timeout", "import.exception")


def _is_silent(case: Case, row: Observation) -> bool:
    """Return True if an observation is a fault that came without an exception and without a warning."""
    return row.verdict == "affected" and not _raises(case, row) and not _signatures(case, row.behaviour)


def _is_at_import(case: Case, row: Observation) -> bool:
    if (row.reason or "").startswith("import."):
        return True
    return any(each.type in _OF_IMPORTS for each in _signatures(case, row.behaviour))


def import_error_is_not_seen(entry: Entry) -> bool:
    """In an issue of the kind import-error, an import fails somewhere."""
    found = (_is_at_import(case, row) for case, row in _observed(entry.issue) if row.verdict == "affected")
    return entry.issue.kind == "import-error" and not any(found)


def crash_is_not_seen(entry: Entry) -> bool:
    """In an issue of the kind crash, the headline raises or dies somewhere."""
    headline = _observed(entry.issue, entry.issue.cases[0])
    return entry.issue.kind == "crash" and not any(
        _raises(case, row) for case, row in headline if row.verdict != "clear"
    )


def silent_wrong_is_loud(entry: Entry) -> bool:
    """In an issue of the kind silent-wrong, a case goes wrong somewhere without an exception or a warning."""
    found = _observed(entry.issue)
    return entry.issue.kind == "silent-wrong" and not any(_is_silent(case, row) for case, row in found)


def by_design_is_not_documented(entry: Entry) -> bool:
    """In an issue by design, what the headline shows is documented, and is nowhere an affected behaviour."""
    headline = {row.verdict for _, row in _observed(entry.issue, entry.issue.cases[0])}
    return entry.issue.kind == "by-design" and ("documented" not in headline or "affected" in headline)


def guarded_was_never_silent(entry: Entry) -> bool:
    """A case has a guarded behaviour only if it goes wrong in silence somewhere, or its issue is a silent one."""
    issue = entry.issue
    if issue.kind in ("silent-wrong", "silent-change"):
        return False
    guarded = [case for case in issue.cases if "guarded" in case.behaviours.values()]
    return any(not any(_is_silent(*one) for one in _observed(issue, case)) for case in guarded)


OF_ROLES = (
    *(fix_is_no_boundary, cause_is_no_boundary, docs_are_a_thread, attempt_is_merged),
    *(change_is_open, report_or_discussion_is_no_thread),
)
OF_KINDS = (
    *(import_error_is_not_seen, crash_is_not_seen, silent_wrong_is_loud, by_design_is_not_documented),
    *(guarded_was_never_silent,),
)
