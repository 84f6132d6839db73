"""The names of jax that an import needs, read from files: which files it reaches, and what releases lack."""

from pathlib import Path

import pytest

from laboratory.libraries import imported


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a folder with a package whose import reaches some of its files."""
    files = {
        "lib/__init__.py": "from lib import core\nfrom .nn import layers\n",
        "lib/core.py": "import jax\neffects = jax.core.Effects\ndef later():\n    import lib.lazy\n",
        "lib/lazy.py": "from jax.core import Jaxpr\n",
        "lib/types.py": "from jax.core import Literal\n",
        "lib/nn/__init__.py": "",
        "lib/nn/layers.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import lib.types\n",
        "lib/nn/other.py": "import jax\njax.no_such_name\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_an_import_reaches_what_runs_at_the_import(package: Path) -> None:
    """Imports in functions and for type checkers are not followed; packages bring their `__init__`."""
    reached = imported.reachable(package, "lib")
    assert {"lib/__init__.py", "lib/core.py", "lib/nn/__init__.py", "lib/nn/layers.py"} == reached


def test_a_release_without_a_needed_name_is_known(package: Path) -> None:
    """Releases that lack a name of the import form a span; names of other files do not count."""
    found = imported.Imported(missing=tuple(imported._missing(package, "lib")), names="0.12.0.1")
    assert imported.lacking(found, "0.10.2") is None
    lack = imported.lacking(found, "0.11.2")
    assert lack is not None
    assert ("jax.core.Effects", "lib/core.py:2") == (lack.name, lack.place)
