"""The wheel: what `check`, `explain`, `find` and `try` need, and no more."""

import ast
import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jax_stack_compat import __version__
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import PACKAGES, ROOT
from jax_stack_compat.issues import modules
from jax_stack_compat.packages import MODULES
from jax_stack_compat.stack import plan, uv_call
from tests.cell.test_wall import file_of, module_of, reached
from tests.processes import printed, python
from tests.real_cell import CELL

# Users start them: by the script, by `python -m`, and by the commands that pages print.
ENTRIES = ("jax_stack_compat.__main__", "jax_stack_compat.command_line", "jax_stack_compat.issues.__main__")
# A module, or a function of one, that is looked up by its name.
LOOKED_UP = re.compile(r"(jax_stack_compat(?:\.\w+)*)(?::\w+)?")
# Run with the names of modules.
IMPORT = "import importlib, sys; print(len([importlib.import_module(name) for name in sys.argv[1:]]))"
# Run with the words of a command, whose output is followed by the list of the files that it opened.
OPENED = """
import json, sys
opened = []
sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == "open" else None)
from jax_stack_compat.command_line import main
try:
    main()
finally:
    print()
    print(json.dumps(opened))
"""
# It imports each package whose names are known, and uses a function that was called and a name that was removed.
EACH_PACKAGE = "import jax, {}\njax.numpy.cumsum(jax.numpy.arange(3))\njax.tree_map(abs, [])\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the tree."""
    folder = tmp_path_factory.mktemp("dist")
    built = [uv_call.found(), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)]
    subprocess.run(built, check=True)
    return folder / f"jax_stack_compat-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's contents and its dependencies from this environment."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "state").mkdir()
    uv_call.STORE.mkdir(parents=True, exist_ok=True)
    (folder / "state" / "store").symlink_to(uv_call.STORE)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def files(installed: Path) -> list[str]:
    """The files of the wheel, in its one package."""
    folder = installed / "jax_stack_compat"
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_wheel_is_small(wheel: Path, installed: Path) -> None:
    """Code and data are under 3 MB, and the index of `find` has at most 300 kB."""
    assert 3_000_000 > wheel.stat().st_size
    assert 300_000 >= (installed / "jax_stack_compat" / "check" / "search.json").stat().st_size


NO_DICT = "TypeError: unhashable type: 'DynamicJaxprTracer'"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        # `check` and `explain` look versions and a message up.
        ("check --from jax==0.4.35", Exit.AS_EXPECTED, "Imports and computes"),
        ("explain", Exit.AS_EXPECTED, "tracer-hash-while-loop"),
        ("find jax#25190", Exit.AS_EXPECTED, "147 times from jax 0.4.33"),
        # `try` finds the lock of each stack, and ends with uv's own sentence where a release does not exist.
        (f"try equinox==99 --against {CELL.id}", Exit.INCOMPLETE, "equinox==99"),
        # A command of the suite is refused with one sentence that names the clone.
        ("compat", Exit.MISUSED, "such as compat, need a clone"),
    ],
)
def test_a_wheel_answers_without_a_checkout(words: str, code: Exit, said: str, installed: Path) -> None:
    """A wheel answers look-ups, `try` gets as far as uv, and other commands are said to need a clone."""
    command = ("-P", "-c", "from jax_stack_compat.command_line import main; main()", *words.split())
    variables = {"PYTHONPATH": str(installed), "SUITE_STATE": str(installed / "state")}
    ran = python(*command, folder=installed, asked=NO_DICT, env=variables)

    assert code == ran.returncode, ran.stderr
    assert said in (ran.stderr if code else ran.stdout)
    assert code or not ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_wheel_has_one_package(wheel: Path) -> None:
    """Beside its metadata, the wheel installs only the folder `jax_stack_compat`."""
    with zipfile.ZipFile(wheel) as archive:
        assert {"jax_stack_compat", f"jax_stack_compat-{__version__}.dist-info"} == {
            name.partition("/")[0] for name in archive.namelist()
        }


def looked_up(path: Path) -> Iterator[str]:
    """Yield the modules whose names are strings in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (found := LOOKED_UP.fullmatch(node.value))
        ):
            yield found[1]


def test_a_wheel_has_no_module_that_nothing_uses(files: list[str]) -> None:
    """Each module is an entry point, an issue, or imported or looked up by a module that is used."""
    used = [*ENTRIES, *modules()]
    paths: list[Path] = []
    while len(paths) < len(paths := reached(path for name in used if (path := file_of(name)))):
        used += [name for path in paths for name in looked_up(path)]

    unused = {name for name in files if name.endswith(".py") and PACKAGES / "jax_stack_compat" / name not in paths}
    assert set() == unused


def test_each_module_of_a_wheel_imports(installed: Path, files: list[str]) -> None:
    """No module of the wheel imports something that is not installed with it."""
    names = [module_of(PACKAGES / "jax_stack_compat" / name) for name in files if name.endswith(".py")]
    variables = {"PYTHONPATH": str(installed)}

    assert f"{len(names)}\n" == printed("-P", "-c", IMPORT, *names, folder=installed, env=variables)


def test_a_wheel_has_no_data_that_nothing_reads(installed: Path, files: list[str]) -> None:
    """`check`, `needs`, `find` and `try` open each data file, or could: the lock of a planned cell."""
    folder = installed / "jax_stack_compat"
    known = {path.stem for path in folder.glob("names/data/*.json")} & {*MODULES.values()}
    (installed / "code.py").write_text(EACH_PACKAGE.format(", ".join(sorted(known))), encoding="utf-8")
    variables = {"PYTHONPATH": str(installed), "SUITE_STATE": str(installed / "state")}
    opened = {f"stack/locks/{cell.lock_name}" for cell in plan.cells()}
    for words in (
        "check --from jax==0.4.35 --source code.py",
        "needs --source code.py",
        "find leak",
        "try equinox==99",
    ):
        ran = python("-P", "-c", OPENED, *words.split(), folder=installed, env=variables)
        paths = [Path(name) for name in json.loads(ran.stdout.splitlines()[-1])]
        opened |= {path.relative_to(folder).as_posix() for path in paths if path.is_relative_to(folder)}

    assert [] == [name for name in files if not name.endswith(".py") and name not in opened]


def test_a_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """What `pip` builds from the source distribution is what the tree gives."""
    subprocess.run([uv_call.found(), "build", "--quiet", "--out-dir", str(tmp_path), str(ROOT)], check=True)

    with tarfile.open(tmp_path / f"jax_stack_compat-{__version__}.tar.gz") as archive:
        assert not [name for name in archive.getnames() if "laboratory" in name]
    assert wheel.read_bytes() == (tmp_path / wheel.name).read_bytes()


# runpy itself has imported `types` and a few others from this folder before any module of ours begins.
TAKEN = ("argparse", "inspect", "json", "packaging", "pathlib", "rich", "signal", "tomllib", "yaml")


@pytest.mark.parametrize("more", [(), ("-P",)])
def test_modules_of_the_current_folder_are_not_imported(more: tuple[str, ...], installed: Path, tmp_path: Path) -> None:
    """`python -m jax_stack_compat` imports nothing from a project that has modules of those names, with -P or without.

    With -P, Python does not put the current folder first, and what is first is needed.
    """
    for name in TAKEN:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('this project has a {name}')", encoding="utf-8")
    variables = {"PYTHONPATH": str(installed)}
    words = ("-m", "jax_stack_compat", "check", "--from", "jax==0.4.35")

    assert printed(*words, folder=installed, env=variables) == printed(*more, *words, folder=tmp_path, env=variables)


def test_the_first_folder_of_a_safe_path_stays(installed: Path, tmp_path: Path) -> None:
    """With -P, a folder before the package's on PYTHONPATH is not taken for the current folder."""
    (tmp_path / "sitecustomize.py").write_text("", encoding="utf-8")
    variables = {"PYTHONPATH": f"{tmp_path}:{installed}"}
    command = "import runpy, sys; runpy.run_module('jax_stack_compat', run_name='checked'); print(sys.path[0])"

    assert f"{tmp_path}\n" == printed("-P", "-c", command, folder=installed, env=variables)
