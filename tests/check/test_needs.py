"""Releases that a source tree works with, compared with its project's declaration."""

import json
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from tests.check.conftest import Said

QR = "import jax\n\ndef qr(a, t, c):\n    return jax.lax.linalg.ormqr(a, t, c)\n"
OLD = "import jax\n\ndef f(x):\n    return jax.tree_map(abs, x)\n"


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
    assert {"packages": [told]} == json.loads(out)
    assert 1 == code


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("github", "::error file=src/old.py,line=4,title=needs::jax.tree_map, gone since 0.6.0"),
        (
            "markdown",
            "| jax | >=0.10.0 | `>=0.4.20` | `jax.lax.linalg.ormqr`, not before 0.10.0: `src/qr.py:4`<br>to fix: ",
        ),
    ],
)
def test_other_formats_say_the_same(needs: Said, format: str, line: str) -> None:
    """Formats include annotations for a workflow and a table for a comment."""
    _, out = needs(project("jax>=0.4.20"), format, qr=QR, old=OLD)
    assert any(each.startswith(line) for each in out.splitlines())


def test_a_tree_without_the_stack_is_told(needs: Said) -> None:
    """Code that does not name the stack needs nothing."""
    code, out = needs(project("jax"), a="import numpy\n")
    assert "in 1 file." in out
    assert 0 == code
