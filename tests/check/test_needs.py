"""Releases that a source tree works with, compared with its project's declaration."""

import json
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from tests.check.conftest import Said

QR = "import jax\n\ndef qr(a, t, c):\n    return jax.lax.linalg.ormqr(a, t, c)\n"
OLD = "import jax\n\ndef f(x):\n    return jax.tree_map(abs, x)\n"
MESH = 'import jax\n\nmesh = jax.make_mesh(axis_shapes=(2, 2), axis_names=("x", "y"))\n'
SAMPLE = "import jax\n\n\ndef sample(seed, prob, shape):\n    return jax.random.bernoulli(seed, prob, -1, shape)\n"
AWAY = "import jax.interpreters.partial_eval as pe\n\n\ndef f(jaxpr):\n    return pe.convert_constvars_jaxpr(jaxpr)\n"


@pytest.fixture
def needs(tmp_path: Path, said: Said) -> Said:
    """Run `needs` for a project with this declaration and these modules."""

    def run(declared: str | None, format: str = "text", **modules: str) -> tuple[Exit, str]:
        (tmp_path / "src").mkdir()
        (tmp_path / ".git").mkdir()
        for name, code in modules.items():
            (tmp_path / "src" / f"{name}.py").write_text(code)
        if declared is not None:
            (tmp_path / "pyproject.toml").write_text(declared)
        return said("needs", "--source", str(tmp_path / "src"), "--format", format)

    return run


def project(*dependencies: str, more: str = "") -> str:
    """Return a pyproject.toml with these dependencies."""
    return f"[project]\nname = 'p'\nversion = '1'\ndependencies = {list(dependencies)}\n{more}"


def test_a_floor_is_told_with_its_reason(needs: Said) -> None:
    """A name's first release is the floor; a lower bound that admits an older one is too low."""
    code, out = needs(project("jax>=0.4.35"), qr=QR)
    assert "jax >=0.10.0  jax.lax.linalg.ormqr, not before 0.10.0: src/qr.py:4" in out
    assert "pyproject.toml declares jax>=0.4.35: too low (needs 0.10.0)" in out
    assert 1 == code


def test_a_removed_name_is_a_line_to_fix_and_no_bound(needs: Said) -> None:
    """A replacement must exist on the oldest declared release: jax.tree.map came with 0.4.25."""
    code, out = needs(project("jax>=0.4.20"), old=OLD)
    told = "to fix  src/old.py:4  jax.tree_map, gone since 0.6.0; jax.tree_util.tree_map exists on 0.4.18 (or older)"
    assert told in out
    assert ("<" in out, 1) == (False, code)


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        (project("jax>=0.10"), 0),
        (project("jax>=0.10", more="[dependency-groups]\ntest = ['jax==0.4.30']"), 0),
        (project(more="optional-dependencies = {old = ['jax>=0.4.30'], new = ['jax>=0.10']}"), 1),
        (project("numpy"), 0),
        ("[project]\nname = 'p'\nversion = '1'\ndynamic = ['dependencies']", 0),
        ("[tool.x]", 0),
        (None, 0),
    ],
)
def test_what_is_declared_decides(needs: Said, declared: str | None, code: int) -> None:
    """Dependencies count before extras; an undeclared package is not compared."""
    found, out = needs(declared, qr=QR)
    assert code == found
    assert ("not compared" in out or "nothing was compared" in out) == (declared is None or ">=0.10" not in declared)


def test_a_guarded_name_needs_nothing(needs: Said) -> None:
    """Guarded code does not raise the floor."""
    new, old = "if hasattr(jax, 'shard_map'):\n    jax.shard_map", "if jax.__version_info__ < (0, 6):\n    jax.tree_map"
    code, out = needs(project("jax>=0.4.20"), guarded=f"import jax\n{new}\n{old}\n")
    assert out.startswith("jax   any from 0.4.18 on\n")
    assert 0 == code


def test_json_has_its_contract(needs: Said) -> None:
    """JSON lists packages with need, declaration, reasons and lines to fix."""
    code, out = needs(project("jax>=0.4.20"), "json", qr=QR, old=OLD)
    reason = {"name": "jax.lax.linalg.ormqr", "path": "src/qr.py", "line": 4, "since": "0.10.0"}
    fix = {"name": "jax.tree_map", "path": "src/old.py", "line": 4, "until": "0.5.3"}
    fix["replacement"] = "jax.tree_util.tree_map"
    told = {"package": "jax", "needs": ">=0.10.0", "declared": ">=0.4.20", "reasons": [reason], "to_fix": [fix]}
    read = {"files": 2, "unread": [], "skipped": []}
    assert {"exit": 1, "unsure": [], "read": read, "packages": [told], "at_most": []} == json.loads(out)
    assert 1 == code


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("github", "::error file=src/old.py,line=4,title=needs::jax.tree_map, gone since 0.6.0"),
        (
            "markdown",
            "| jax | `>=0.10.0` | `>=0.4.20` | `jax.lax.linalg.ormqr`, not before 0.10.0: `src/qr.py:4`<br>to fix: ",
        ),
    ],
)
def test_other_formats_say_the_same(needs: Said, format: str, line: str) -> None:
    """Formats include annotations for a workflow and a table for a comment."""
    _, out = needs(project("jax>=0.4.20"), format, qr=QR, old=OLD)
    assert any(each.startswith(line) for each in out.splitlines())


def test_a_line_to_fix_has_the_floor_of_its_name(needs: Said) -> None:
    """The floor is the name's first release if only the arguments fail on the newest; the arguments are to fix."""
    code, out = needs(project("jax>=0.4.20"), mesh=MESH)
    assert "jax >=0.4.33  jax.make_mesh, not before 0.4.33: src/mesh.py:3" in out
    assert "to fix  src/mesh.py:3  jax.make_mesh(axis_shapes=), gone since 0.11.1" in out
    assert "too low (needs 0.4.33); 1 to fix" in out
    assert 1 == code


@pytest.mark.parametrize(
    "call",
    [
        "random.bernoulli(seed, prob, -1, shape)",
        "random.bernoulli(seed, prob, (2, -1), 'high')",
        "random.bernoulli(seed, prob, shape, 3)",
        # Its signature is not known since 0.4.36.
        "tree_util.DictKey(seed, prob)",
    ],
)
def test_a_call_that_no_release_takes_is_no_floor(needs: Said, call: str) -> None:
    """If a release refuses the number of arguments, a later one must be known to take the call."""
    code, out = needs(project("jax>=0.4.20"), sample=SAMPLE.replace("random.bernoulli(seed, prob, -1, shape)", call))
    assert out.startswith("jax   any from 0.4.18 on once these are fixed\n  to fix  src/sample.py:5  jax.")
    assert "(…), which no release is known to take, from 0.4.18 to " in out
    assert ("0.6.1" in out, 1) == (False, code)


@pytest.mark.parametrize(
    "call", ["(seed, prob, shape, 'high')", "(seed, prob, (2,), mode)", "(seed, prob, *shape, mode=mode)"]
)
def test_a_call_that_fits_later_is_a_floor(needs: Said, call: str) -> None:
    """Arguments that are words, or not seen, do not speak against a release with a fitting signature."""
    _, out = needs(None, sample=SAMPLE.replace("(seed, prob, -1, shape)", call))
    assert out.startswith("jax >=0.6.1  jax.random.bernoulli(")


def test_a_name_that_was_away_has_two_spans(needs: Said) -> None:
    """A name that was away and came back needs the releases before or after; a range with the others fails."""
    code, out = needs(project("jax>=0.4.35"), away=AWAY)
    name = "jax.interpreters.partial_eval.convert_constvars_jaxpr"
    assert f"jax <0.9.0 or >=0.11.1  {name}, not from 0.9.0 to 0.11.0: src/away.py:5\n" in out
    assert "pyproject.toml declares jax>=0.4.35: it admits 0.11.0, on which 1 line fails" in out
    assert 1 == code


@pytest.mark.parametrize(
    ("declared", "told"), [("jax>=0.11.1", ""), ("jax<0.9", ""), ("jax>=0.10", "too low (needs <0.9.0 or >=0.11.1)")]
)
def test_a_declaration_within_one_span_is_enough(needs: Said, declared: str, told: str) -> None:
    """A project may declare the releases before the gap, or those after it."""
    code, out = needs(project(declared), away=AWAY)
    assert (told in out, bool(told)) == (True, bool(code))


def test_spans_of_several_names_are_combined(needs: Said) -> None:
    """The floor of one name begins the first span of another; a floor above the gap leaves one span."""
    _, out = needs(None, away=AWAY, mesh=MESH.replace("axis_shapes=", ""))
    first, second, *_ = out.splitlines()
    assert first.startswith("jax >=0.4.33,<0.9.0 or >=0.11.1  ")
    assert "not from 0.9.0 to 0.11.0: src/away.py:5" in first
    assert second.strip() == "jax.make_mesh, not before 0.4.33: src/mesh.py:3"


def test_a_floor_above_a_gap_is_the_need(needs: Said) -> None:
    """A gap below the floor of another name is not told."""
    _, out = needs(None, away=AWAY, new="import jax\njax.lax.empty(())\njax.get_mesh()\n")
    assert out.startswith("jax >=0.11.1  ")


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("github", "convert_constvars_jaxpr needs jax <0.9.0 or >=0.11.1; declared is >=0.4.35"),
        ("markdown", "| jax | `<0.9.0 or >=0.11.1` | `>=0.4.35` | "),
        ("markdown", "convert_constvars_jaxpr`, not from 0.9.0 to 0.11.0: `src/away.py:5` |"),
    ],
)
def test_other_formats_say_both_spans(needs: Said, format: str, line: str) -> None:
    """Annotations and tables have both spans of a name that was away."""
    _, out = needs(project("jax>=0.4.35"), format, away=AWAY)
    assert line in out


def test_json_has_the_spans_before(needs: Said) -> None:
    """In JSON, `needs` has both spans, and a reason has the spans before its last."""
    _, out = needs(project("jax>=0.4.35"), "json", away=AWAY)
    [told] = json.loads(out)["packages"]
    [reason] = told["reasons"]
    assert "<0.9.0 or >=0.11.1" == told["needs"]
    assert ("0.11.1", [["0.4.18", "0.8.3"]]) == (reason["since"], reason["before"])


def test_a_tree_without_the_stack_is_told(needs: Said) -> None:
    """Code that does not name the stack needs nothing."""
    code, out = needs(project("jax"), a="import numpy\n")
    assert "in 1 file." in out
    assert 0 == code


BROKEN = "import jax\nx = (\n"


@pytest.mark.parametrize("format", ["text", "json", "markdown", "github"])
@pytest.mark.parametrize("declared", [None, project("jax>=0.4.30")])
@pytest.mark.parametrize(
    ("modules", "told"),
    [
        ({}, "No Python was found there."),
        ({"broken": BROKEN}, "Could not read these files, which mention the stack: src/broken.py (line 2: "),
        ({"broken": BROKEN, "good": "import jax\n"}, "Could not read these files, which mention the stack: src/broken"),
    ],
    ids=["nothing", "unreadable", "one of two"],
)
def test_what_was_not_read_is_never_clean(
    needs: Said, declared: str | None, format: str, modules: dict[str, str], told: str
) -> None:
    """A source without Python, or with an unreadable file that mentions the stack, is undecided in every format."""
    code, out = needs(declared, format, **modules)
    assert Exit.UNDECIDED == code
    assert told in out


def test_what_fails_is_told_beside_what_was_not_read(needs: Said) -> None:
    """A line that fails on a declared release ends with 1, and the unreadable file is told all the same."""
    code, out = needs(project("jax>=0.4.35"), qr=QR, broken=BROKEN)
    assert Exit.UNEXPECTED == code
    assert out.startswith("Could not read these files")
    assert "too low (needs 0.10.0)" in out


def test_an_unreadable_file_without_the_stack_is_no_doubt(needs: Said) -> None:
    """A file that does not mention the stack needs nothing of it, readable or not."""
    code, out = needs(None, other="x = (\n", good="import jax\n")
    assert (Exit.AS_EXPECTED, False) == (code, "ould not read" in out)


@pytest.mark.parametrize(
    ("call", "fixes"),
    [
        (
            "tree_map(1)",
            ["jax.tree_map(…), which no release is known to take, from ", "jax.tree_map, gone since 0.6.0; "],
        ),
        ("tree.map(1)", ["jax.tree.map(…), which no release is known to take, from "]),
        ("tree_map(abs, 1)", ["jax.tree_map, gone since 0.6.0; "]),
        ("no_such_name(1)", ["jax.no_such_name, which no release has, from "]),
    ],
)
def test_a_missing_argument_is_no_missing_name(needs: Said, call: str, fixes: list[str]) -> None:
    """If no release takes a call, its arguments are to fix; its name only if that is gone, too."""
    _, out = needs(None, a=f"import jax\n\n\ndef f():\n    jax.{call}\n")
    told = [line.partition("src/a.py:5")[2].strip() for line in out.splitlines() if "src/a.py:5  " in line]
    assert len(fixes) == len(told)
    assert all(line.startswith(fix) for line, fix in zip(told, fixes, strict=True))
