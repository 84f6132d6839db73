"""The judgement of a library's runs: what counts against a stack, and the name that an error says is missing."""

import pytest

from jax_stack_compat.environments.library_call import Failure
from jax_stack_compat.libraries import judge
from laboratory.libraries import offered
from laboratory.libraries.records import LibraryRecord
from laboratory.libraries.stacks import LibraryPair, as_of

_AS_OF = "2026-01-01T00:00:00Z"


def record(version: str, *failures: Failure, **more: object) -> LibraryRecord:
    """Return a record of `lib` 1.0 beside a release of jax."""
    told = {"key": "", "library": "lib", "release": "1.0", "package": "jax", "version": version, "as_of": _AS_OF}
    return LibraryRecord.model_validate({**told, "failures": failures, **more})


def behaviours(*records: LibraryRecord) -> list[str]:
    """Return what each record shows."""
    return [shown.behaviour for shown in judge.shown([record.ran for record in records], "lib").values()]


BROKEN = Failure(name="lib.part", error="ImportError: cannot import name 'x' from 'jax.y'", place="lib/part.py:1")


def test_a_module_that_imports_nowhere_does_not_count() -> None:
    """A module that fails on every release tells nothing about the stack."""
    assert behaviours(record("0.4.38", BROKEN), record("0.5.3", BROKEN)) == ["works", "works"]


def test_a_module_that_imports_on_another_release_counts() -> None:
    """A module that imports on one release and fails on the other is named."""
    assert behaviours(record("0.4.38"), record("0.5.3", BROKEN)) == ["works", "without-modules"]


def test_a_package_that_is_not_installed_does_not_count() -> None:
    """A module that needs a package which the library does not require tells nothing about the stack."""
    optional = Failure(name="lib.plot", error="ModuleNotFoundError: No module named 'matplotlib'", lacks="matplotlib")
    assert behaviours(record("0.4.38"), record("0.5.3", optional)) == ["works", "works"]


def test_a_library_that_lacks_a_package_tells_nothing() -> None:
    """A package that nothing requires may be installed in a user's stack, and jax has no part in it."""
    root = Failure(name="lib", error="ModuleNotFoundError: No module named 'IPython'", lacks="IPython")
    assert behaviours(record("0.4.38"), record("0.5.3", root)) == ["works", "unavailable"]


def test_a_task_that_works_nowhere_does_not_count() -> None:
    """A task that fails on each release is the table's fault."""
    failed = Failure(name="lib", error="TypeError: no")
    assert behaviours(record("0.4.38", task=failed), record("0.5.3", task=failed)) == ["imports", "imports"]
    assert behaviours(record("0.4.38"), record("0.5.3", task=failed)) == ["works", "task-fails"]


def test_a_run_with_other_packages_held_is_a_run_of_its_own() -> None:
    """A pair that fails and works with other packages held shows both."""
    failed = Failure(name="lib", error="AttributeError: type object 'x' has no attribute 'y'")
    runs = [record("0.5.3", failed).ran, record("0.5.3", held=True).ran]
    shown = judge.shown(runs, "lib")
    assert ("does-not-import", "works") == tuple(shown["jax", "0.5.3", held].behaviour for held in (False, True))


def test_a_dependency_without_wheels_is_no_conflict() -> None:
    """What an installer would build, or another interpreter run, says nothing about metadata."""
    words = "error: Because all versions of gym have no usable wheels and lib==1.0 depends on gym, we can conclude"
    metadata = "error: Because dep depends on jax>=0.5 and lib==1.0 depends on dep, we can conclude that"
    assert ["unavailable"] == behaviours(record("0.5.3", conflict=words))
    assert ["excluded"] == behaviours(record("0.5.3", conflict=metadata))


def test_the_library_itself_does_not_import() -> None:
    """The failure of the library's own module comes first."""
    root = Failure(name="lib", error="AttributeError: module 'jax.core' has no attribute 'Effects'")
    assert behaviours(record("0.4.38"), record("0.5.3", root)) == ["works", "does-not-import"]


def test_a_process_that_dies_is_a_crash() -> None:
    """A process that ends in the library's import, or in its task, crashes; one that ends in a part does not."""
    died = {"ended": "exit status 139"}
    assert behaviours(record("0.5.3", during="task lib", **died)) == ["crashes"]
    assert behaviours(record("0.5.3", during="import lib", **died)) == ["crashes"]
    assert behaviours(record("0.5.3", during="import lib.part", **died)) == ["works"]


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("AttributeError: module 'jax.core' has no attribute 'Effects'", "jax.core.Effects"),
        ("ImportError: cannot import name 'Jaxpr' from 'jax.core' (jax/core.py)", "jax.core.Jaxpr"),
        ("ModuleNotFoundError: No module named 'jax.experimental.maps'", "jax.experimental.maps"),
        ("AttributeError: jax.core.Effects  was deprecated in JAX v0.10.0 and removed in v0.11", "jax.core.Effects"),
        ("TypeError: unexpected keyword", ""),
    ],
)
def test_an_error_names_what_is_missing(error: str, name: str) -> None:
    """The missing name is read from the error's words."""
    assert judge.needed(error) == name


def test_another_package_is_blamed_by_the_line_that_raised() -> None:
    """Where a dependency's code raised, the dependency is named with its version."""
    inside = Failure(name="lib", error="AttributeError: x", place="tensorflow_probability/a.py:3")
    pins = {"tensorflow-probability": "0.25.0"}
    (shown,) = judge.shown([record("0.5.3", inside, pins=pins).ran], "lib").values()
    assert shown.by == "tensorflow-probability 0.25.0"


def test_a_pair_is_resolved_as_of_the_later_day() -> None:
    """The later of the two releases decides what an installer may choose."""
    library, release = "optax", list(offered.load().libraries["optax"])[-1]
    uploaded = offered.load().libraries[library][release].uploaded
    assert as_of(LibraryPair(library, release, "jax", "0.4.38")) > uploaded
