"""The page of the programs, made from the kept data alone."""

from jax_stack_compat.catalogue import catalogue
from laboratory.programs import session
from laboratory.programs.model import Diff, Program, Programs
from laboratory.report.model import Report
from laboratory.report.site.build import site
from tests.programs.conftest import counted, programs, release
from tests.report.test_report import EMPTY
from tests.worlds import as_known

PAGE = "programs/h100-jax-0.9.1.html"


def reported(*issues: str) -> Report:
    """A report of three releases on these issues, or on the first."""
    cells = [session.cell(f"jax-{jax}") for jax in ("0.8.2", "0.9.0", "0.9.1")]
    return as_known(cells, catalogue.select([*issues]) if issues else catalogue.entries()[:1])


def changed(*, lines: list[str] | None = None, left_out: int = 0) -> Programs:
    """A softmax that needs fewer kernels since one release, with the diff if it is kept."""
    before, after = (release(jax, [counted(counts={"launches": n})]) for jax, n in (("0.9.0", 4), ("0.9.1", 2)))
    diff = Diff(workload="softmax", before=before.cell, after=after.cell, lines=lines or [], left_out=left_out)
    return programs(before, after).model_copy(update={"diffs": [] if lines is None else [diff]})


def test_the_page_says_that_nothing_was_run_and_shows_what_changed() -> None:
    """The page has counts along the releases, a change in bold and as a sentence, and missing counts with a reason."""
    before, after = ({"launches": each, "fusions": 1} for each in (4, 2))
    found = programs(
        release("0.9.0", [counted(counts=before, copies="not told <b>")]),
        release("0.9.1", [counted(counts=after, copies="not told <b>")]),
    )
    files = site(EMPTY, (), (found,))
    page = files["programs.html"]

    assert "compiled and never run" in page
    assert "<td>4<td><strong>2</strong>" in page
    assert "jax 0.9.1, after 0.9.0: softmax: 2 fewer kernel launches, 4 → 2" in page
    assert "copies: jax 0.9.0, 0.9.1" in page
    assert "<td>–<td>–" in page
    assert "not told <b>" not in page
    assert 'href="programs.html"' in files["index.html"]


def test_a_change_whose_programs_are_the_same_or_not_kept_says_so() -> None:
    """Equal HLO is shown differently from missing HLO."""
    same, gone = (site(EMPTY, (), (of,))[PAGE] for of in (changed(lines=[]), changed()))

    assert "The optimised HLO differs only in names of instructions" in same
    assert "The programs of both releases were not kept" in gone


def test_releases_between_that_were_not_compiled_are_named() -> None:
    """If a change may have come with several releases, it is not attributed to the last of them."""
    of = [release(jax, [counted(counts={"copies": copies})]) for jax, copies in (("0.8.2", 1), ("0.9.1", 2))]
    page = site(reported(), (), (programs(*of),))[PAGE]

    assert "Not compiled: jax 0.9.0. The changes came with one of them, or with 0.9.1." in page


def test_a_release_s_page_leads_to_what_it_changed() -> None:
    """A release's page names each device with its number of changed programs; without changes, it has no section."""
    files = site(reported(), (), (changed(),))

    assert (
        f'A device, compiled, not run: <a href="../{PAGE}">1 program changed</a>' in (files["releases/jax-0.9.1.html"])
    )
    assert "Programs for devices" not in files["releases/jax-0.9.0.html"]


def test_what_a_device_case_shows_stands_on_the_issue_with_the_platform() -> None:
    """The case appears under the target's title, with the line that shows it, and on the page of all programs."""
    shown = Program(workload="host-within-jit", source="one", seen="on-device", shown="multiply(%b<c>)")
    found = programs(release("0.9.0", [shown]))
    workloads = {"host-within-jit": found.workloads["softmax"]}
    files = site(reported("compute-on-aot", "stack-smoke"), (), (found.model_copy(update={"workloads": workloads}),))
    page = files["issues/compute-on-aot.html"].partition('id="_devices"')[2]

    assert "A device, compiled, not run" in page
    assert "✗ on-device</span> jax 0.9.0" in page
    assert "multiply(%b&lt;c&gt;)" in page
    assert '<td class="affected name">✗ on-device' in files["programs.html"]
    assert 'id="_devices"' not in files["issues/stack-smoke.html"]
