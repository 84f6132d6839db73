"""Device cases on programs that XLA wrote; each text was also read by a person."""

from pathlib import Path

import pytest

from jax_stack_compat.catalogue import catalogue
from laboratory.programs import cases, model, texts
from laboratory.programs.model import Program
from laboratory.programs.targets import TARGETS
from tests.programs.conftest import programs, release

TEXTS = Path(__file__).parent / "texts"
DONATED = "HloModule a, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, entry_computation_layout={}\n"


def judged(*told: tuple[str, str]) -> dict[str, str]:
    """Return the verdicts on programs with these behaviours."""
    of = [Program(workload=name, seen=seen, shown="a line") for name, seen in told]
    return dict(cases.verdicts(release("0.9.0", of)))


@pytest.mark.parametrize(
    ("name", "program", "behaviour", "shown"),
    [
        ("h100-jax-0.8.0-host-within-jit", "host-within-jit", "on-host", 'custom_call_target="HostExecute"'),
        ("h100-jax-0.4.38-host-within-jit", "host-within-jit", "on-device", "ROOT multiply.2.1 = f32[1024]{0} mul"),
        ("h100-jax-0.9.0-kept-where-false", "kept-where-false", "copies", "%copy.1 = f32[4096]{0} copy(%get-tuple"),
        ("h100-jax-0.9.0-kept-where-true", "kept-where-true", "in-place", "no copy of f32[4096] in the loop"),
    ],
)
def test_what_a_text_shows_is_named_with_its_line(name: str, program: str, behaviour: str, shown: str) -> None:
    """The line that shows a host thread, a GPU or a copy is returned; a copy before the loop does not count."""
    found, line = cases.seen(program, (TEXTS / f"{name}.hlo.txt").read_text(encoding="utf-8"), {"while_loops": 1}, "")

    assert behaviour == found
    assert shown in line


def kernel(target: str) -> str:
    """A program that calls a kernel by this name."""
    return f'HloModule a\n  custom-call(%x), custom_call_target="{target}"\n'


def moved(space: str) -> str:
    """A program that copies an array out of this memory."""
    return f"HloModule a\n  %copy-start = (f32[8]{{0:{space}}}, f32[8]{{0}}, u32[]) copy-start(%e)\n"


@pytest.mark.parametrize(
    ("program", "text", "counts", "behaviour"),
    [
        # A program without a loop gives no answer.
        ("kept-where-true", "HloModule a\n", {"while_loops": 0}, "no-loop"),
        # The result must reuse the argument's memory; then the size of temporaries shows if there is another array.
        ("donated-read-by-a-loop", DONATED, {"temporary_bytes": 2**20 + 513}, "copy"),
        ("donated-read-by-a-loop", DONATED, {"temporary_bytes": 2048}, "in-place"),
        ("donated-read-by-a-loop", DONATED, {}, "untold"),
        ("donated-read-by-a-loop", "HloModule a, is_scheduled=true\n", {"temporary_bytes": 2048}, "not-aliased"),
        # Memory space 5 is the host's.
        ("activations-on-the-host", moved("T(1024)S(5)"), {}, "offloaded"),
        ("activations-on-the-host", moved("S(1)"), {}, "kept"),
        # A kernel call has the name of its compiler; the name for another device decides nothing.
        ("kernel-for-a-gpu", kernel("__gpu$xla.gpu.triton"), {}, "triton"),
        ("kernel-for-a-gpu", kernel("mosaic_gpu_v2"), {}, "mosaic"),
        ("kernel-for-a-gpu", kernel("tpu_custom_call"), {}, ""),
        ("kernel-for-a-tpu", kernel("tpu_custom_call"), {}, "lowered"),
        ("without-a-kernel", "HloModule a\n  ROOT %f = f32[8,128]{1,0} fusion(%x), kind=kLoop\n", {}, "no-call"),
        # A workload without a case is counted, not judged.
        ("scan", "HloModule scan\n", {}, ""),
    ],
)
def test_a_program_shows_a_behaviour(program: str, text: str, counts: dict[str, int], behaviour: str) -> None:
    """Loops, aliases, the host's memory and calls of kernels are read in the text and in the counts."""
    assert behaviour == cases.seen(program, text, counts, "")[0]


@pytest.mark.parametrize(
    ("program", "refusal", "behaviour"),
    [
        ("host-around-jit", "AttributeError: 'function' object has no attribute 'lower'", "attribute-error"),
        ("host-around-jit", "XlaRuntimeError: out of memory", ""),
        ("kernel-for-a-gpu", "RuntimeError: No supported GPU devices found, please specify an abstract", "wants-a-gpu"),
    ],
)
def test_a_refusal_that_is_known_is_a_behaviour(program: str, refusal: str, behaviour: str) -> None:
    """A missing `.lower` is upstream's intention; another failure of the compiler gives no verdict."""
    assert behaviour == cases.seen(program, "", {}, refusal)[0]


def test_where_the_control_is_wrong_nothing_is_said_of_upstream() -> None:
    """If an issue's control fails, that issue's verdicts are errors, and no other issue's."""
    loop = [("kept-where-true", "copies"), ("host-within-jit", "on-host")]
    well, wrong = (judged(*loop, ("without-a-condition", seen)) for seen in ("in-place", "copies"))

    assert {"kept-where-true": "affected", "host-within-jit": "clear", "without-a-condition": "clear"} == well
    assert {**well, "kept-where-true": "error", "without-a-condition": "affected"} == wrong


def test_what_nobody_foresaw_is_different() -> None:
    """A behaviour without a verdict is `different`."""
    for program, behaviour in (("nothing-on-the-host", "on-host"), ("kept-where-true", "no-loop")):
        assert {program: "different"} == judged((program, behaviour))


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_published_is_what_the_kept_programs_show(target: str) -> None:
    """The tree has the text of each device case's program, and today's judgement of it agrees with the JSON."""
    found, kept = model.load(TARGETS[target]), texts.packed(TARGETS[target])
    of_cases = [
        f"{each.workload}/{release.cell}.txt"
        for release in found.releases
        for each in release.programs
        if each.workload in cases.BY_PROGRAM and not each.reason
    ]

    assert len(of_cases) > 50
    assert set(of_cases) <= set(kept)
    assert texts.judged(found) == found


def test_a_changed_judgement_applies_to_kept_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the judgement applies to programs whose text is in the tree; the others stay."""
    text = (TEXTS / "h100-jax-0.9.0-kept-where-false.hlo.txt").read_bytes()
    monkeypatch.setattr(texts, "packed", lambda target, folder: {"kept-where-false/jax-0.9.0.txt": text})
    of = [Program(workload=name, counts={"while_loops": 1}, seen="odd") for name in ("kept-where-false", "scan")]
    found = texts.judged(programs(release("0.9.0", of)), tmp_path)

    assert ["copies", "odd"] == [each.seen for each in found.releases[0].programs]


def test_every_case_names_a_case_of_an_issue_and_each_issue_has_a_control() -> None:
    """A device case belongs to a case that the catalogue has."""
    known = {(each.issue.id, case.id) for each in catalogue.entries() for case in each.issue.cases}

    assert {(each.issue, each.case) for each in cases.CASES} <= known
    assert {each.issue for each in cases.CASES} == {each.issue for each in cases.CASES if each.role == "control"}
