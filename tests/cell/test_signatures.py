"""The parts of an issue: fields, meanings, signatures, the oracle, and what a case requires of a machine."""

import json
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, compare, machine
from jax_stack_compat.cell.issue import Kind, Meaning, Seen
from jax_stack_compat.cell.signatures import Signatures, about_warnings, contains, match
from laboratory.cell.corpus import well

PIECES = st.lists(st.text(alphabet="ab\n.*", max_size=4), min_size=1, max_size=5)


def raised() -> ValueError:
    """An exception from inside of json."""
    with pytest.raises(ValueError, match="line 1") as caught:
        json.loads("{]")
    return caught.value


@given(pieces=PIECES, between=PIECES)
def test_an_ellipsis_stands_for_anything(pieces: list[str], between: list[str]) -> None:
    """A message matches a text that has its pieces in order, whatever is before, between and after them."""
    filled = "".join(f"{some}{piece}" for piece, some in zip(pieces, between * len(pieces), strict=False))

    assert contains(f"{filled}{between[0]}", "…".join(pieces))


@given(words=st.text(alphabet="ab.*\n"), message=st.text(alphabet="ab.*\n"))
def test_all_else_stands_for_itself(words: str, message: str) -> None:
    """Without an ellipsis, a message matches only texts that contain it literally."""
    assert (message in words) == contains(words, message)


@given(pieces=PIECES)
def test_pieces_are_not_found_twice(pieces: list[str]) -> None:
    """One occurrence of a piece does not match two pieces."""
    assert not contains("".join(pieces), "…".join([*pieces, "c"]))
    assert not contains("c".join(pieces), "c".join(["", *pieces, ""]))


@pytest.mark.parametrize(
    ("signature", "is_it"),
    [
        (Signature("JSONDecodeError"), True),
        (Signature("ValueError"), False),
        (Signature("json.decoder.JSONDecodeError"), False),
        (Signature("JSONDecodeError", "double quotes…line 1"), True),
        (Signature("JSONDecodeError", "line 1…double quotes"), False),
        *((Signature("JSONDecodeError", module=module), True) for module in ("json", "json.decoder")),
        *((Signature("JSONDecodeError", module=module), False) for module in ("js", "decoder", "json.encoder")),
    ],
)
def test_a_signature_is_matched_whole(signature: Signature, is_it: bool) -> None:
    """The class's name, a part of the message, and a module in the traceback or its package must all match."""
    assert ("known" if is_it else None) == match(raised(), {"known": signature})


def test_the_first_match_counts() -> None:
    """If several signatures match an exception, the first in the table counts."""
    table: Signatures = {"other": Signature("KeyError"), "one": (Signature("OSError"), Signature("JSONDecodeError"))}

    assert "one" == match(raised(), {**table, "two": Signature("JSONDecodeError")})


def test_a_warning_is_of_the_modules_it_came_through() -> None:
    """A warning has no traceback, so the modules that it came through are recorded."""
    table = {"known": Signature("FutureWarning", module="jax._src")}
    warning = FutureWarning("soon")

    assert (None, "known") == (match(warning, table, ["jax"]), match(warning, table, ["__main__", "jax._src.core"]))


def test_only_a_warning_is_waited_for() -> None:
    """Warnings are recorded if a signature's type is a warning."""
    assert not about_warnings({"a": Signature("ValueError", "Warning")})
    assert about_warnings({"a": Signature("ValueError"), "b": (Signature("KeyError"), Signature("FutureWarning"))})


def one() -> Seen:
    """Is it one?"""
    return "agrees", "1"


def two() -> Seen:
    """Is it two?"""
    return "agrees", "2"


def test_a_case_keeps_its_own_fields() -> None:
    """An issue's common fields go only to cases that leave them at their defaults."""
    shared, own = (Rule("agrees", "", "shared"),), (Rule("differs", "", "own"),)
    cases = Case(one), Case(two, rules=own, needs=("jaxlib",))

    first, second = Issue("crash", (), cases, control=well, rules=shared, needs=("jax", "equinox")).cases

    assert (well, shared, ("jax", "equinox")) == (first.control, first.rules, first.needs)
    assert (well, own, ("jaxlib",)) == (second.control, second.rules, second.needs)


@pytest.mark.parametrize(
    ("kind", "behaviours", "rules", "signature", "wanted"),
    [
        ("retrace", {}, ["agrees"], "", {"agrees": "clear", "differs": "affected"}),
        ("retrace", {"differs": "different"}, ["agrees"], "", {"agrees": "clear", "differs": "different"}),
        ("retrace", {"agrees": "documented"}, ["agrees"], "", {"agrees": "documented"}),
        ("retrace", {}, ["there"], "gone", {"there": "clear", "gone": "affected"}),
        ("retrace", {"stale": "affected"}, ["stale"], "warns", {"stale": "affected", "warns": "guarded"}),
        ("retrace", {}, ["stale"], "", {}),
        # In an issue about crashes, a result that differs is a symptom only if a rule expects it.
        ("crash", {}, ["differs", "agrees"], "", {"agrees": "clear", "differs": "affected"}),
        # A signature recognises a new error for a silent fault, a documented behaviour, or the symptom itself.
        *(
            (kind, {}, ["agrees"], "refused", {"refused": refused, "agrees": "clear", "differs": differs})
            for kind, refused, differs in (
                ("silent-wrong", "guarded", "affected"),
                ("silent-change", "guarded", "affected"),
                ("by-design", "documented", "documented"),
                ("crash", "affected", "different"),
                ("import-error", "affected", "different"),
                ("retrace", "affected", "affected"),
            )
        ),
    ],
)
def test_usual_behaviours_have_a_usual_meaning(
    kind: Kind, behaviours: Mapping[str, Meaning], rules: list[str], signature: str, wanted: Mapping[str, Meaning]
) -> None:
    """Behaviours that rules and signatures name get a meaning by the kind of issue; the case can set another."""
    signatures = {signature: Signature("TypeError")} if signature else {}
    case = Case(one, well, behaviours, tuple(Rule(rule, "", "seen") for rule in rules), signatures=signatures)

    assert wanted == Issue(kind, (), (case,)).cases[0].behaviours


def test_upstream_is_named_by_role() -> None:
    """Each role names threads, commits and pages, separated by spaces, in the given order."""
    named = Upstream.of(report="jax-ml/jax#2 jax-ml/jax#1", fix="jax-ml/jax@aa2f995b1d")

    assert [("jax-ml/jax#2", "report"), ("jax-ml/jax#1", "report"), ("jax-ml/jax@aa2f995b1d", "fix")] == [
        (each.ref, each.role) for each in named
    ]


NUMBERS = st.floats() | st.integers(-(2**62), 2**62) | st.booleans()


@given(values=st.lists(NUMBERS))
def test_what_is_the_same_agrees(values: list[float]) -> None:
    """Anything agrees with itself, without tolerances, not-a-numbers and infinities included."""
    assert "agrees" == compare(np.array(values), np.array(values))[0]


@given(wanted=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), off=st.floats(1e-3, 1e3), data=st.data())
def test_one_value_that_is_off_is_enough(wanted: list[float], off: float, data: st.DataObject) -> None:
    """Arrays differ if a single value is off by more than the tolerance, and else agree."""
    at = data.draw(st.integers(0, len(wanted) - 1))
    got = np.array(wanted)
    got[at] += off

    assert ("differs", "agrees") == (compare(got, wanted, atol=off / 2)[0], compare(got, wanted, atol=off * 2)[0])


@pytest.mark.parametrize(
    ("got", "wanted", "evidence"),
    [
        ([1.0, 2.0], [1.0, 2.5], "[1. 2.], should be [1. 2.5]"),
        (1.0, [1.0], "shape (), should be (1,)"),
        (3.0000000001, 3.0, "3.0000000001, should be 3."),
        (2**53 + 1, 2**53, "9007199254740993, should be 9007199254740992"),
        (np.nan, 1.0, "nan, should be 1."),
        (np.zeros((4, 5)), np.eye(4, 5) * [1, 2, 3, 4, 5], "4 of 20 differ, most at [3, 3]: 0., should be 4."),
        ([*range(9), np.inf], range(10), "1 of 10 differ, most at [9]: inf, should be 9"),
    ],
)
def test_the_evidence_shows_what_differs(got: object, wanted: object, evidence: str) -> None:
    """Small arrays are shown whole; for large ones, the values that differ most, with enough digits."""
    assert ("differs", evidence) == compare(got, wanted)


VERSIONS = st.tuples(st.just(3), st.integers(9, 15), st.integers(0, 3))
CLAUSES = st.builds(
    lambda sign, version, length: sign + ".".join(map(str, version[:length])),
    st.sampled_from([">=", "<=", ">", "<", "==", "!="]),
    VERSIONS,
    st.integers(1, 3),
) | st.builds(lambda sign, minor: f"{sign}3.{minor}.*", st.sampled_from(["==", "!="]), st.integers(9, 15))


@given(clauses=st.lists(CLAUSES, max_size=3), version=VERSIONS)
def test_a_range_of_pythons_is_read_as_packaging_reads_it(clauses: list[str], version: tuple[int, int, int]) -> None:
    """The code in cells cannot use packaging, but agrees with it on every specifier that it can read."""
    specifier = ", ".join(clauses)

    expected = SpecifierSet(specifier).contains(".".join(map(str, version)))

    assert expected == machine.python_is(specifier, version)


@pytest.mark.parametrize("specifier", ["3.11", "~=3.11", ">=three", ">=3.11 <3.13"])
def test_what_is_no_range_of_pythons_is_refused(specifier: str) -> None:
    """An unreadable specifier does not count as met."""
    with pytest.raises(ValueError):  # noqa: PT011
        machine.python_is(specifier, (3, 12, 0))


@given(needed=st.sets(st.sampled_from("abc")), there=st.sets(st.sampled_from("abc")))
def test_a_cpu_lacks_what_it_has_not(needed: set[str], there: set[str]) -> None:
    """A CPU lacks nothing only if it has all needed features; if its features are unknown, it lacks all of them."""
    assert (needed <= there) == (machine.cpu_lacks(needed, there) is None)
    assert (not needed) == (machine.cpu_lacks(needed, None) is None)


def test_a_record_has_the_vector_features() -> None:
    """A record has the CPU features, as Linux names them, that change how numbers are computed."""
    there = machine.cpu_features() or frozenset()
    recorded = machine.describe([])["cpu_features"]

    assert sorted(recorded) == recorded
    assert there & {"avx", "avx2", "fma", "f16c", "sse2", "asimd", "sve"} <= set(recorded) <= there
    assert not {"fpu", "msr", "smep", "hypervisor"} & set(recorded)
