"""Stacks of locks, requirements and lists of installed packages, and errors for other files."""

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jax_stack_compat.base.errors import BadFile, Fault, Misused
from jax_stack_compat.check.inputs import locks
from jax_stack_compat.check.inputs.stack import Stack

SAMPLES = Path(__file__).parent / "samples"
LOCKS = (
    *("project/uv.lock", "poetry.lock", "pdm.lock", "pixi.lock", "conda-lock.yml"), *("Pipfile.lock", "pylock.toml")
)  # fmt: skip
OTHERS = (*LOCKS, "environment.yml", "requirements.txt", "freeze.txt", "conda.json", "pip.json")
Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write a file into a project of its own and return its path."""
    (tmp_path / "pyproject.toml").touch()

    def write(written: str | bytes, name: str = "requirements.txt") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written.encode() if isinstance(written, str) else written)
        return path

    return write


def read_or_told(path: Path) -> Stack | list[Fault]:
    """Return a file's stack, or its faults; other exceptions propagate."""
    try:
        return locks.read(path)
    except BadFile as error:
        return error.faults


def told(path: Path) -> str:
    """Return the error for a file that cannot be read."""
    with pytest.raises(BadFile) as caught:
        locks.read(path)
    return str(caught.value)


JAX = "jax==0.4.35 jaxlib==0.4.35"
EQUINOX = f"{JAX} equinox==0.11.8"
NUMPY = "2.3.1" if sys.version_info >= (3, 11) else "2.2.6"
SOMEONE = "https://github.com/someone"
FROZEN = "absl-py==2.1.0 jax==0.4.35 jaxtyping==0.2.34 ml-dtypes==0.5.0 numpy==2.1.2 optimistix==0.0.8 scipy==1.14.1"


@pytest.mark.parametrize(
    ("name", "end", "versions", "unsaid"),
    [
        # All extras and groups count, and the numpy for this Python; a fork has no version.
        (
            *("project/uv.lock", "", f"{EQUINOX} colorama==0.4.6 diffrax==0.6.0 matplotlib==3.9.2 numpy=={NUMPY}"),
            {"lineax": f"lineax @ git+{SOMEONE}/lineax?rev=main#", "vector-field": "vector-field @"},
        ),
        (
            *("conflicts/uv.lock", ", without extras and groups that exclude each other", "equinox==0.11.8"),
            {"jax": "0.4.35 or 0.4.36, with other extras or groups", "trainer": ""},
        ),
        # Markers choose between two versions, else both are told.
        (
            *("poetry.lock", "", "diffrax==0.6.0 jax==0.4.35"),
            {"lineax": f"lineax @ {SOMEONE}/lineax", "numpy": "1.26.4 or 2.2.6"},
        ),
        ("pdm.lock", "", EQUINOX, {"lineax": f"lineax @ {SOMEONE}/lineax.git", "optimistix": "0.0.9 or 0.0.10"}),
        # The default environment lacks jax.
        (
            *("pixi.lock", ", environment gpu for plan9-64", "jax==0.4.34 jaxlib==0.4.34 equinox==0.11.8"),
            {"lineax": "../lineax", "tzdata": "2025b"},
        ),
        # Ranges and prefixes have no version.
        (
            *("environment.yml", "", EQUINOX),
            {
                "numpy": "numpy=2.2",
                "scipy": "scipy >=1.13",
                "pip": "pip",
                "diffrax": "diffrax>=0.6; python",
                "lineax": "",
            },
        ),
        # The default section overrides the one for development.
        (
            *("Pipfile.lock", "", "jax==0.4.35 pytest==8.3.3"),
            {"equinox": f"equinox @ {SOMEONE}/equinox", "jaxlib": "jaxlib*"},
        ),
        # Wheels for another machine count.
        (
            *("pylock.toml", "", f"{EQUINOX} jax-cuda12-plugin==0.4.35"),
            {"lineax": f"{SOMEONE}/lineax", "optimistix": "../optimistix", "tqdm": "wheels/tqdm-4.66.5.zip"},
        ),
        ("requirements.txt", "", f"{EQUINOX} ml-dtypes==0.5.0", {}),
        # A folder, an address or a repository keeps its text, without the password.
        (
            *("freeze.txt", "", FROZEN),
            {
                **{"diffrax": f"-e git+{SOMEONE}/diffrax.git@", "equinox": "-e /home/someone/code/eqx"},
                **{"jaxlib": "jaxlib @ https://", "lineax": f"lineax @ git+{SOMEONE}/lineax@"},
                **{"opt-einsum": "opt_einsum @ file://", "vector-field": "-e /home/someone/code/field"},
            },
        ),
        # conda's list has Python.
        ("conda.json", "", f"{JAX} diffrax==0.6.0 -openmp-mutex==4.5", {"jpeg": "9e"}),
        ("pip.json", "", f"{EQUINOX} ml-dtypes==0.5.0", {}),
    ],
)
def test_a_sample_gives_what_is_installed_here(name: str, end: str, versions: str, unsaid: dict[str, str]) -> None:
    """Exact versions for this machine and its Python count; other entries keep their text.

    The stack names the file that was read.
    """
    stack = locks.read(SAMPLES / name)
    assert dict(version.split("==") for version in versions.split()) == stack.versions
    assert unsaid.keys() == stack.unsaid.keys()
    assert all(stack.unsaid[package].startswith(words) for package, words in unsaid.items())
    assert f"{SAMPLES / name}{end}" == stack.where
    assert stack.python == ("3.12.7" if name in ("pixi.lock", "environment.yml", "conda.json") else "")


@pytest.mark.parametrize(
    ("name", "wanted", "narrow", "versions"),
    [
        ("project/uv.lock", 'requires-python = ">=3.10"', 'requires-python = "==3.10.*"', {"numpy": "2.2.6"}),
        ("pdm.lock", '">=3.10,<3.14"', '"==3.10.*"', {"jax": "0.4.35"}),
    ],
)
def test_a_lock_for_other_pythons_is_read_for_one_of_them(
    put: Put, name: str, wanted: str, narrow: str, versions: dict[str, str]
) -> None:
    """If a lock excludes the running Python, markers use the nearest that it allows, which is reported."""
    lock = (SAMPLES / name).read_text()
    assert wanted in lock
    stack = locks.read(put(lock.replace(wanted, narrow), Path(name).name))
    assert versions.items() <= stack.versions.items()
    assert stack.where.endswith(f"{Path(name).name}, for Python 3.10")


UV = """version = 1
requires-python = ">=3.10"
[manifest]
members = ["app", "core"]
[[package]]
name = "app"
version = "1"
source = { editable = "." }
dependencies = [{ name = "core" }]
[[package]]
name = "core"
version = "1"
source = { editable = "packages/core" }
dependencies = [
    { name = "jax", version = "0.4.35", extra = ["gpu"], marker = "sys_platform != 'plan9'" },
    { name = "libtpu", marker = "sys_platform == 'plan9'" },
]
[[package]]
name = "jax"
version = "0.4.35"
source = { registry = "x" }
[package.optional-dependencies]
gpu = [{ name = "plugin" }]
tpu = [{ name = "libtpu" }]
[[package]]
name = "plugin"
version = "2"
source = { url = "https://a.b/plugin-2.whl?token=abc" }
[[package]]
name = "libtpu"
version = "3"
source = { registry = "x" }
"""


def test_uv_lock_is_followed_from_its_members(put: Put) -> None:
    """Requirements of members count by markers and extras; an unrequested extra does not."""
    stack = locks.read(put(UV, "uv.lock"))
    assert {"jax": "0.4.35"} == stack.versions
    assert {"app": "app @ editable+.", "core": "core @ editable+packages/core"}.items() <= stack.unsaid.items()
    assert "plugin @ url+https://a.b/plugin-2.whl?…" == stack.unsaid["plugin"]
    assert "libtpu" not in stack.unsaid


@pytest.mark.parametrize(
    ("wanted", "there"),
    [("^3.10", True), ("~3.9", False), (">=2.7,<3.0 || >=3.10", True), ("*", True), ("<3.8 || ~3.9.1", False)],
)
def test_ranges_of_poetry(put: Put, wanted: str, there: bool) -> None:
    """A package counts if its range of Python, in Poetry's syntax, has the Python in use."""
    lock = (SAMPLES / "poetry.lock").read_text().replace('"~=3.9"', f'"{wanted}"')
    assert there == ("diffrax" in locks.read(put(lock, "poetry.lock")).versions)


def test_pixi_lock_before_version_6(put: Put) -> None:
    """A pixi.lock with names and versions beside the addresses is read by these."""
    lock = "version: 5\nenvironments:\n  default:\n    packages:\n      linux-64:\n      - pypi: https://a.b/j.whl\n"
    lock += "packages:\n- kind: pypi\n  name: jax\n  version: 0.4.26\n  url: https://a.b/j.whl\n"
    assert {"jax": "0.4.26"} == locks.read(put(lock, "pixi.lock")).versions


def test_pixi_lock_spells_versions_as_conda_does(put: Put) -> None:
    """conda's versions that are not Python's keep conda's words, and are not release candidates."""
    written = (SAMPLES / "pixi.lock").read_text().replace("tzdata-2025b", "tzdata-2026c")
    assert "2026c in environment default" == locks.read(put(written, "pixi.lock")).unsaid["tzdata"]


def test_conda_lock_gives_what_is_for_this_platform(put: Put) -> None:
    """Packages of conda and pip for this platform count in a conda-lock.yml; another platform is reported."""
    written = (SAMPLES / "conda-lock.yml").read_text()
    for name in ("conda-lock.yml", "before"):
        stack = locks.read(put(written, name))
        assert ({"jax": "0.4.35", "jaxlib": "0.4.35", "equinox": "0.11.8"}, "3.12.7") == (stack.versions, stack.python)
        assert stack.where.endswith(name)
        assert {"tzdata": "2026c"} == stack.unsaid
    written = re.sub(r"(linux|osx)-\w+", "linux-sparc", written)
    assert locks.read(put(written, "conda-lock.yml")).where.endswith("conda-lock.yml, for plan9-64")
    assert "package: Input should be" in told(put("package: 1\n", "conda-lock.yml"))


@pytest.mark.parametrize(
    ("spec", "version"),
    [
        *(("jax=0.4.35", "0.4.35"), ("jax==0.4.35", "0.4.35"), ("jax 0.4.35", "0.4.35"), ("jax == 0.4.35", "0.4.35")),
        *(("jax=0.4.35=pyhd8ed1ab_0", "0.4.35"), ("jax 0.4.35 py_0", "0.4.35"), ("jax[version='0.4.35']", "0.4.35")),
        *(("a/b::jax=0.12.0.1", "0.12.0.1"), ("jax=0.4", ""), ("jax=0.4.*", ""), ("jax>=0.4.35", ""), ("jax", "")),
        *(("jax=*=*cuda*", ""), ("jax==0.4.35,<1", ""), ("jax=0.4.35|0.4.36", ""), ("jax>=0.4.3,<0.5", "")),
    ],
)
def test_specifications_of_conda(put: Put, spec: str, version: str) -> None:
    """A specification that admits one version is that version; others keep their text."""
    stack = locks.read(put(f'dependencies: ["{spec}"]', "environment.yml"))
    assert ({"jax": version}, {}) == (stack.versions, stack.unsaid) if version else {"jax": spec} == stack.unsaid


@pytest.mark.parametrize("name", [*LOCKS, "environment.yml", "pip.json"])
def test_locks_under_another_name(put: Put, name: str) -> None:
    """A lock is recognised by its content."""
    written = (SAMPLES / name).read_text()
    expected, found = (locks.read(put(written, each)) for each in (Path(name).name, "saved-from-another-branch"))
    assert (expected.versions, expected.unsaid) == (found.versions, found.unsaid)
    assert "jax" in expected.versions


UV_LOCK = (SAMPLES / "project" / "uv.lock").read_text()
UNKNOWN = "its format is unknown. Known are: uv.lock, poetry.lock"


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("environment.yml", "a: [1\n", "syntax: line 2: did not find expected ',' or ']'"),
        ("environment.yml", "[" * 100_000, "syntax: it is nested more than 50 deep"),
        ("environment.yml", "a: &b [1]\ndependencies: *b\n", "syntax: it has an alias, *b: write out"),
        ("environment.yml", "a: 1\n", "whole file: this YAML has none of `environments:`"),
        ("environment.yml", "dependencies: [{pip: [a b]}]\n", "pip, line 1: 'a b' is not a requirement"),
        ("poetry.lock", '[[package]]\nname = "jax"\n', "package.0.version: Field required"),
        ("poetry.lock", '[[package]]\nname = "jax"\nversion = "1"\nmarkers = "spam"\n', "package jax: "),
        ("uv.lock", '[[package]]\nversion = "1"\n', "package.0.name: Field required"),
        ("uv.lock", UV_LOCK[:700], "uv.lock: syntax: "),
        (
            *("uv.lock", UV_LOCK.replace('[[package]]\nname = "jaxlib"', '[[package]]\nname = "other"')),
            "package jaxlib: it is required but missing in the lock",
        ),
        ("Pipfile.lock", '{"default": {"jax": 1}}', "default.jax: Input should be"),
        ("pylock.toml", 'lock-version = "1.0"\npackages = []', "created-by: Missing required value"),
        (
            "pylock.toml",
            'lock-version = "7"\ncreated-by = "x"\npackages = []',
            "whole file: pylock version 7 is",
        ),
        ("pylock.toml", "a" + ".a" * 3000 + " = 1", "syntax: it has a key of more than 8 parts"),
        ("pylock.toml", "a = " + "[" * 5000, "syntax: it is nested too deep"),
        ("pylock.toml", 'lock-version = "1.0" \x00', "syntax: "),
        ("list.json", '{"error": "no such environment"}', "not a list of packages"),
        ("list.json", '[{"name": "jax"}]', "[0]: this is not a package"),
        ("list.json", '[{"name": "jax", "version": "1"}, {"name": "JAX", "version": "2"}]', "[1]: jax 2 contradicts"),
        ("list.json", "[" * 100_000, "nested too deep"),
        ("list.json", "[" + "1" * 5000 + "]", "syntax: Exceeds the limit"),
        ("Cargo.lock", '[[package]]\nname = "jax"\nversion = "0.4.35"\n', UNKNOWN),
        ("pyproject.toml", "", "check --bounds pyproject.toml"),
        ("setup.py", "", "uv pip compile setup.py -o requirements.txt, or check --from"),
        ("requirements.txt", "-r gone.txt", "line 1: there is no file 'gone.txt'"),
        ("requirements.txt", "-r ../../etc/passwd", "line 1: '../../etc/passwd' is outside the project"),
        ("requirements.txt", "-c /etc/passwd", "line 1: '/etc/passwd' is outside the project"),
        ("requirements.txt", "-r link.txt", "line 1: 'link.txt' is outside the project"),
        ("requirements.txt", "-r https://me:secret@a.b/all.txt", "line 1: 'https://a.b/all.txt' is not fetched"),
        ("requirements.txt", "-r a\x00b", "line 1: "),
        ("requirements.txt", "-r .", "line 1: there is no file '.'"),
        ("requirements.txt", "jax==0.4.35\n\njax==0.4.36", "line 3: jax 0.4.36 contradicts 0.4.35 of line 1"),
        ("requirements.txt", "jax==0.4.35,==0.4.36", "line 1: jax 0.4.36 contradicts 0.4.35 of line 1"),
        ("requirements.txt", "jax<0.4\njax==0.4.35+cuda12", "line 1: jax<0.4 contradicts 0.4.35+cuda12 of line 2"),
        ("requirements.txt", "jax==0.4.35,>=0.4.36", "line 1: jax==0.4.35,>=0.4.36 contradicts 0.4.35 of line 1"),
        ("requirements.txt", "jax==0.4.35+cuda12\njax==0.4.35+rocm6", "line 2: jax 0.4.35+rocm6 contradicts"),
        ("requirements.txt", "jax=0.4.35=py312_0", "line 1: 'jax=0.4.35=py312_0' is not a requirement"),
        ("requirements.txt", 'jax==0.4.35; spam == "1"', "is not a requirement"),
        ("requirements.txt", 'jax; python_version > "' + "(" * 20000 + '"', "more than 10000 characters"),
        ("requirements.txt", "jax; " + "(" * 4000 + "os_name > ''" + ")" * 4000, "nested too deep"),
        ("requirements.txt", "jax==0.4.35\nj\x00x==1", "line 2: 'j\\x00x==1' is not a requirement"),
        ("requirements.txt", f"jax==0.4.35\njax>={'9' * 5000}", "line 2: 'jax>=999"),
        ("Pipfile.lock", '{"default": {"jax": {}, "jax": {}}}', "'jax' is there twice: keep one"),
        ("environment.yml", "dependencies: [jax=0.4.30]\ndependencies: []", "'dependencies' is there twice: keep one"),
        ("requirements.txt", "--pre\n" * 20001, "line 20001: more than 20000 lines"),
        ("requirements.txt", b"jax==0.4.35 # \xff", "file: it is not UTF-8 text: see byte 14"),
    ],
)
def test_faults(put: Put, name: str, written: str | bytes, said: str) -> None:
    """A fault is reported once with its key or line, both lines of a contradiction, and what to do instead.

    An included file that is missing or outside the project is a fault too.
    """
    put("").with_name("link.txt").symlink_to("/etc/hostname")
    assert 1 == told(put(written, name)).count(said)


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("uv.lock", UV_LOCK.replace('requires-python = "', f'requires-python = ">={DIGITS}, ')),
        ("poetry.lock", f'[[package]]\nname = "jax"\nversion = "0.4.35"\npython-versions = ">={DIGITS}"\n'),
        ("poetry.lock", f'[[package]]\nname = "jax"\nversion = "0.4.35"\n[metadata]\npython-versions = "^{DIGITS}"\n'),
        ("Pipfile.lock", f'{{"_meta": {{"requires": {{"python_version": "{DIGITS}"}}}}, "default": {{"jax": {{}}}}}}'),
        ("environment.yml", f"dependencies: [jax=0.4.35, numpy={DIGITS}, scipy>={DIGITS}]"),
    ],
)
def test_thousands_of_digits_are_no_version(put: Put, name: str, written: str) -> None:
    """A version or a range of thousands of digits, which Python does not convert, does not end the answer."""
    assert locks.read(put(written, name)).names_stack


@pytest.mark.parametrize("mark", [".git", "pyproject.toml", ""])
def test_a_link_out_of_the_project_is_not_read(tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that is such a link, or is below one, is a fault, which does not quote its target."""
    project, secret = tmp_path / "project", tmp_path / "elsewhere" / "lock.txt"
    for path in (project / "in" / "real.txt", secret):
        path.parent.mkdir(parents=True)
        path.write_text("jax==0.4.35\nhunter2 is not a requirement", encoding="utf-8")
    if mark:
        (project / mark).touch()
    (project / "in" / "lock.txt").symlink_to(secret)
    (project / "below").symlink_to(secret.parent)
    (project / "ok.txt").symlink_to("in/real.txt")
    monkeypatch.chdir(project)

    for name in ("in/lock.txt", "below/lock.txt"):
        assert "a link out of the project" in told(Path(name))
        assert "hunter2" not in told(Path(name))
    assert "hunter2" in told(Path("ok.txt"))


def test_millions_of_comments_are_read_in_seconds(put: Put) -> None:
    """A lock of a million lines that say nothing is read quickly."""
    began = time.process_time()
    found = locks.read(put("#\n\n" * 500_000 + "jax==0.4.35\n"))

    assert ("0.4.35", True) == (found.versions["jax"], time.process_time() - began < 5)


def test_yaml_without_pyyaml(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyYAML, the error has the command that installs it; other files are read."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(Misused, match="python -m pip install pyyaml"):
        locks.read(SAMPLES / "pixi.lock")
    assert "jax" in locks.read(SAMPLES / "poetry.lock").versions


def test_pylock_whose_extras_exclude_each_other(put: Put) -> None:
    """A package that two extras of a pylock.toml pin differently has no version; both are reported."""
    pylock = 'lock-version = "1.0"\ncreated-by = "x"\nextras = ["cpu", "gpu"]\ndefault-groups = ["dev"]\n'
    pylock += 'dependency-groups = ["dev"]\n'
    for name, version, marker in (
        ("jax", "0.4.35", "'cpu' in extras"),
        ("jax", "0.4.36", "'gpu' in extras"),
        ("equinox", "0.11.8", "'dev' in dependency_groups"),
    ):
        pylock += f'[[packages]]\nname = "{name}"\nversion = "{version}"\nmarker = "{marker}"\n'
        pylock += f'sdist = {{ url = "https://a.b/{name}-{version}.tar.gz", hashes = {{ sha256 = "00" }} }}\n'
    stack = locks.read(put(pylock, "pylock.gpu.toml"))
    assert {"equinox": "0.11.8"} == stack.versions
    assert {"jax": "0.4.35 or 0.4.36, with other extras or groups"} == stack.unsaid


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("jax==0.4.35", "0.4.35"),
        ("JAX [cuda12] == 0.4.35", "0.4.35"),
        ("jax===0.4.35  # the last that works", "0.4.35"),
        ("jax==v0.4.35rc1", "0.4.35rc1"),
        ("jax==0.4.35.dev20241101+abc", "0.4.35.dev20241101"),
        ('jax==0.4.35; python_version > "3"', "0.4.35"),
        ("jax \\\n == \\\r\n 0.4.35 --hash=sha256:00", "0.4.35"),
        ("jax>=0.4\njax==0.4.35", "0.4.35"),
        ("jax==0.4.35+cuda12\njax==0.4.35", "0.4.35"),
        ("jax==0.7\njax==0.7.0", "0.7"),
        # PowerShell writes UTF-16.
        *(("jax==0.4.35\r\n".encode(encoding), "0.4.35") for encoding in ("utf-8-sig", "utf-16")),
        *((line, "") for line in ("", "# jax==0.4.35", "--pre", "-i https://a.b/simple", "-e .")),
        ('jax==0.4.35; python_version < "3"', ""),
    ],
)
def test_pins(put: Put, line: str | bytes, version: str) -> None:
    """A line that admits one version is that version, by its public name; equal versions do not contradict.

    Options, comments, the project itself and other machines' requirements are not packages.
    """
    stack = locks.read(put(line))
    assert ({"jax": version} if version else {}, {}) == (stack.versions, stack.unsaid)


@pytest.mark.parametrize(
    "line",
    [
        *("jax", "jax>=0.4", "jax==0.4.*", "jax~=0.4.30", "jax===strange", "jax @ git+https://a.b/jax@main"),
        *("git+https://a.b/c/jax.git@v1", "-e git+ssh://a.b/x.git#egg=jax", "-e ../jax", "./vendored/jax/"),
        *("C:\\my\\jax", "https://a.b/jax-0.4.35-py3-none-any.whl", "jax-0.4.35-py3-none-any.whl"),
        *("jax @ file:///w/jax-0.4.35.tar.gz", "https://a.b/google/jax/archive/main.zip", "--editable=/src/jax"),
    ],
)
def test_what_has_no_one_version(put: Put, line: str) -> None:
    """A range, a repository, an address or a folder has no version and keeps its text."""
    stack = locks.read(put(line))
    assert ({}, ["jax"]) == (stack.versions, list(stack.unsaid))
    assert stack.unsaid["jax"] in (line, "strange")


def test_a_place_is_what_is_installed(put: Put) -> None:
    """A package from a folder has no version, whatever other lines pin; long words of a line are cut."""
    assert len(locks.read(put(f"jax @ https://a.b/{'x' * 5000}.whl")).unsaid["jax"]) <= 300
    stack = locks.read(put("jax==0.4.35\n-e ./jax\njax>=0.4\n"))
    assert ({}, {"jax": "-e ./jax"}) == (stack.versions, stack.unsaid)


def test_includes_are_followed_once(put: Put) -> None:
    """Requirements and constraints that include each other are read once, relative to their own folder."""
    put("-r ../requirements.txt\n--constraint=pins.txt\nequinox", "deps/more.txt")
    put("equinox==0.11.8", "deps/pins.txt")
    path = put("-r deps/more.txt\n-rdeps/more.txt\n-r requirements.txt\njax==0.4.35\n")
    stack = locks.read(path)
    assert ({"jax": "0.4.35", "equinox": "0.11.8"}, {}) == (stack.versions, stack.unsaid)


def test_constraints_install_nothing(put: Put) -> None:
    """A constraint does not install a package, unless an installed package of the stack imports it."""
    put("diffrax==0.6.0\nequinox==0.11.8\njax==0.4.35\njaxlib==0.4.35", "pins.txt")
    stack = locks.read(put("equinox\n-c pins.txt"))
    assert {"equinox": "0.11.8", "jax": "0.4.35", "jaxlib": "0.4.35"} == stack.versions
    assert stack.where.endswith(", without packages that only constraints name: diffrax")
    included = locks.read(put("-c pins.txt\n-r pins.txt"))
    assert "0.6.0" == included.versions["diffrax"]


def test_tokens_are_not_told(put: Put) -> None:
    """Possible tokens in an address are removed; the commit stays."""
    stack = locks.read(put("jax @ https://a.b/jax.whl?token=abc&sig=def\nlineax @ git+https://u:p@a.b/l?rev=main\n"))
    assert {"jax": "jax @ https://a.b/jax.whl?…&…", "lineax": "lineax @ git+https://a.b/l?rev=main"} == stack.unsaid
    assert "abc" not in told(put("-r https://a.b/all.txt?token=abc"))


def test_hostile_names_are_one_printable_line(put: Put) -> None:
    """File names and words with line ends or control characters become one harmless line."""
    stack = locks.read(put('[{"name": "jax", "version": "x\\n::error::y"}]', "a\n::error::b\x1b[31m.json"))
    assert "a\\u000a::error::b\\u001b[31m.json" in stack.where
    assert "x\\u000a::error::y" == stack.unsaid["jax"]
    assert 1 == len(told(put("[", "a\n::error::b.json")).splitlines())


def test_chain_of_includes_has_no_end_of_its_own(put: Put) -> None:
    """A chain of a thousand included files is read."""
    for number in range(1000):
        put(f"-r {number + 1}.txt", f"{number}.txt")
    put("jax==0.4.35", "1000.txt")
    assert {"jax": "0.4.35"} == locks.read(put("-r 0.txt")).versions


def test_contradiction_between_two_files(put: Put) -> None:
    """If two files contradict each other, the error names both."""
    pins = put("\njax==0.4.36", "pins.txt")
    path = put("jax==0.4.35\n-c pins.txt")
    assert f"{pins}: line 2: jax 0.4.36 contradicts 0.4.35 of line 1 of {path}" in told(path)


@pytest.mark.parametrize("name", ["a; touch x.txt", "-r.txt", "$(x).json", "ж\n.txt", "..txt"])
def test_names_of_files_mean_nothing(put: Put, name: str) -> None:
    """A file's name is never taken for an option, a command or a path."""
    # A locale with few letters cannot have files with others in their names.
    name = os.fsdecode(name.encode())
    written = '[{"name": "jax", "version": "0.4.35"}]' if name.endswith("json") else "jax==0.4.35"
    assert {"jax": "0.4.35"} == locks.read(put(written, name)).versions


def test_what_is_not_a_file_is_not_waited_for(tmp_path: Path) -> None:
    """A folder, a missing file, an impossible name, a device and an endless file are errors at once."""
    assert "Is a directory" in told(tmp_path)
    assert "No such file" in told(tmp_path / "gone.txt")
    assert "null" in told(tmp_path / "a\x00b")
    assert "/dev/zero: file: it is a terminal or a device" in told(Path("/dev/zero"))
    (tmp_path / "large.txt").touch()
    os.truncate(tmp_path / "large.txt", 2**34)
    assert "large.txt: file: it is larger than 16 MiB" in told(tmp_path / "large.txt")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(OTHERS), cut=st.integers(0, 5000), at=st.integers(0, 5000), byte=st.integers(-1, 255))
@example("conda.json", 5000, 0, 0)
def test_files_cut_and_flipped(tmp_path: Path, name: str, cut: int, at: int, byte: int) -> None:
    """Every sample, cut anywhere and with any byte changed, yields a stack or faults."""
    damaged = bytearray((SAMPLES / name).read_bytes()[:cut])
    if byte >= 0 and at < len(damaged):
        damaged[at] = byte
    path = tmp_path / Path(name).name
    path.write_bytes(damaged)
    assert read_or_told(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=st.text(alphabet=st.sampled_from("jax=<>!~;@[](){}#'\"\\-+.0/:rce \n\x00\u2028é"), max_size=40))
def test_any_line(tmp_path: Path, line: str) -> None:
    """Any line of requirements yields a stack or a fault."""
    path = tmp_path / "requirements.txt"
    path.write_text(line, encoding="utf-8")
    assert read_or_told(path)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Pipfile.lock", '{"_meta": {}, "default": {"jax": {"version": "==0.4.35"}, "jax": {"version": "==0.10.2"}}}'),
        ("conda.json", '[{"name": "jax", "version": "0.4.35", "version": "0.10.2"}]'),
        ("environment.yml", "dependencies:\n- jax==0.4.35\ndependencies:\n- jax==0.10.2\n"),
    ],
)
def test_a_key_that_is_there_twice_is_refused(name: str, written: str, put: Put) -> None:
    """Of two values for one key, neither is the version that is meant."""
    with pytest.raises(BadFile, match="is there twice: keep one"):
        locks.read(put(written, name))
