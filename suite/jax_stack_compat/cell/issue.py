"""The words an issue module is written in: tables of frozen dataclasses, and nothing that needs the stack.

Cell side and driver side both read these. A module in `jax_stack_compat.issues` imports jax, equinox and diffrax inside
its functions only: so the driver reads its tables without a JAX, and each function can be copied out and run as it is.
Each fact stands once: an issue's id is its module's name, its title and its story are the module's docstring; a case's
id is its reproducer's name, its question the first line of that function's docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from inspect import cleandoc
from typing import Any, Literal, cast

Kind = Literal["silent-wrong", "silent-change", "crash", "import-error", "warning", "retrace", "slow", "by-design"]
# A cause introduced it, a fix is merged, a change is on purpose, docs are published, and an attempt is not merged.
Role = Literal["report", "cause", "fix", "change", "docs", "attempt", "discussion"]
# What a behaviour that a case knows can mean: the judge has more verdicts, for what no case can name.
Meaning = Literal["clear", "affected", "guarded", "documented", "different", "absent"]
Isolation = Literal["fork", "fork-and-exit", "interpreter"]
# What a reproducer saw: the name of one of its case's behaviours, and the evidence in one line.
Seen = tuple[str, str]
# What the usual behaviours mean, where neither a case nor its issue says otherwise.
MEANINGS: Mapping[str, Meaning] = {
    **{"differs": "affected", "agrees": "clear"},
    **{"there": "clear", "warns": "guarded", "gone": "affected"},
    **{"equal": "clear", "unequal": "affected", "in-place": "clear", "copies": "affected"},
    **{"works": "clear", "taken": "clear", "right": "clear", "wrong": "affected", "lost": "affected"},
    # What jax imports and does not declare is missing: the judge gives it.
    "not-installed": "absent",
    **{"absent": "absent", "cannot-solve": "different", "other": "different", "another": "different"},
    **{"other-dtype": "different", "other-value": "different"},
}
# What a signature recognises, by the issue's kind, where nothing else says: a refusal of what was silent, or what
# upstream documents. Of the other kinds it is the symptom.
_RECOGNISED: Mapping[str, Meaning] = {"silent-wrong": "guarded", "silent-change": "guarded", "by-design": "documented"}
# The answers of `compare`: where one of them is expected, the other can be seen.
_COMPARED = frozenset(["differs", "agrees"])


@dataclass(frozen=True)
class Signature:
    """An exception or a warning as data, for the probe to recognise, and for a reader to look a traceback up in.

    `type` is the `__name__` of its own class, not of a base. `message` is a part of its text, where a `…` stands for
    anything. `module` is a module that the traceback goes through, or a package of one.

    `everyday`: ordinary mistakes raise the same, so `explain` asks for more evidence: the place where it was raised,
    or what the issue is known by.
    """

    type: str
    message: str = ""
    module: str = ""
    everyday: bool = False


@dataclass(frozen=True)
class Upstream:
    """A thread, pull request, commit or page: `jax#27829`, `openxla/xla@3f17626f4b`, `jax:faq.html`, or an address.

    Its title and its state stand in threads.json, with the day on which they were looked up. What a short name stands
    for is in `jax_stack_compat.packages`.
    """

    ref: str
    role: Role

    @classmethod
    def of(cls, **refs: str) -> tuple[Upstream, ...]:
        """Return what is named in each role: `Upstream.of(report="jax#27829 jax#27830", docs="jax:faq.html")`."""
        return tuple(cls(ref, cast(Role, role)) for role, each in refs.items() for ref in each.split())


@dataclass(frozen=True)
class Rule:
    """The behaviour that stacks are known to show: a line of a case's table.

    The first rule that matches a stack counts. `on` holds requirements, apart by spaces, that must all be met:
    `"jax>=0.4.36,<0.5 equinox<0.11.4"`; nothing means every stack. `evidence` is what no run can know, such as the pull
    request that changed it: on which releases it was run, the report says.
    """

    behaviour: str
    on: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Elsewhere:
    """A workaround as a function of its inputs, for inputs other than the example's.

    `function` takes JAX arrays, and `reference` returns from the same NumPy arrays what it should return, to the
    tolerances. Each of `inputs` names the arguments of one call, such as "int32 matrix" or "float32 vector, positive
    float32 scalar"; see `jax_stack_compat.cell.elsewhere`. At least three inputs: another dtype, another shape, and
    ordinary values, on which nothing was wrong.
    """

    function: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: tuple[str, ...]
    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True)
class Workaround:
    """A workaround, in words, and how it is run: as code, as environment variables, or as a pin.

    `code` raises if it does not help. Under `environment` (`{"XLA_FLAGS": "--xla_…"}`) the reproducer, or `code` where
    there is some, is run in an interpreter of its own; the reproducer has to show a behaviour that is clear. `pin`
    names requirements: what the case does in the cell that differs from this one by just these packages says whether
    it helps. `fails` holds the stacks, each as in a `Rule`, on which it is known not to.

    `elsewhere` runs the same advice on other inputs. If the advice is no function of arrays (a flag, an import, a mesh,
    an order of calls), it is a second program, which raises if the advice does not help there.
    """

    text: str
    code: Callable[[], None] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    pin: str = ""
    fails: tuple[str, ...] = ()
    elsewhere: Elsewhere | Callable[[], None] | None = None


def no_control() -> None:
    """Stand for a control that the case leaves to its issue."""
    raise NotImplementedError("the case has no control")


@dataclass(frozen=True)
class Case:
    """One variant of an issue.

    `reproducer` returns what it saw; an exception without a signature leaves it unhandled, and is judged
    `different`. `control` is the nearest code that must be right on every release, and raises if it is not.
    `behaviours` maps every name that can be seen to what it means: those that `reproducer` returns, those of
    `signatures` (by exception, or by warning: then it counts before what is returned), and the names `crashed`, `hung`
    and `import-error`, which the probe gives, where that is the documented symptom itself. A behaviour that a rule or a
    signature names may be left out here: the issue then adds it, with the meaning that its kind and `MEANINGS` give.
    Where it adds one of `differs` and `agrees`, it adds both, and also to a case that has no rules yet.

    What a case needs: `needs`, the packages it imports; `x64`; `environment`, variables such as XLA_FLAGS;
    `host_devices`; `cpu`, features as /proc/cpuinfo names them; `python`, a specifier such as ">=3.11". With
    `environment` or `host_devices` it gets an interpreter of its own. Where `cpu` or `python` is not met, it is
    `unavailable`.
    `isolation`: a forked child leaves without the interpreter's farewell; `fork-and-exit` has the reproducer end as a
    program does, so that a crash at exit is seen; `interpreter` gives it one of its own, started afresh.

    `waits_for` names cases, `"stack-smoke/train-and-solve"`, without which this one cannot work. Where one of them goes
    wrong and this one raises what no signature has, it is blocked. What it returns counts.

    `touches` are the functions that code has to use for this case to concern it, where they are not the issue's, with
    what has to be written: `"jax.numpy.round(a, decimals) if decimals >= 38"`. `check --source` reads them; see
    suite/jax_stack_compat/check/source/touched.py.

    `alone` says why a case cannot run beside others: it times something, counts threads, or waits for a limit.
    `pictured`: the picture in the README shows this case.
    """

    reproducer: Callable[[], Seen]
    control: Callable[[], None] = no_control
    behaviours: Mapping[str, Meaning] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    workaround: Workaround | None = None
    signatures: Mapping[str, Signature | tuple[Signature, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ("jax",)
    x64: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    host_devices: int = 1
    cpu: tuple[str, ...] = ()
    python: str = ""
    isolation: Isolation = "fork"
    seconds: float = 120.0
    memory_mib: int = 4096
    touches: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    alone: str = ""
    pictured: bool = False

    @property
    def id(self) -> str:
        """The reproducer's name: `bound-method`."""
        return self.reproducer.__name__.replace("_", "-")

    @property
    def question(self) -> str:
        """The first line of the reproducer's docstring."""
        return cleandoc(self.reproducer.__doc__ or "").partition("\n")[0]


@dataclass(frozen=True)
class Issue:
    """One documented upstream problem, in a module of its own; the first case is the headline.

    `touches` are the functions and keywords that it concerns, as qualified names, and areas: code that names none of
    them is not concerned. `"jax.numpy.pad(constant_values=)"`, `"jax.stages.Wrapped.lower"`, `"control flow"`. What its
    cases touch is added; without either, what the reproducers use. `row_zero`: it asks whether the stack works at all,
    and every other waits for it. `known_by` is a regular expression for what else its tracebacks say, such as the name
    of a function: `explain` takes it for evidence beside an `everyday` signature, and other matches without it for less
    likely. `also` has errors with the same cause that no case raises, by the behaviour that they stand for: `explain`
    finds the issue by them, too.

    The other fields are of each of its cases that leaves them at their defaults; so are `touches` with conditions.
    """

    kind: Kind
    upstream: tuple[Upstream, ...]
    cases: tuple[Case, ...]
    touches: tuple[str, ...] = ()
    row_zero: bool = False
    known_by: str = ""
    also: Mapping[str, Signature] = field(default_factory=dict)
    _: KW_ONLY
    control: Callable[[], None] | None = None
    behaviours: Mapping[str, Meaning] | None = None
    rules: tuple[Rule, ...] | None = None
    workaround: Workaround | None = None
    signatures: Mapping[str, Signature | tuple[Signature, ...]] | None = None
    needs: tuple[str, ...] | None = None
    x64: bool | None = None
    environment: Mapping[str, str] | None = None
    isolation: Isolation | None = None
    seconds: float | None = None
    waits_for: tuple[str, ...] | None = None
    alone: str | None = None

    def __post_init__(self) -> None:
        """Complete the cases. One that is complete stays the same object."""
        shared = {each.name: getattr(self, each.name) for each in fields(self) if each.kw_only}
        if any(" if " in each for each in self.touches):
            # A report names what an issue touches without the conditions, so its cases have them.
            shared["touches"] = self.touches
        object.__setattr__(self, "cases", tuple(_completed(case, self.kind, shared) for case in self.cases))

    @cached_property
    def module(self) -> str:
        """The dotted name of its module."""
        return str(self.cases[0].reproducer.__globals__["__name__"])

    @cached_property
    def id(self) -> str:
        """The module's own name: `wraps-lower-bypass`."""
        return self.module.rpartition(".")[2].replace("_", "-")

    @property
    def title(self) -> str:
        """The first line of the module's docstring."""
        return self._docstring.partition("\n")[0].removesuffix(".")

    @property
    def story(self) -> str:
        """The rest of the module's docstring."""
        return self._docstring.partition("\n")[2].strip()

    @property
    def _docstring(self) -> str:
        return cleandoc(str(self.cases[0].reproducer.__globals__["__doc__"] or ""))


def _completed(case: Case, kind: Kind, shared: Mapping[str, Any]) -> Case:
    """Return a case with what it leaves to its issue, to the kind of that and to `MEANINGS`."""
    own, bare = vars(case), vars(Case(case.reproducer))
    left = {name: value for name, value in shared.items() if value is not None and own[name] == bare[name]}
    if left:
        case = replace(case, **left)
    ruled = {rule.behaviour for rule in case.rules}
    named = {*ruled, *case.signatures}
    is_compared = not case.rules or bool(named & _COMPARED)
    if is_compared and not case.behaviours.keys() & _COMPARED:
        named |= _COMPARED
    means = {**dict.fromkeys(case.signatures, _RECOGNISED.get(kind, "affected")), **MEANINGS}
    if kind == "by-design":
        means["differs"] = "documented"
    elif kind in ("crash", "import-error") and "differs" not in ruled:
        # Where it does not crash, another answer is not the documented symptom.
        means["differs"] = "different"
    missing = {name: meaning for name, meaning in means.items() if name in named - case.behaviours.keys()}
    return replace(case, behaviours={**missing, **case.behaviours}) if missing else case
