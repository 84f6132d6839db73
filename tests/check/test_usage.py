"""Which names of the stack a source uses: resolved, guarded, ignored, and what cannot be told."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.check.source import scopes, usage
from suite.check.source.sieve import Sieved, sieved
from suite.check.source.sources import LARGEST
from suite.check.source.usage import Usage, uses
from suite.check.source.wanted import Wanted
from suite.errors import Misused

PAD, CONSTANT = "jax.numpy.pad", "jax.numpy.pad(constant_values=)"
JIT, STATIC = "jax.jit", "jax.jit(static_argnums=)"


def told(tmp_path: Path, code: str, *wanted: str) -> Usage:
    """What is told of a tree of one file."""
    (tmp_path / "a.py").write_text(textwrap.dedent(code), encoding="utf-8")
    return uses(tmp_path, wanted)


def places(found: Usage) -> list[tuple[str, int, int]]:
    """What was found, and where in its file."""
    return [(each.name, each.line, each.column) for each in found.found]


@pytest.mark.parametrize(
    "code",
    [
        "import jax\njax.numpy.pad(x, 1)",
        "import jax.numpy\njax.numpy.pad(x, 1)",
        "import jax.numpy as jnp\njnp.pad(x, 1)",
        "import jax as j\nj.numpy.pad(x, 1)",
        "from jax import numpy as jnp\njnp.pad(x, 1)",
        "from jax import numpy\nnumpy.pad(x, 1)",
        "from jax.numpy import pad\npad(x, 1)",
        "from jax.numpy import pad as p\np(x, 1)",
        "from jax.numpy import *\npad(x, 1)",
        "from jax import *\nnumpy.pad(x, 1)",
        "import jax, jax.random\njax.numpy.pad(x, 1)",
        "import jax\n\\\njax . numpy . pad(x, 1)".replace("\\\n", ""),
        "from jax import (\n    numpy as jnp)\njnp.pad(x, 1)",
        "import jax.numpy as jnp; jnp.pad(x, 1)",
        "import jax.numpy as jnp\n(jnp  # here\n .pad)(x, 1)",
    ],
)
def test_every_way_to_import_a_name_is_followed(tmp_path: Path, code: str) -> None:
    """Whatever the import's spelling, a use is found once."""
    assert [PAD] == [each.name for each in told(tmp_path, code, PAD).found]


def test_a_use_is_told_with_its_line_and_column(tmp_path: Path) -> None:
    """Lines and columns count from 1, and what is left out of the text before it changes neither."""
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
    assert [(PAD, 15, 20), (CONSTANT, 17, 13)] == places(told(tmp_path, code, PAD, CONSTANT))


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nnp.pad(x, 1)",
        "import jax\nimport numpy as np\nnp.pad(jax, 1)",
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
        "from numpy import *\npad(1) # jax",
        "from jax.numpy import *\ndef f(pad):\n    pad(1)",
        "import jax\n'jax.numpy.pad'\n# jax.numpy.pad(x)\nf'jax.numpy.pad'",
        "import jax\ndef f(x: 'jax.numpy.pad'): ...",
        "import jax\nf(jax).numpy.pad(x)",
        "import jax\njax().numpy.pad(x)",
    ],
)
def test_what_only_has_the_same_name_is_no_use(tmp_path: Path, code: str) -> None:
    """Methods, other packages, shadowed names, words in strings: none of them is a use."""
    class_level = [(PAD, 2, 27)] if code.startswith("class") else []
    assert class_level == places(told(tmp_path, code, PAD))


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import jax\nvmap = jax.vmap\nvmap(f)", [2, 3]),
        ("import jax\nv: object = jax.vmap\nw = v\nw(f)", [2, 3, 4]),
        ("import jax\nj = jax\nk = j\nk.vmap(f)", [4]),
        ("import jax\ndef g():\n    v = jax.vmap\n    return v(f)\nv(f)", [3, 4]),
        ("def g():\n    import jax\n    def h():\n        return jax.vmap(f)\n    return h", [4]),
        ("import jax\n@jax.vmap\ndef f(x):\n    return x", [2]),
        ("import jax\nmap(jax.vmap, x)", [2]),
        ("import jax\njax = jax\njax.vmap(f)", [3]),
        ("import jax\nif x:\n    a()\nelif jax.vmap:\n    b()\nelse:\n    c()", [4]),
        ("import jax\nmatch x:\n    case 1:\n        jax.vmap(f)\n    case _:\n        g()", [4]),
        ("from jax import vmap", [1]),
        ("from jax import jit, vmap\n__all__ = ['vmap']", [1]),
        ("import jax\ndef f(x=jax.vmap): ...", [2]),
        ("import jax\nx = 1; y = jax.vmap; z = 2", [2]),
        ("import jax\nx = 1; y = '''\n'''; z = jax.vmap", [3]),
        ("import jax\nx = jax.vmap \\\n\n# and\ny = jax.vmap", [2, 5]),
    ],
)
def test_names_are_followed_through_scopes_and_assignments(tmp_path: Path, code: str, lines: list[int]) -> None:
    """An alias is a use where it is made and where it is used; an import alone is one where nothing uses it here."""
    assert lines == [each.line for each in told(tmp_path, code, "jax.vmap").found]


@pytest.mark.parametrize(
    "code",
    [
        "import jax\njax.jit(f, static_argnums=0)",
        "from jax import jit\n@jit(static_argnums=0)\ndef f(x): ...",
        "import functools, jax\n@functools.partial(jax.jit, static_argnums=0)\ndef f(x): ...",
        "from functools import partial as p\nimport jax\n@p(jax.jit, static_argnums=0)\ndef f(x): ...",
        "import jax\njit = jax.jit\njit(f, static_argnums=0)",
        "import jax\njax.tree_util.Partial(jax.jit, static_argnums=0)",
    ],
)
def test_a_keyword_is_found_where_its_function_gets_it(tmp_path: Path, code: str) -> None:
    """A call of the function, a decorator, a partial of it: each gives it the keyword."""
    assert [STATIC] == [each.name for each in told(tmp_path, code, STATIC).found]


@pytest.mark.parametrize(
    "code",
    [
        "import jax\njax.jit(f)",
        "import jax\ng(jax.jit, static_argnums=0)",
        "import jax\njax.jit(f)(static_argnums=0)",
        "import jax\njax.jit(g(static_argnums=0))",
        "import jax\nfrom functools import partial\npartial(g, jax.jit, static_argnums=0)",
    ],
)
def test_a_keyword_of_another_function_is_none(tmp_path: Path, code: str) -> None:
    """A keyword counts by the function that gets it."""
    assert () == told(tmp_path, code, STATIC).found


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ("jax.tree_util.tree_map", "import jax\njax.tree.map(f, x)"),
        ("jax.tree_util.tree_map", "import jax\njax.tree_map(f, x)"),
        ("jax.tree_map", "from jax.tree_util import tree_map as t\nt(f, x)"),
        ("jax.P", "from jax.sharding import PartitionSpec as P\nP('x')"),
        ("jax.experimental.export.export", "from jax import export\nexport.export(f)"),
        ("jax.export.export", "from jax.experimental import export as e\ne.export(f)"),
        ("jax.Array", "import jax.numpy as jnp\ndef f(x: jnp.ndarray): ..."),
        ("jax.random", "from jax import random as jr\njr.split(k)"),
        ("jax.random", "from jax.random import split\nsplit(k)"),
        ("jax.scipy.stats.binom", "from jax.scipy import stats\nstats.binom.pmf(1, 2, 0.5)"),
        ("equinox.nn.MLP", "import equinox as eqx\neqx.nn.MLP(1, 1, 1, 1, key=k)"),
        ("jax.memory.Space.Device", "from jax.memory import Space\nSpace.Device"),
    ],
)
def test_one_thing_has_several_names(tmp_path: Path, wanted: str, code: str) -> None:
    """A thing is found by each of its homes, and a module by whatever is used of it, told as it was asked for."""
    assert [wanted] == [each.name for each in told(tmp_path, code, wanted).found]


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    jax.vmap(f)\nexcept ImportError:\n    pass",
        "try:\n    jax.vmap(f)\nexcept (ValueError, AttributeError):\n    pass",
        "try:\n    pass\nexcept AttributeError:\n    jax.vmap(f)",
        "try:\n    pass\nexcept ModuleNotFoundError:\n    pass\nelse:\n    jax.vmap(f)",
        "try:\n    jax.vmap(f)\nexcept Exception:\n    raise",
        "try:\n    jax.vmap(f)\nexcept:\n    pass",
        "try:\n    from jax import vmap\nexcept ImportError:\n    vmap = None",
        "if hasattr(jax, 'vmap'):\n    jax.vmap(f)",
        "if not hasattr(jax.numpy, 'x') and y:\n    pass\nelse:\n    jax.vmap(f)",
        "g = jax.vmap if hasattr(jax, 'vmap') else None",
        "if jax.__version__ >= '0.5':\n    def f(x):\n        return jax.vmap(x)",
        "if jax.version.__version_info__ < (0, 5):\n    jax.vmap(f)",
        "if x:\n    pass\nelif Version(version('jax')) > Version('0.5'):\n    jax.vmap(f)",
        "V = tuple(jax.__version__.split('.'))\nNEW = V > ('0', '5')\ndef g():\n    if NEW:\n        jax.vmap(f)",
        "NEW: bool = Version(\n    jax.__version__) > 5\nif NEW:\n    jax.vmap(f)",
    ],
)
def test_a_use_that_asks_for_the_release_is_silent(tmp_path: Path, code: str) -> None:
    """Under an except clause for what is absent, `hasattr` or a version test, a use is guarded, and not found."""
    head = "import jax\nfrom importlib.metadata import version\nfrom packaging.version import Version\n"
    found = told(tmp_path, head + code, "jax.vmap")
    assert ((), ["jax.vmap"]) == (found.found, [each.name for each in found.guarded])


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    jax.vmap(f)\nexcept ValueError:\n    pass",
        "try:\n    pass\nexcept Exception:\n    jax.vmap(f)",
        "try:\n    pass\nexcept ImportError:\n    pass\nfinally:\n    jax.vmap(f)",
        "try:\n    jax.vmap(f)\nfinally:\n    pass",
        "if hasattr(self, 'vmap'):\n    jax.vmap(f)",
        "if hasattr(np, 'vmap'):\n    jax.vmap(f)",
        "if sys.version_info > (3, 11):\n    jax.vmap(f)",
        "if x:\n    y = jax.__version__\njax.vmap(f)",
        "if version:\n    jax.vmap(f)",
    ],
)
def test_other_conditions_guard_nothing(tmp_path: Path, code: str) -> None:
    """What does not ask for the release of the stack leaves a use where it is."""
    found = told(tmp_path, "import jax, sys\nimport numpy as np\n" + code, "jax.vmap")
    assert (["jax.vmap"], ()) == ([each.name for each in found.found], found.guarded)


@pytest.mark.parametrize(
    ("code", "ignored"),
    [
        ("jax.vmap(f)  # compat: ignore", {"*"}),
        ("jax.vmap(f)  # compat: ignore[one]", {"one"}),
        ("jax.vmap(f)  # noqa  #compat:ignore[one, two-three]", {"one", "two-three"}),
        ("x = g(  # compat: ignore[one]\n    jax.vmap(f),  # compat: ignore[two]\n)", {"one", "two"}),
        ("# compat: ignore\njax.vmap(f)", set()),
        ("jax.vmap(f)  # compat: ignore[]", set()),
        ("@jax.vmap  # compat: ignore[one]\ndef f(x): ...", {"one"}),
        ("with jax.vmap(f):  # compat: ignore[one]\n    pass", {"one"}),
    ],
)
def test_a_comment_says_which_issues_to_ignore(tmp_path: Path, code: str, ignored: set[str]) -> None:
    """On the line of the use, or on the first one of its statement."""
    assert [ignored] == [set(each.ignored) for each in told(tmp_path, f"import jax\n{code}", "jax.vmap").found]


def test_what_no_source_tells_is_told(tmp_path: Path) -> None:
    """Members of classes, private names and areas can be in use where no source names them."""
    hidden = ["control flow", "jax.core.Tracer.__hash__", "jax._src.mlir.f", "jax.stages.Wrapped.lower", "jax_flag"]
    found = told(
        tmp_path, "import jax\njax.jit(f).lower(x)\nx.lower(y)", *hidden, PAD, STATIC, "jax.memory.Space.Device"
    )
    assert ((), tuple(sorted(hidden))) == (found.found, found.untold)


def test_the_cells_of_a_notebook_share_their_names(tmp_path: Path) -> None:
    """A use is told with its cell and the line in it, past magics, other languages and cells that are no Python."""
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
    found = uses(tmp_path, [PAD])
    assert [("n.ipynb#cell4", 6), ("n.ipynb#cell5", 3), ("n.ipynb#cell7", 2)] == [
        (each.path, each.line) for each in found.found
    ]
    assert ["n.ipynb#cell6"] == [each.path for each in found.unread]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.py", b"import jax.numpy\nx = \xff", "decoded"),
        ("a.py", b"# coding: nonsense\n", "decoded"),
        ("a.py", b"# coding: rot13\n", "decoded"),
        ("a.py", b"# coding: punycode\n", "decoded"),
        ("a.py", b"import jax\njax.numpy.pad(\n", "line 2"),
        ("a.py", b"import jax\njax.numpy.pad(\0)\n", "null bytes"),
        ("a.py", b"jax.numpy.pad" + b"(" * 3000 + b")" * 3000, "too many nested"),
        ("a.py", b"import jax\nx = jax.numpy.pad" + b"+1" * 500, "nested too deep"),
        ("a.py", b"import jax\nx = jax.numpy.pad" + b"-" * 100_000 + b"1", "nested too deep"),
        ("a.py", b"import jax\n" + b"jax = jax\n" * 2000 + b"jax.numpy.pad", "too often"),
        ("a.py", b"import jax\n" + b"jax.numpy.pad\n" * 30_000, "too much"),
        ("a.py", b"#" * (LARGEST + 1), "larger"),
        ("a.ipynb", b"{", "decoded"),
        ("a.ipynb", b"[" * 100_000, "decoded"),
        ("a.ipynb", b"[]", "no notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": 3}]}', "no notebook"),
        ("a.ipynb", b'{"cells": {"a": 1}}', "no notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}', "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_reason(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    """A file that nobody can read ends nothing: the others are read."""
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.py").write_text("import jax.numpy as jnp\njnp.pad(x, 1)")
    found = uses(tmp_path, [PAD])
    assert ["b.py"] == [each.path for each in found.found]
    assert [True] == [why in each.why for each in found.unread], found.unread


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffimport jax\njax.vmap(f)\n".encode(),
        b"import jax\r\njax.vmap(f)\r\n",
        b"import jax\rjax.vmap(f)\r",
        "# coding: latin-1\nimport jax; 'é'; jax.vmap\n".encode("latin-1"),
        b"import jax\n\x0cjax.vmap(f)",
        b"import jax\nif x:\n\tpass\n\tjax.vmap('\\d')",
    ],
)
def test_files_are_read_as_python_reads_them(tmp_path: Path, content: bytes) -> None:
    """Byte order marks, encodings, line ends, form feeds and tabs are Python's affair."""
    (tmp_path / "a.py").write_bytes(content)
    found = uses(tmp_path, ["jax.vmap"])
    assert ((), 1, 1) == (found.unread, len(found.found), found.files)


def test_what_is_no_source_is_passed_over(tmp_path: Path) -> None:
    """Hidden folders, environments, what is built, and other files are not read; a link is not followed."""
    for name in ("s/a.py", ".h/a.py", "venv/a.py", "my/a.py", "build/a.py", "node_modules/a.py", "s/a.txt", "s/.a.py"):
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text("import jax\njax.vmap(f)")
    (tmp_path / "p/my/pyvenv.cfg").touch()
    (tmp_path / "p/s/loop").symlink_to(tmp_path / "p")
    (tmp_path / "p/s/out").symlink_to(tmp_path)
    (tmp_path / "p/s/gone.py").symlink_to(tmp_path / "nowhere.py")
    found = uses(tmp_path / "p", ["jax.vmap"])
    assert ["s/a.py"] == [each.path for each in found.found]
    assert ["s/gone.py", "s/out"] == [each.path for each in found.unread]


def test_one_file_is_read_by_its_name(tmp_path: Path) -> None:
    """A file given by itself is told by its name alone."""
    told(tmp_path, "import jax\njax.vmap(f)", "jax.vmap")
    assert ["a.py"] == [each.path for each in uses(tmp_path / "a.py", ["jax.vmap"]).found]


def test_no_folder_is_a_mistake(tmp_path: Path) -> None:
    """A path at which nothing is ends in a sentence."""
    with pytest.raises(Misused, match="there is no"):
        uses(tmp_path / "nowhere", [PAD])


def test_many_files_are_read_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes find what one finds."""
    for number in range(3):
        (tmp_path / f"{number}.py").write_text("import jax\njax.vmap(f)\n(")
        (tmp_path / f"{number}b.py").write_text("import jax\njax.vmap(f)")
    alone = uses(tmp_path, ["jax.vmap"])
    monkeypatch.setattr(usage, "_MANY", 2)
    assert alone == uses(tmp_path, ["jax.vmap"])
    assert (3, 3) == (len(alone.found), len(alone.unread))


BODIES = st.recursive(
    st.sampled_from(
        ["pad({})", "np.pad(1)", "x = 1", "self.floor(2)", "y = floor(3)", "'''pad\n'''", "# floor", "pass"]
    ),
    lambda inner: st.lists(inner, min_size=1, max_size=4).flatmap(
        lambda body: st.sampled_from(["def g(x):", "class A:", "if x:", "for i in x:", "with x:"]).map(
            lambda head: f"{head}\n" + textwrap.indent("\n".join([*body, "pass"]), "    ")
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=15)
@given(st.lists(BODIES, min_size=1, max_size=4))
def test_the_sieve_loses_nothing(bodies: list[str]) -> None:
    """LibCST finds in what the sieve leaves what it finds in the whole."""
    wanted = Wanted.of([PAD, "jax.numpy.floor"])
    code = "import jax.numpy as jnp\nfrom jax.numpy import floor\n" + "\n".join(bodies).replace(
        "pad({})", "jnp.pad({})"
    )
    left = sieved(code, wanted) or Sieved("", [])
    there = {(each.name, left.numbers[each.line - 1], each.column) for each in scopes.found(left.code, wanted)}
    assert {(each.name, each.line, each.column) for each in scopes.found(code, wanted)} == there


@settings(deadline=None, max_examples=60)
@given(
    st.one_of(
        st.binary(), st.text().map(lambda each: f"import jax.numpy as jnp\njnp.pad\n{each}".encode("utf-8", "replace"))
    )
)
def test_no_text_ends_it(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Whatever stands in a file, it is read, or it is told that it is not."""
    path = tmp_path_factory.mktemp("tree") / "a.py"
    path.write_bytes(content)
    found = uses(path, [PAD])
    assert 1 == found.files + len(found.unread)
