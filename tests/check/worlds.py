"""Small data: row zero, two issues of jax and one of Diffrax, on five releases of jax and three of Diffrax."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jax_stack_compat.cell.issue import Rule, Signature
from jax_stack_compat.check.find.index import Index, IndexedIssue, Signed, Timing
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.judge.rules import Pins, Run, first_match

RELEASES = ("0.4.30", "0.4.36", "0.5.0", "0.6.0", "0.7.0")
CELLS = {
    **{f"jax-{jax}": {"jax": jax, "jaxlib": jax, "numpy": "2.0.0"} for jax in RELEASES},
    **{
        f"jax-0.5.0+diffrax-{diffrax}": {"jax": "0.5.0", "jaxlib": "0.5.0", "equinox": "0.12.0", "diffrax": diffrax}
        for diffrax in ("0.6.0", "0.7.0", "0.7.1")
    },
}


def case(id: str, *rules: Rule, cells: Mapping[str, Pins] = CELLS, **changes: Any) -> KnownCase:
    """Return a case that was run on those of the cells where its rules match, with the behaviour they expect."""
    known: dict[str, Any] = {
        **{"id": id, "needs": ("jax",), "conditions": (), "rules": rules},
        "behaviours": {"wrong": "affected", "right": "clear", "raises": "guarded", "import-error": "affected"},
        **{"workaround": "Do not.", "fails": (), "helped": {}, **changes},
    }
    runs = [
        Run(id, pins, rule.behaviour)
        for id, pins in cells.items()
        if {*known["needs"]} <= {*pins} and (rule := first_match(rules, pins))
    ]
    return KnownCase(**{"runs": tuple(runs), **known})


def issue(id: str, *cases: KnownCase, kind: str = "silent-wrong", **changes: Any) -> KnownIssue:
    """Return an issue of these cases."""
    known: dict[str, Any] = {"title": f"{id} does it", "row_zero": False, "touches": (), "upstream": ("jax-ml/jax#1",)}
    known |= changes
    own = tuple(replace(each, touches=each.touches or known["touches"]) for each in cases)
    return KnownIssue(**{"id": id, "kind": kind, "cases": own, **known})


def knowledge(*issues: KnownIssue, cells: Mapping[str, Pins] = CELLS) -> Knowledge:
    """Return the knowledge of these issues, by default those of this world."""
    mended = case("mended", Rule("wrong", "jax<0.5.0", "run"), Rule("right", "", "run"))
    back = case("back", Rule("right", "jax<0.6.0", "run"), Rule("wrong", "", "run"), conditions=("with x64 on",))
    loud = case("loud", Rule("raises", "jax>=0.7.0", "run"), Rule("wrong", "", "run"))
    own = case(
        "solves", Rule("wrong", "diffrax<0.7.1", "run"), Rule("right", "", "run"), needs=("jax", "equinox", "diffrax")
    )
    broken = Rule("import-error", "jax>=0.6.0 equinox<0.13", "run")
    imports = case("imports", broken, Rule("right", "", "run"), needs=("jax", "equinox"))
    every = (
        issue("row-zero", imports, row_zero=True, kind="crash"),
        issue("slow-thing", back, kind="slow"),
        issue("wrong-numbers", mended, loud, touches=("jax.numpy.pad", "jax.numpy.pad(mode=)", "jax.jit")),
        issue("solve-is-off", own, touches=("diffrax.diffeqsolve", "jax.jit", "control flow")),
    )
    return Knowledge("2026-11-22", cells, issues or every)


def indexed(id: str, *signatures: Signature, cases: tuple[str, ...] = ("case",), **changes: Any) -> IndexedIssue:
    """Return an issue of the index with these signatures of its affected behaviour."""
    signed = tuple(Signed(each, "wrong", cases) for each in signatures)
    return IndexedIssue(**{"id": id, "title": f"{id} does it", "signed": signed, **changes})


def index() -> Index:
    """Return the index of this world: the signature of one case, a timing, and a function."""
    signature = Signature("TypeError", "unhashable type: '…Tracer'")
    loud = IndexedIssue(
        id="wrong-numbers",
        title="wrong-numbers does it",
        packages=("jax",),
        words=frozenset({"wrong", "number"}),
        names=("jax.numpy.pad", "jax.numpy.pad(mode=)", "jax.jit"),
        threads=("jax-ml/jax#1",),
        spans=(("jax", "0.4.30", "0.4.36"),),
        signed=(Signed(signature, "raises", ("loud",)),),
    )
    slow = Timing("loop", "a loop", ("jax#7",), frozenset({"loop", "slow"}), ("jax",), "0.4.36", "0.5.0", "0.7.0", 20.4)
    releases = tuple(f"jax-{release}" for release in RELEASES)
    return Index((loud,), (slow,), releases=releases, packages=frozenset({"jax", "numpy", "diffrax"}))


def stack(**versions: str) -> Stack:
    """Return a stack of these versions."""
    return Stack(versions, "uv.lock")
