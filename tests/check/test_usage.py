"""Names of the stack that a source uses, resolved through scopes and modules, with their arguments."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.cell import guard
from jax_stack_compat.check.output.limits import project_file
from jax_stack_compat.check.source import tree as reading
from jax_stack_compat.check.source.conditions import is_dead
from jax_stack_compat.check.source.sources import MAX_BYTES
from jax_stack_compat.check.source.touched import meets, touch, touched
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.check.source.uses import Usage
from tests.processes import default_signals, python, within
from tests.state import eventually

PAD, CONSTANT = "jax.numpy.pad", "jax.numpy.pad(constant_values=)"
STATIC = "jax.jit(static_argnums=)"


def tree(tmp_path: Path, modules: Mapping[str, str]) -> Usage:
    """Return the uses in a tree of these modules."""
    for name, code in modules.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(code), encoding="utf-8")
    return usage(tmp_path)


def told(found: Usage, *wanted: str) -> list[tuple[str, str, int, int]]:
    """Return the places of the wanted uses."""
    return [
        (name, *use.place.at)
        for use in found.uses
        if not is_dead(use.guards, {"jax": "0.12.0.1"})
        for name in wanted
        if touched(use, [touch(name).name]) and meets(touch(name), use, ()) is not False
    ]


def places(tmp_path: Path, code: str, *wanted: str) -> list[tuple[str, int, int]]:
    """Return the places of the wanted uses in a tree of one file."""
    return [(name, line, column) for name, _, line, column in told(tree(tmp_path, {"a": code}), *wanted)]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (PAD, "import jax\njax.numpy.pad(x, 1)"),
        (PAD, "import jax.numpy as jnp\njnp.pad(x, 1)"),
        (PAD, "import jax as j\nj.numpy.pad(x, 1)"),
        (PAD, "from jax import numpy as jnp\njnp.pad(x, 1)"),
        (PAD, "from jax.numpy import pad\npad(x, 1)"),
        (PAD, "from jax.numpy import pad as p\np(x, 1)"),
        (PAD, "from jax.numpy import *\npad(x, 1)"),
        (PAD, "from jax import *\nnumpy.pad(x, 1)"),
        (PAD, "import jax.numpy as jnp\n(jnp  # here\n .pad)(x, 1)"),
        # A call, a decorator and a partial of a function give it a keyword.
        (STATIC, "import jax\njax.jit(f, static_argnums=0)"),
        (STATIC, "from jax import jit\n@jit(static_argnums=0)\ndef f(x): ..."),
        (STATIC, "import functools, jax\n@functools.partial(jax.jit, static_argnums=0)\ndef f(x): ..."),
        (STATIC, "from functools import partial as p\nimport jax\n@p(jax.jit, static_argnums=0)\ndef f(x): ..."),
        (STATIC, "import jax\njit = jax.jit\njit(f, static_argnums=0)"),
        (STATIC, "import jax\njax.tree_util.Partial(jax.jit, static_argnums=0)"),
        # Modules, classes and functions are found by any use of them.
        ("jax.random", "from jax import random as jr\njr.split(k)"),
        ("jax.random", "from jax.random import split\nsplit(k)"),
        ("equinox.nn.MLP", "import equinox as eqx\neqx.nn.MLP(1, 1, 1, 1, key=k)"),
        ("jax.memory.Space.Device", "from jax.memory import Space\nSpace.Device"),
    ],
)
def test_a_use_is_found_once(tmp_path: Path, wanted: str, code: str) -> None:
    """A use is found, whatever the spelling of the import and the call."""
    assert [wanted] == [name for name, *_ in places(tmp_path, code, wanted)]


def test_a_use_is_told_with_its_line_and_column(tmp_path: Path) -> None:
    """Lines and columns start at 1, and removed text before a use does not change them."""
    code = """
        import jax.numpy as jnp

        # a remark
        def unconcerned(x):
            return [each for each in x]

        class A:
            '''jnp.pad, in words.'''

            def f(self, x):
                y = unconcerned(x)
                # one more

                return 1 + jnp.pad(
                    x, 1,
                    constant_values=2)
    """
    assert [(PAD, 15, 20), (CONSTANT, 15, 20)] == places(tmp_path, code, PAD, CONSTANT)


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nnp.pad(x, 1)",
        "import jax\nclass A:\n    def f(self):\n        self.pad(jax.devices())",
        "import jax\njax.numpy.padding(x)\njax.pad(x)",
        "import jax\ndef f(jax):\n    return jax.numpy.pad(1)",
        "import jax.numpy as jnp\nf = lambda jnp: jnp.pad(1)",
        "import jax.numpy as jnp\ndef f(x):\n    jnp = x\n    return jnp.pad(1)",
        "import jax.numpy as jnp\ndef f(x):\n    for jnp in x:\n        jnp.pad(1)",
        "import jax.numpy as jnp\n[jnp.pad(1) for jnp in x]",
        "def f():\n    import jax\ndef g():\n    jax.numpy.pad(1)",
        "class A:\n    from jax.numpy import pad\n    def f(self):\n        pad(1)\nA.pad",
        "from .jax.numpy import pad\npad(1)",
        "from . import jax\njax.numpy.pad(1)",
        "from jax.numpy import *\ndef f(pad):\n    pad(1)",
        "import jax\n'jax.numpy.pad'\n# jax.numpy.pad(x)\nf'jax.numpy.pad'",
        "import jax\ndef f(x: 'jax.numpy.pad'): ...",
        "import jax\nf(jax).numpy.pad(x)",
        # A keyword belongs to the function that receives it.
        "import jax\ng(jax.jit, static_argnums=0)",
        "import jax\njax.jit(f)(static_argnums=0)",
        "import jax\njax.jit(g(static_argnums=0))",
        "import jax\nfrom functools import partial\npartial(g, jax.jit, static_argnums=0)",
    ],
)
def test_what_only_has_the_same_name_is_no_use(tmp_path: Path, code: str) -> None:
    """Methods, other packages, shadowed names, words in strings and other functions' keywords are not uses."""
    assert [] == places(tmp_path, code, PAD, STATIC)


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import jax\nvmap = jax.vmap\nvmap(f)", [2, 3]),
        ("import jax\nv: object = jax.vmap\nw = v\nw(f)", [2, 3, 4]),
        ("import jax\nj = jax\nk = j\nk.vmap(f)", [4]),
        ("import jax\ndef g():\n    v = jax.vmap\n    return v(f)\nv(f)", [3, 4]),
        ("def g():\n    import jax\n    def h():\n        return jax.vmap(f)\n    return h", [4]),
        ("import jax\n@jax.vmap\ndef f(x):\n    return x", [2]),
        ("import jax\njax = jax\njax.vmap(f)", [3]),
        ("import jax\nif x:\n    a()\nelif jax.vmap:\n    b()\nelse:\n    c()", [4]),
        ("import jax\nmatch x:\n    case 1:\n        jax.vmap(f)\n    case _:\n        g()", [4]),
        ("from jax import vmap", []),
        ("from jax import jit, vmap\n__all__ = ['vmap']", []),
        ("import jax\ndef f(x=jax.vmap): ...", [2]),
        ("import jax\nx = 1; y = '''\n'''; z = jax.vmap", [3]),
        ("import jax\nx = jax.vmap \\\n\n# and\ny = jax.vmap", [2, 5]),
    ],
)
def test_names_are_followed_through_scopes_and_assignments(tmp_path: Path, code: str, lines: list[int]) -> None:
    """An alias counts where it is defined and where it is used; an import alone is not a use."""
    assert lines == [line for _, line, _ in places(tmp_path, code, "jax.vmap")]


@pytest.mark.parametrize(
    "user",
    [
        "from p.compat import jnp\njnp.pad(x)",
        "from .compat import jnp as j\nj.pad(x)",
        "from . import compat\ncompat.jnp.pad(x)",
        "import p.compat\np.compat.jnp.pad(x)",
        "from .compat import *\njnp.pad(x)",
        "from .again import np2\nnp2.pad(x)",
        "from . import np3\nnp3.pad(x)",
    ],
)
def test_names_are_followed_through_the_project(tmp_path: Path, user: str) -> None:
    """Names that a module imports from the stack stay the stack's through further imports."""
    modules = {
        "p/__init__": "from .again import np2 as np3",
        "p/compat": "import jax.numpy as jnp",
        "p/again": "from .compat import jnp as np2",
        "p/user": user,
    }
    found = tree(tmp_path, modules)
    assert ["p/user.py"] == [path for _, path, *_ in told(found, PAD)]


@pytest.mark.parametrize(
    "modules",
    [
        {"a": "from b import x\nx.pad()", "b": "from a import x"},
        {"a": "from b import x\nx.pad()", "b": "import a\nx = a.x.y"},
        {"p/a": "from .. import jax\njax.numpy.pad(1)", "jax": "numpy = 1"},
        {"p/a": "from .b import jnp\njnp.pad(1)", "p/b": "import jax.numpy as jnp\ndef f(): ...\njnp = f()"},
    ],
)
def test_what_leads_nowhere_is_nothing(tmp_path: Path, modules: dict[str, str]) -> None:
    """Import cycles, and names with bindings that are not followed, yield nothing."""
    assert [] == told(tree(tmp_path, modules), PAD)


@pytest.mark.parametrize(
    ("code", "ignored"),
    [
        ("jax.vmap(f)  # compat: ignore", {"*"}),
        ("jax.vmap(f)  # noqa  #compat:ignore[one, two-three]", {"one", "two-three"}),
        ("x = g(  # compat: ignore[one]\n    jax.vmap(f),  # compat: ignore[two]\n)", {"one", "two"}),
        ("# compat: ignore\njax.vmap(f)", set()),
        ("jax.vmap(f)  # compat: ignore[]", set()),
        ("@jax.vmap  # compat: ignore[one]\ndef f(x): ...", {"one"}),
        ("with jax.vmap(f):  # compat: ignore[one]\n    pass", {"one"}),
    ],
)
def test_a_comment_says_which_issues_to_ignore(tmp_path: Path, code: str, ignored: set[str]) -> None:
    """A comment ignores issues on the line of the use, or on the first line of its statement."""
    found = tree(tmp_path, {"a": f"import jax\n{code}"}).uses
    assert [ignored] == [set(each.place.ignored) for each in found if touched(each, ["jax.vmap"])]


def test_the_cells_of_a_notebook_share_their_names(tmp_path: Path) -> None:
    """A use in a notebook has its cell and line, past magics, other languages and invalid cells."""
    sources = [
        "%load_ext x\nimport jax.numpy as jnp",
        ["%%bash\n", "jnp.pad("],
        ["x = 1\n", "!ls jnp.pad\n", "if x:\n", "    %timeit jnp.pad\n", "y = !ls\n", "jnp.pad(x, 1)"],
        "y = (3\n%2)\njnp.pad",
        "def (",
        "%%time\njnp.pad(x, 1)",
    ]
    cells = [
        {"cell_type": "markdown", "source": "jnp.pad"},
        *({"cell_type": "code", "source": each} for each in sources),
    ]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    found = usage(tmp_path)
    assert [("n.ipynb#cell4", 6), ("n.ipynb#cell5", 3), ("n.ipynb#cell7", 2)] == [
        (path, line) for _, path, line, _ in told(found, PAD)
    ]
    assert ["n.ipynb#cell6"] == [each.path for each in found.unread]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.py", b"import jax.numpy\nx = \xff", "decoded"),
        ("a.py", b"# coding: nonsense\n", "decoded"),
        ("a.py", b"# coding: rot13\n", "decoded"),
        ("a.py", b"import jax\njax.numpy.pad(\n", "line 2"),
        ("a.py", b"import jax\njax.numpy.pad(\0)\n", "null bytes"),
        ("a.py", b"jax.numpy.pad" + b"(" * 3000 + b")" * 3000, "too many nested"),
        ("a.py", b"import jax\nx = jax.numpy.pad" + b"+1" * 500, "nested too deep"),
        ("a.py", b"import jax\nx = jax.numpy.pad" + b"-" * 100_000 + b"1", "nested too deep"),
        ("a.py", b"import jax\n" + b"jax = jax\n" * 2000 + b"jax.numpy.pad", "nested too deep"),
        ("a.py", b"#" * (MAX_BYTES + 1), "larger"),
        ("a.ipynb", b"{", "decoded"),
        ("a.ipynb", b"[" * 100_000, "decoded"),
        ("a.ipynb", b"[]", "not a notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": 3}]}', "not a notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}', "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_reason(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    """An unreadable file does not stop the others from being read."""
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.py").write_text("import jax.numpy as jnp\njnp.pad(x, 1)")
    found = usage(tmp_path)
    assert ["b.py"] == [path for _, path, *_ in told(found, PAD)]
    assert [True] == [why in each.why for each in found.unread], found.unread


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffimport jax\njax.vmap(f)\n".encode(),
        b"import jax\r\njax.vmap(f)\r\n",
        "# coding: latin-1\nimport jax; 'é'; jax.vmap\n".encode("latin-1"),
        b"import jax\n\x0cjax.vmap(f)",
        b"import jax\nif x:\n\tpass\n\tjax.vmap('\\d')",
        # Python refuses to parse thousands of digits.
        b"import jax, packaging.version as v\nif v.parse(jax.__version__) < v.parse('%s'):\n\tjax.vmap" % (b"1" * 5000),
    ],
)
def test_files_are_read_as_python_reads_them(tmp_path: Path, content: bytes) -> None:
    """Byte order marks, encodings, line ends, form feeds and tabs are read as in Python."""
    (tmp_path / "a.py").write_bytes(content)
    found = usage(tmp_path)
    assert ((), 1, 1) == (found.unread, len(told(found, "jax.vmap")), found.files)


def test_what_is_no_source_is_passed_over(tmp_path: Path) -> None:
    """Hidden folders, environments, builds and other files are skipped; links are not followed."""
    for name in ("s/a.py", ".h/a.py", "venv/a.py", "my/a.py", "build/a.py", "node_modules/a.py", "s/a.txt", "s/.a.py"):
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text("import jax\njax.vmap(f)")
    (tmp_path / "p/my/pyvenv.cfg").touch()
    (tmp_path / "p/s/loop").symlink_to(tmp_path / "p")
    (tmp_path / "p/s/out").symlink_to(tmp_path)
    (tmp_path / "p/s/gone.py").symlink_to(tmp_path / "nowhere.py")
    found = usage(tmp_path / "p")
    assert ["s/a.py"] == [path for _, path, *_ in told(found, "jax.vmap")]
    assert ["s/gone.py", "s/out"] == [each.path for each in found.unread]
    assert ("build", "my", "node_modules", "venv") == found.skipped


@contextmanager
def without_rights() -> Iterator[Path]:
    """A folder, for a user who is not root."""
    with TemporaryDirectory() as folder:
        user = os.geteuid()
        Path(folder).chmod(0o777)
        os.seteuid(user or 65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(user)


def test_a_folder_without_rights_is_told() -> None:
    """A folder that cannot be entered, or listed, does not stop the others from being read."""
    with without_rights() as folder:
        tree(folder, {"a": "import jax\njax.vmap(f)", "shut/b": "import jax", "noentry/c": "import jax"})
        (folder / "shut").chmod(0)
        (folder / "noentry").chmod(0o600)
        found, alone = usage(folder), usage(folder / "shut")
        project = project_file(folder / "noentry")
        (folder / "shut").chmod(0o700)
        (folder / "noentry").chmod(0o700)

    assert ["a.py"] == [path for _, path, *_ in told(found, "jax.vmap")]
    assert ["noentry/c.py", "shut"] == [each.path for each in found.unread]
    assert ["Permission denied"] == [each.why for each in alone.unread]
    assert project is None


@pytest.mark.parametrize("line", ["jax.jit\n", f"jax.jit, '{'é' * 200}', "], ids=["lines", "line"])
def test_many_uses_are_read_in_linear_time(tmp_path: Path, line: str) -> None:
    """Uses on as many lines, or on one that is long, are read in the same time each."""
    seconds = []
    for count in (1_000, 2_000):
        path = tmp_path / f"a{count}.py"
        path.write_text(f"import jax\n{line * count}", encoding="utf-8")
        began = time.process_time()
        assert count == len(told(usage(path), "jax.jit"))
        seconds.append(time.process_time() - began)

    assert seconds[1] < max(3 * seconds[0], 1.0)


@pytest.mark.parametrize(
    "code",
    [
        "\n".join(f"if c:\n  f = jax.a{number}" for number in range(2_000)) + "\nf" * 2_000,
        f"x = [{', '.join(['jax' + '.a' * 500] * 100)}]",
    ],
    ids=["values", "parts"],
)
def test_what_nobody_writes_takes_no_time(tmp_path: Path, code: str) -> None:
    """A name with thousands of values, and names of hundreds of parts, are read, or told, in seconds."""
    began = time.process_time()
    found = tree(tmp_path, {"a": f"import jax\n{code}"})

    assert (1, True) == (found.files + len(found.unread), time.process_time() - began < 5)


def test_a_tree_of_any_depth_is_read() -> None:
    """Folders below a thousand others are read, or told if their path is too long."""
    # pytest, too, would call itself for each folder to remove them.
    folder = mkdtemp()
    at = os.open(folder, os.O_RDONLY)
    for number in range(2_200):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
        if number in (1_200, 2_150):
            os.close(os.open("a.py", os.O_CREAT, dir_fd=at))
    os.close(at)
    found = usage(Path(folder))
    subprocess.run(["rm", "-rf", folder], check=True)

    assert (1, True) == (found.files, all("File name too long" in each.why for each in found.unread))
    assert 1 == len(found.unread)


def test_columns_are_counted_in_characters(tmp_path: Path) -> None:
    """Letters of several bytes count once, before and after a use on their line."""
    found = tree(tmp_path, {"a": "import jax\nx = ['é', jax.vmap, '\U0001f600', jax.vmap]"})
    assert [(11, 19), (26, 34)] == [(use.place.column, use.place.end_column) for use in found.uses if use.how == "name"]


def test_one_file_is_read_by_its_name(tmp_path: Path) -> None:
    """A single file is named without its folder."""
    tree(tmp_path, {"a": "import jax\njax.vmap(f)"})
    assert ["a.py"] == [path for _, path, *_ in told(usage(tmp_path / "a.py"), "jax.vmap")]


def test_no_folder_is_a_mistake(tmp_path: Path) -> None:
    """A missing path is an error with a sentence."""
    with pytest.raises(Misused, match="does not exist"):
        usage(tmp_path / "nowhere")


def test_many_files_are_read_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes find the same as one."""
    for number in range(3):
        (tmp_path / f"{number}.py").write_text("import jax\njax.vmap(f)\n(")
        (tmp_path / f"{number}b.py").write_text("import jax\njax.vmap(f)")
    alone = usage(tmp_path)
    monkeypatch.setattr(reading, "_MANY", 2)
    assert alone == usage(tmp_path)
    assert (3, 3) == (len(told(alone, "jax.vmap")), len(alone.unread))


# What a Python that starts imports before it knows its path, or soon after.
@pytest.mark.parametrize("name", ["signal", "socket", "types", "threading", "pickle", "struct"])
def test_a_tree_is_read_and_never_run(tmp_path: Path, name: str) -> None:
    """A module of the tree that is called like one of Python's is not imported, however many files are read."""
    for number in range(70):
        (tmp_path / f"{number}.py").write_text("import jax\njax.vmap(f)\n")
    (tmp_path / f"{name}.py").write_text('open("it_ran", "w").close()\n')
    # As its script starts it: Python puts no folder before its own modules.
    start = ["-P", "-c", "from jax_stack_compat.command_line import main; main()"]
    ran = python(*start, "check", "--from", "jax==0.6.0", "--source", ".", folder=tmp_path)
    assert not (tmp_path / "it_ran").exists()
    assert "function you call" in ran.stdout, ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_that_read(tmp_path: Path, number: signal.Signals) -> None:
    """Ending the command in any way also ends the processes it started."""
    code = "import jax\n" + "jax.vmap(jax.numpy.sin)\n" * 3000
    for place in range(400):
        (tmp_path / f"{place}.py").write_text(code)
    words = [sys.executable, "-m", "laboratory", "check", "--from", "jax==0.6.0", "--source", str(tmp_path)]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=default_signals
    ) as running:
        eventually(lambda: running.poll() is not None or any(map(_reads, guard.children(running.pid))))
        assert running.poll() is None
        running.send_signal(number)
        # All these processes hold the command's standard output open.
        running.communicate(timeout=10)


def _reads(process: int) -> bool:
    """Return True if a process has used the processor for longer than its start takes."""
    return 2 * sum(map(int, Path(f"/proc/{process}/stat").read_text().split()[13:15])) > os.sysconf("SC_CLK_TCK")


@settings(deadline=None, max_examples=60)
@given(
    st.one_of(
        st.binary(), st.text().map(lambda each: f"import jax.numpy as jnp\njnp.pad\n{each}".encode("utf-8", "replace"))
    )
)
def test_no_text_ends_it(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Any file is read, or reported as unread."""
    path = tmp_path_factory.mktemp("tree") / "a.py"
    path.write_bytes(content)
    found = usage(path)
    assert 1 == found.files + len(found.unread)


def test_a_name_that_is_bound_in_every_line(tmp_path: Path) -> None:
    """Five thousand assignments to one name, with as many uses, are read quickly."""
    code = "import jax\n" + "x = 1\ny = x\n" * 5_000 + "jax.jit(f)\n"
    with within(20):
        assert [("jax.jit", 10_002)] == [(name, line) for name, line, _ in places(tmp_path, code, "jax.jit")]
