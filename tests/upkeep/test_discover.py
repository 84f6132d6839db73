"""New releases: the news of an index, and the changes in the new cells."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.packages import HELD
from jax_stack_compat.stack import lock, plan, releases
from jax_stack_compat.stack import matrix as matrices
from jax_stack_compat.stack.releases import Wheels
from laboratory.cli.command_line import main
from laboratory.records.work import Work
from laboratory.run import runs, sizes
from laboratory.upkeep import discover, index
from tests.report.test_report import observation, report
from tests.upkeep.conftest import Serve

pytestmark = pytest.mark.usefixtures("elsewhere", "planned")
DAY = "2026-01-02T03:04:05Z"


Offered = dict[str, dict[str, list[str]]]


def answer(offered: Offered, path: str) -> tuple[str, str] | None:
    """A package index (PEP 691) made from package → version → requirements, with project pages and wheel metadata."""
    last = path.rstrip("/").rsplit("/", 1)[1]
    if last.endswith(".whl.metadata"):
        name, version = last.split("-")[:2]
        wants = "".join(f"Requires-Dist: {each}\n" for each in offered[name][version])
        return "text/plain", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{wants}"
    if last not in offered:
        return None
    files = [
        {
            **{"filename": name, "url": f"/simple/{last}/{name}", "hashes": {}, "requires-python": ">=3.10"},
            **{"upload-time": DAY, "core-metadata": True, "yanked": False, "size": 1},
        }
        for name in (f"{last}-{version}-py3-none-any.whl" for version in offered[last])
    ]
    page = {"meta": {"api-version": "1.1"}, "name": last, "versions": list(offered[last]), "files": files}
    return "application/vnd.pypi.simple.v1+json", json.dumps(page)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, serve: Serve) -> Offered:
    """Serve a real index on this machine as the user's, take a snapshot of it, and return what it offers."""
    there: Offered = {name: {} for name in HELD}
    there |= {"jax": {"0.4.30": ["numpy>=1.26"]}, "equinox": {"0.11.4": ["jax>=0.4.13"]}}
    for name in ("UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{serve(lambda path, _: answer(there, path))}/simple")
    monkeypatch.setattr(releases, "PATH", tmp_path / "releases.json")
    releases.save(index.snapshot())
    return there


@pytest.fixture
def planned(
    offered: Offered, replanned: None, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Plan only releases of jax, and write the report to a new folder."""
    matrix = tmp_path / "matrix.toml"
    line = '[line]\nreleases = ["jax"]\n'
    matrix.write_text(f'schema_version = 1\npython = "3.12"\n{line}', encoding="utf-8")
    monkeypatch.setattr(plan, "PATH", matrix)
    monkeypatch.setattr(matrices, "PATH", matrix)
    monkeypatch.setattr(discover, "REPORTS", tmp_path / "reports")


def told(entries: Sequence[Entry] = ()) -> str:
    """Return the output of a discovery that ends well."""
    console = Console(file=(screen := StringIO()), width=200)
    assert Exit.AS_EXPECTED == discover.discover(entries, console)
    return screen.getvalue()


def test_a_snapshot_is_what_the_index_offers(offered: Offered) -> None:
    """A snapshot has each release with its day, its requirements and its wheels, and no address."""
    release = releases.load().packages["equinox"]["0.11.4"]

    assert (["jax>=0.4.13"], ">=3.10", None) == (release.requires_dist, release.requires_python, release.yanked)
    assert {"py3": ["any"]} == {tag: each.platforms for tag, each in release.wheels.items()}
    assert "127.0.0.1" not in releases.PATH.read_text(encoding="utf-8")


def test_with_nothing_new_it_says_so(offered: Offered) -> None:
    """An index without news gives exit code 0 and a line that says so, and writes nothing."""
    before = releases.PATH.read_bytes()

    assert told().startswith("nothing is new since ")
    assert before == releases.PATH.read_bytes()


def test_a_new_release_without_a_cell_is_told(offered: Offered) -> None:
    """A new release of a package without cells goes into the snapshot, and nothing is run."""
    offered["lineax"] = {"0.1.0": []}

    said = told()
    assert "lineax 0.1.0" in said
    assert "no new release has a cell, so there is nothing to run" in said
    assert "0.1.0" in releases.load().packages["lineax"]


def test_a_yanked_release_is_told_as_that(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> None:
    """A yanked release is told as yanked, and nothing is run."""
    known = releases.load()
    release = known.packages["equinox"]["0.11.4"].model_copy(update={"yanked": "broken"})
    taken = known.model_copy(update={"packages": {**known.packages, "equinox": {"0.11.4": release}}})
    monkeypatch.setattr(index, "snapshot", lambda known, forget: taken)

    said = told()
    assert "equinox 0.11.4 (yanked since)" in said
    assert "no release is new, and yanked releases are not run again, so there is nothing to run" in said
    assert taken == releases.load()


def test_a_new_release_has_its_cell_run(offered: Offered, pageless: None) -> None:
    """A new release of jax is a new cell; an unavailable one is reported, and nothing else is run."""
    offered["jax"]["0.4.31"] = ["jaxlib==0.4.31"]

    entries = catalogue.select(["stack-smoke", "wraps-lower-bypass"])

    said = told(entries)
    assert ["jax-0.4.30", "jax-0.4.31"] == [cell.id for cell in plan.cells()]
    cases = sum(len(entry.cases(plan.cell("jax-0.4.31"))) for entry in entries)
    assert f"1 new cell: 0 of {cases} observations differ from the release before" in said


def test_an_index_that_does_not_resolve_leaves_the_snapshot_alone(
    offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new cell whose lock cannot be resolved is named, and its release stays new for the next try."""
    offered["jaxlib"] = {"0.4.31": []}
    offered["jax"]["0.4.31"] = ["jaxlib==0.4.31"]
    monkeypatch.setattr(lock, "LOCKS", releases.PATH.parent)

    with pytest.raises(Failed, match=r"jax-0\.4\.31"):
        told()

    assert "0.4.31" not in releases.load().packages["jax"]


Instead = Callable[[str, tuple[str, str]], None]
LOGIN = "<html><body><form>Log in</form><a href='/help'>Help</a></body></html>"


def page(files: str) -> str:
    """A page of links in HTML, as older indexes answer."""
    return f"<html><body>{files}</body></html>"


@pytest.fixture
def instead(offered: Offered, monkeypatch: pytest.MonkeyPatch, serve: Serve) -> Instead:
    """Replace the index's answer for addresses with this end."""

    def answers(end: str, told: tuple[str, str]) -> None:
        def otherwise(path: str, _: object) -> tuple[str, str] | None:
            return told if path.rstrip("/").endswith(end) else answer(offered, path)

        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{serve(otherwise)}/simple")

    return answers


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("/jax", ("text/html", LOGIN)),
        ("/jax", ("text/html", page("<a href='/jax-0.4.30-py3-none-any.whl'>jax-0.4.30-py3-none-any.whl</a>"))),
        ("/jax", ("text/html", page("<a href='x' data-upload-time='noon'>jax-0.4.30-py3-none-any.whl</a>"))),
        ("/jax", ("application/vnd.pypi.simple.v1+json", LOGIN)),
        ("/jax", ("application/vnd.pypi.simple.v1+json", "{}")),
        ("/jax", ("application/json", "{}")),
        ("/jax-0.4.31-py3-none-any.whl.metadata", ("text/plain", LOGIN)),
        ("/jax-0.4.31-py3-none-any.whl.metadata", ("text/plain", "Name: jax\nVersion: 9\n")),
    ],
)
@pytest.mark.parametrize("command", ["snapshot", "discover"])
def test_what_is_no_index_is_told(
    command: str,
    end: str,
    told: tuple[str, str],
    offered: Offered,
    instead: Instead,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A login page, an index without upload times, or any other answer gives exit code 3, and nothing changes."""
    before = releases.PATH.read_bytes()
    offered["jax"]["0.4.31"] = []
    instead(end, told)

    assert Exit.INCOMPLETE == main([command, "--forget"])

    assert "index" in capsys.readouterr().err
    assert before == releases.PATH.read_bytes()


@pytest.mark.parametrize("command", ["snapshot", "discover"])
def test_a_release_is_lost_only_where_that_is_asked_for(
    command: str, offered: Offered, capsys: pytest.CaptureFixture[str]
) -> None:
    """A release that the index has lost is named with exit code 3 and stays, unless --forget is given."""
    offered["equinox"] = {"0.11.5": []}

    assert Exit.INCOMPLETE == main([command])
    assert (
        "the index lost releases that releases.json has: equinox 0.11.4. Nothing is written" in capsys.readouterr().err
    )
    assert ["0.11.4"] == [*releases.load().packages["equinox"]]
    assert Exit.AS_EXPECTED == main([command, "--forget"])
    assert "forgotten: equinox 0.11.4" in capsys.readouterr().out
    assert ["0.11.5"] == [*releases.load().packages["equinox"]]


def test_a_wheel_is_not_lost_either(offered: Offered) -> None:
    """Lost wheels are named by interpreter and platform; new ones are not."""
    known = releases.load()
    had = known.packages["jax"]["0.4.30"]
    wheels = {"cp312": Wheels(newest=had.uploaded, platforms=["any", "one", "other"]), **had.wheels}
    more = had.model_copy(update={"wheels": wheels})
    before = known.model_copy(update={"packages": {**known.packages, "jax": {"0.4.30": more}}})

    assert ["jax 0.4.30 for cp312 on any, one, other"] == index.lost(before, known)
    assert [] == index.lost(known, before)
    assert [] == index.lost(known, known)


def test_a_change_is_against_the_release_before() -> None:
    """A change is between a new cell and the last cell before it in version order; other cells show none."""
    last = report(observation(cell="jax-0.4.9"), observation(cell="jax-0.4.30", behaviour="worse"))
    now = report(observation(cell="jax-0.5.0"), observation(cell="jax-0.6.0", behaviour="worse"))

    (found,) = discover.changes(last, now, ["jax-0.5.0"])

    told = "✗ worse, workaround holds → ✗ bad, workaround holds"
    assert f"jax-0.5.0 some-issue/headline: {told} (since jax-0.4.30, changed)" == discover.line(found)
    assert [] == discover.changes(report(observation(cell="jax-0.4.30")), now, ["jax-0.5.0"])


@pytest.fixture
def resolvable(offered: Offered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Offer jaxlib and a new jax, whose lock is a package of 5 MB that the tree does not know."""
    offered["jaxlib"] = {"0.4.31": []}
    offered["jax"]["0.4.31"] = ["jaxlib==0.4.31"]
    pins = ("jax==0.4.31", "jaxlib==0.4.31", "equinox==0.11.5", "diffrax==0.6.0", "new-package==1.0")
    text = "".join(f"{pin} \\\n    --hash=sha256:{'0' * 64}\n" for pin in pins)
    monkeypatch.setattr(lock, "resolve", lambda cell: (text, {"new-package==1.0": 5_000_000}))
    monkeypatch.setattr(sizes, "PATH", tmp_path / "sizes.json")
    (tmp_path / "locks").mkdir()
    shutil.copy(lock.LOCKS / "jax-0.4.30.txt", tmp_path / "locks")
    monkeypatch.setattr(lock, "LOCKS", tmp_path / "locks")


@pytest.mark.usefixtures("resolvable")
def test_a_plan_tells_cases_time_download_and_disk(tmp_path: Path) -> None:
    """With --plan, the new cells are listed with their cases, time, download and disk space; nothing is written."""
    entries = catalogue.select(["stack-smoke", "wraps-lower-bypass"])
    before = releases.PATH.read_bytes()
    console = Console(file=(screen := StringIO()), width=200)
    assert Exit.AS_EXPECTED == discover.discover(entries, console, only_plan=True)

    said = screen.getvalue()
    count = sum(len(entry.issue.cases) for entry in entries)
    assert f"1 cells, {count} observations: {count} to run\n" in said
    assert re.search(r"the cases take about \d+ s on \d+ cores?", said)
    assert "1 environments to make: up to 5 MB to fetch" in said
    assert "of disk space in" in said
    assert "nothing was written or run" in said
    assert before == releases.PATH.read_bytes()
    assert ["jax-0.4.30.txt"] == [path.name for path in (tmp_path / "locks").iterdir()]
    assert not (tmp_path / "reports").exists()


@pytest.mark.usefixtures("resolvable")
def test_the_newest_stack_is_tried_first(monkeypatch: pytest.MonkeyPatch, pageless: None) -> None:
    """The first run is row zero in the newest stack, and its answer is printed before the rest is run."""
    asked: list[list[str]] = []
    screen = StringIO()

    def run(works: Sequence[Work], *_: object) -> None:
        asked.append([f"{work.cell.id} {entry.issue.id}" for work in works for entry in work.entries])
        screen.write(f"run {len(asked)}\n")

    monkeypatch.setattr(runs, "run", run)
    entries = catalogue.select(["wraps-lower-bypass", "stack-smoke"])
    discover.discover(entries, Console(file=screen, width=200))

    both = ["jax-0.4.31 stack-smoke", "jax-0.4.31 wraps-lower-bypass"]
    assert [["jax-0.4.31 stack-smoke"], both] == [sorted(each) for each in asked]
    told = screen.getvalue()
    assert told.index("run 1") < told.index("jax-0.4.31: it is not known whether it imports") < told.index("run 2")


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        (["clear", "clear"], "jax-9 imports, trains and solves"),
        (["clear", "affected"], "jax-9 does not import, train or solve as it should"),
        (["blocked", "blocked"], "jax-9 does not import, train or solve as it should"),
        (["clear", "error"], "jax-9: it is not known whether it imports, trains and solves"),
        (["affected", "not-run"], "jax-9: it is not known whether it imports, trains and solves"),
        ([], "jax-9: it is not known whether it imports, trains and solves"),
    ],
)
def test_what_everybody_waits_for_is_a_sentence(verdicts: list[Verdict], says: str) -> None:
    """A stack works only if every case of row zero is clear; without an answer, the sentence says so."""
    assert says == discover.works("jax-9", [observation(verdict=verdict) for verdict in verdicts])
