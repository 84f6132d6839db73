"""The command `programs`: cached programs, error sentences, and the inputs that a program depends on."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Failed, Misused
from jax_stack_compat.stack import lock
from jax_stack_compat.stack.plan import Cell
from laboratory.programs import cases, compiling, model, session, sources, texts, wheels
from laboratory.programs.compiling import Compiled
from laboratory.programs.model import Programs, Workload
from laboratory.programs.targets import TARGETS, Target
from laboratory.programs.wheels import DeviceWheels
from laboratory.run import environment
from laboratory.run.environment import Environment, Unprepared
from tests.processes import program
from tests.programs.conftest import counted, programs, release

H100 = TARGETS["h100"]
CELLS = [session.cell("jax-0.9.0"), session.cell("jax-0.9.1")]


@dataclass
class World:
    """A machine that installs and compiles nothing; it records its orders and gives fixed answers."""

    kept: Path
    compiled: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=lambda: {"scan": "one"})
    offline: bool = False
    uninstallable: bool = False

    def run(self, *cells: Cell, fresh: bool = False) -> Exit:
        """The command, for an H100."""
        return session.carry_out(cells, "h100", None, Terminal(width=300), fresh=fresh)

    def known(self) -> Programs:
        """Return the kept programs."""
        return model.load(H100, self.kept)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Such a machine."""
    made = World(tmp_path / "programs")

    def obtain(cell: Cell, target: Target) -> DeviceWheels:
        if made.offline:
            raise Failed(f"{cell.id}: the index cannot be reached")
        return DeviceWheels(cell, lock.load(cell), {"jax-cuda12-pjrt==0.9.0": 150_000_000})

    def prepare(cell: Cell, pinned: lock.Lock) -> Environment:
        if made.uninstallable:
            raise Unprepared("error", "install.no-wheel", "jax-cuda12-pjrt has no wheel for this platform")
        return Environment(Path("python"), "3.12.1")

    def compile(
        executable: Path, cell: str, target: str, wanted: Sequence[str], note: Callable[[int, str], None]
    ) -> Compiled:
        made.compiled.append(f"{cell.partition('+')[0]} {' '.join(wanted)}")
        workloads = {name: Workload(title=f"A {name}.") for name in made.sources}
        return Compiled(workloads, [counted(name, {"copies": len(made.compiled)}) for name in wanted])

    load, save, pack = model.load, model.save, texts.pack
    monkeypatch.setattr(model, "load", lambda target, folder=made.kept: load(target, folder))
    monkeypatch.setattr(model, "save", lambda found: save(found, made.kept))
    monkeypatch.setattr(texts, "pack", lambda target, found: pack(target, found, made.kept))
    monkeypatch.setattr(wheels, "obtain", obtain)
    monkeypatch.setattr(environment, "prepare", prepare)
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path / "envs")
    monkeypatch.setattr(compiling, "compile", compile)
    monkeypatch.setattr(sources, "programs", lambda: made.sources)
    return made


def test_what_is_known_is_not_compiled_again(world: World) -> None:
    """A second run of the same releases compiles nothing; a new release is compiled; `--fresh` compiles all."""
    assert Exit.AS_EXPECTED == world.run(CELLS[0])
    assert Exit.AS_EXPECTED == world.run(CELLS[0])
    assert ["jax-0.9.0 scan"] == world.compiled
    world.run(*CELLS)
    assert ["jax-0.9.0 scan", "jax-0.9.1 scan"] == world.compiled
    world.run(*CELLS, fresh=True)
    assert 4 == len(world.compiled)


def test_a_new_workload_has_only_itself_compiled(world: World) -> None:
    """A new or changed workload is compiled alone; the others stay, in the workloads' order."""
    world.run(CELLS[0])
    world.sources = {"fft": "one", **world.sources}
    world.run(CELLS[0])
    world.sources["scan"] = "two"
    world.run(CELLS[0])

    assert ["jax-0.9.0 scan", "jax-0.9.0 fft", "jax-0.9.0 scan"] == world.compiled
    (kept,) = world.known().releases
    assert [("fft", "one", 2), ("scan", "two", 3)] == [
        (each.workload, each.source, each.counts["copies"]) for each in kept.programs
    ]


@pytest.mark.parametrize("moved", ["recipe", "wheel", "lock"])
def test_what_a_program_follows_from_has_it_compiled_again(
    world: World, moved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key changes with the code that compiles or counts, with the wheel, and with the lock."""
    world.run(CELLS[0])
    if moved == "recipe":
        monkeypatch.setattr(sources, "recipe", lambda: "another")
    elif moved == "wheel":
        monkeypatch.setattr(wheels, "wanted", lambda cell, target: "jax-cuda12-plugin==0.9.0.1")
    else:
        other = lock.load(CELLS[1])
        monkeypatch.setattr(lock, "load", lambda cell: other)
    world.run(CELLS[0])

    assert 2 == len(world.compiled)


def test_without_an_index_what_is_known_stays(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Offline, each unknown release has a sentence; the others are unchanged."""
    world.run(CELLS[0])
    before = (world.kept / "h100.json").read_bytes()
    world.offline = True

    assert Exit.INCOMPLETE == world.run(*CELLS)
    assert "not compiled: jax-0.9.1: the index cannot be reached" in capsys.readouterr().out
    assert before == (world.kept / "h100.json").read_bytes()


def test_without_a_wheel_for_this_machine_there_is_a_sentence(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """If this machine cannot compile, nothing is recorded about the release, which is not at fault."""
    world.uninstallable = True

    assert Exit.INCOMPLETE == world.run(CELLS[0])
    assert "not compiled: jax-0.9.0: jax-cuda12-pjrt has no wheel for this platform" in capsys.readouterr().out
    assert [] == world.known().releases


def test_what_is_kept_is_read_back_and_a_program_is_a_line(tmp_path: Path) -> None:
    """A file is read as it was written; each program has a line, in the order of the releases."""
    of = [release(jax, [counted(counts={"copies": 1}, flops="not told")]) for jax in ("0.9.1", "0.8.2")]
    found = programs(*of)
    model.save(found, tmp_path)

    assert found == model.load(H100, tmp_path)
    lines = (tmp_path / "h100.json").read_text(encoding="utf-8").splitlines()
    assert 2 == sum(line.startswith('{"workload": "softmax"') for line in lines)
    assert ["jax-0.8.2", "jax-0.9.1"] == [each.cell for each in found.releases]


def test_a_compiler_that_dies_goes_on_without_what_ended_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a program ends the compiler, the signal is reported, and a new process compiles the rest."""
    # Replaces a cell's interpreter, and dies in its second workload.
    script = program(
        tmp_path / "python",
        """echo '{"workloads": {"a": {"title": "A."}, "b": {"title": "B."}, "c": {"title": "C."}}}'""",
        'shift 7; for name in "$@"; do echo "{\\"starts\\": \\"$name\\"}"',
        "if [ $name = b ]; then kill -SEGV $$; fi",
        'echo "{\\"workload\\": \\"$name\\", \\"counts\\": {\\"copies\\": 1}}"; done',
    )
    monkeypatch.setattr(compiling, "LOGS", tmp_path)
    found = compiling.compile(script, "jax-0.9.0+h100", "h100", ["a", "b", "c"], lambda done, doing: None)

    assert ["a", "b", "c"] == [each.workload for each in found.programs]
    assert ["", "the program ended the compiler: SIGSEGV", ""] == [each.reason for each in found.programs]


@pytest.mark.parametrize("signal", ["TERM", "KILL"])
def test_a_compiler_that_was_ended_says_nothing_of_the_release(
    signal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a user or a lack of memory ended the compiler, no program is recorded as failing."""
    lines = ['{"workloads": {"a": {"title": "A."}}}', '{"starts": "a"}']
    script = program(tmp_path / "python", *(f"echo '{line}'" for line in lines), f"kill -{signal} $$")
    monkeypatch.setattr(compiling, "LOGS", tmp_path)

    with pytest.raises(compiling.CompilerEnded, match=f"ended by SIG{signal}, by somebody or for lack of memory, in a"):
        compiling.compile(script, "jax-0.9.0+h100", "h100", ["a"], lambda done, doing: None)


def test_only_releases_that_can_are_asked() -> None:
    """A release that is too old to compile for an absent device is refused."""
    with pytest.raises(Misused, match=r"no release of jax since 0\.4\.38 is called 'jax-0\.4\.36'"):
        session.cell("jax-0.4.36")
    assert "jax-0.4.38" == session.every_cell()[0].id


def test_a_diff_of_what_was_not_compiled_says_what_compiles_it() -> None:
    """Without the two programs there is no diff, but the command that makes them."""
    with pytest.raises(Misused, match=r"`nox -s device-programs -- jax-0\.9\.0 --target v5e --fresh` compiles it"):
        session.carry_out((), "v5e", ("jax-0.9.0", "jax-0.9.1", "no-such"), Terminal(), fresh=False)


def test_the_tree_keeps_the_programs_that_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first program and both sides of each change are kept, and a clone shows the diff."""
    of = {"0.8.2": 1, "0.8.3": 1, "0.9.0": 1, "0.9.1": 2}
    monkeypatch.setattr(compiling, "TEXTS", tmp_path / "texts")
    monkeypatch.setattr(model, "FOLDER", tmp_path)
    for jax, copies in of.items():
        path = tmp_path / "texts" / f"jax-{jax}+h100" / "softmax.hlo.txt"
        path.parent.mkdir(parents=True)
        path.write_text(f"%copy.{copies} = f32[] copy(%x.{jax})\n" * copies, encoding="utf-8")
    found = programs(*(release(jax, [counted(counts={"copies": copies})]) for jax, copies in of.items()))
    texts.pack(H100, found, tmp_path)
    first = (tmp_path / "h100.hlo.tar.xz").read_bytes()
    shutil.rmtree(tmp_path / "texts")
    texts.pack(H100, found, tmp_path)

    assert first == (tmp_path / "h100.hlo.tar.xz").read_bytes()
    shown = list(texts.diff(H100, "jax-0.8.2", "jax-0.9.1", "softmax"))
    assert ["@@ -1 +1,2 @@", " %copy = f32[] copy(%x)", "+%copy = f32[] copy(%x)"] == shown[2:]
    (kept,) = texts.with_diffs(found, tmp_path).diffs
    assert ("jax-0.9.0", "jax-0.9.1", shown[2:], 0) == (kept.before, kept.after, kept.lines, kept.left_out)
    with pytest.raises(Misused):
        list(texts.diff(H100, "jax-0.8.3", "jax-0.9.1", "softmax"))


def test_a_real_release_compiles_for_an_h100() -> None:
    """If the wheels are installed, jax compiles a scan for an H100, and the counts equal those of the saved text."""
    ids = [f"{each.id}+h100" for each in session.every_cell()]
    made = [each for each in ids if (environment.ENVIRONMENTS / each / "suite.json").exists()]
    if not made:
        pytest.skip("no environment with a compiler for an H100: `nox -s device-programs -- --target h100` makes them")
    executable = environment.ENVIRONMENTS / made[-1] / "bin" / "python"
    found = compiling.compile(executable, f"{made[-1]}-tried", "h100", ["scan"], lambda done, doing: None)

    (program,) = found.programs
    assert (1, 3232, 448) == tuple(program.counts[name] for name in ("while_loops", "argument_bytes", "output_bytes"))


TEXT = """
def _array(n):
    return n

def _scan():
    return _array(8)

def _fft():
    return 1

ROWS = {"scan": Workload("A scan", _scan, ("equinox",)), "fft": Workload("A transform", _fft, options=NONE)}
NONE = {}
"""


@pytest.mark.parametrize(
    ("old", "new", "others"),
    [
        ("return n", "return n + 1", {"scan"}),
        ("return 1", "return 2", {"fft"}),
        ("NONE = {}", "NONE = {1: 2}", {"fft"}),
        ('("equinox",)', '("diffrax",)', {"scan"}),
        ("A scan", "Another scan", set()),
    ],
)
def test_a_program_follows_from_what_it_names_and_from_nothing_else(old: str, new: str, others: set[str]) -> None:
    """A program's hash changes with a helper, value or argument of its row, but not with its title or another row."""
    before, after = (sources.of_tables(text) for text in (TEXT, TEXT.replace(old, new)))

    assert others == {name for name in before if before[name] != after[name]}


def test_every_program_is_found_and_each_has_a_source_of_its_own() -> None:
    """The programs of all device cases are compiled, and no two are equal."""
    found = sources.programs()

    assert set(cases.BY_PROGRAM) < set(found)
    assert len(found) == len(set(found.values()))
