"""The first release of a pull request or commit, read from a tiny git clone."""

import subprocess
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from jax_stack_compat.base.errors import Failed, Misused
from jax_stack_compat.base.files import dump, read
from laboratory.sources.threads import Threads
from laboratory.upkeep import landed
from laboratory.upkeep.landed import Clone, clone

REPOSITORY = "patrick-kidger/diffrax"
TITLES = {1: "closed", 2: "merged", 3: "merged", 4: "merged", 5: "merged", 6: "open", 7: "merged", 8: "merged"}


class Upstream:
    """A repository of diffrax's name, in which each commit is a line, and the file that is renewed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder / "clone", folder / "threads.json"
        self.folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        threads = {
            f"{REPOSITORY}#{number}": {"kind": "pull", "title": f"Change {number}", "state": state}
            for number, state in TITLES.items()
        }
        self.path.write_text(dump({"schema_version": 3, "threads": threads, "first_releases": {}}))

    def git(self, *words: str) -> str:
        """Run git in the clone."""
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false")
        ran = subprocess.run(["git", *who, *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    def commit(self, *paragraphs: str) -> str:
        """Make an empty commit; return its id."""
        self.git("commit", "--quiet", "--allow-empty", *(word for text in paragraphs for word in ("-m", text)))
        return self.git("rev-parse", "HEAD")

    def renew(self, *references: str) -> tuple[dict[str, str | None], list[str]]:
        """Return the first releases by what follows the repository's name, and the printed lines."""
        console = Console(file=(out := StringIO()))
        named = [f"{REPOSITORY}{each}" for each in references]
        landed.renew(named, [Clone(REPOSITORY, self.folder)], console, path=self.path)
        found = read(Threads, self.path).first_releases
        return {ref.removeprefix(REPOSITORY): release for ref, release in found.items()}, out.getvalue().splitlines()

    def state(self, number: int) -> str:
        """Return the state of a pull request in the file."""
        return read(Threads, self.path).threads[f"{REPOSITORY}#{number}"].state


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    """Return a repository with a release."""
    made = Upstream(tmp_path)
    made.commit("first")
    made.git("tag", "v0.5.0")
    return made


def test_a_merge_is_found_by_number_and_by_title(upstream: Upstream) -> None:
    """A bot's copy, a squash, a merge commit and a rebase name a pull request, and its first tag is the release."""
    upstream.commit("Copied", f"COPYBARA_INTEGRATE_REVIEW=https://github.com/{REPOSITORY}/pull/1 from a:b 123")
    upstream.git("tag", "v0.6.0")
    upstream.commit("Squashed (#2)")
    upstream.commit("Merge pull request #3 from a/b")
    upstream.git("tag", "v0.7.0rc1")
    upstream.commit("change 4")
    upstream.git("tag", "v0.7.0")
    found, lines = upstream.renew("#1", "#2", "#3", "#4", "#6")
    assert {"#1": "0.6.0", "#2": "0.7.0", "#3": "0.7.0", "#4": "0.7.0"} == found
    assert "merged" == upstream.state(1)
    assert "open" == upstream.state(6)
    assert [f"{REPOSITORY}#1: merged, not closed", f"{REPOSITORY}#6: not in the clone"] == lines[:2]


def test_a_cherry_pick_is_the_commit(upstream: Upstream) -> None:
    """A release from a branch has what was picked for it, under another id."""
    picked = upstream.commit("Fix")
    upstream.git("tag", "v0.7.0")
    upstream.git("checkout", "--quiet", "-b", "branch", "v0.5.0")
    upstream.git("cherry-pick", "--allow-empty", picked)
    upstream.git("tag", "v0.5.1")
    upstream.git("checkout", "--quiet", "main")
    assert {f"@{picked[:10]}": "0.5.1"} == upstream.renew(f"@{picked[:10]}")[0]


def test_what_was_rolled_back_is_not_known(upstream: Upstream) -> None:
    """A release that has a change and its reversal does not have the change."""
    taken = upstream.commit("Change (#5)")
    upstream.commit("Another", f"Reverts {taken}")
    upstream.commit("Change (#7)")
    upstream.commit("roll back #7 because it broke a test")
    upstream.git("tag", "v0.7.0")
    assert {} == upstream.renew("#5", "#7")[0]


def test_null_is_said_of_a_whole_clone_only(upstream: Upstream) -> None:
    """What no tag has is in no release, unless the index has a newer release than the clone."""
    change = upstream.commit("Change (#8)")
    found, lines = upstream.renew("#8", f"@{change[:7]}")
    assert {} == found
    assert f"{REPOSITORY}#8: newer than 0.5.0, the newest release in the clone" in lines
    upstream.git("tag", "v99.0", "v0.5.0")
    assert {"#8": None, f"@{change[:7]}": None} == upstream.renew("#8", f"@{change[:7]}")[0]


def test_other_repositories_stay(upstream: Upstream) -> None:
    """A renewal from some clones keeps what was read from others."""
    known = read(Threads, upstream.path).model_copy(update={"first_releases": {"jax-ml/jax@abcdef0": "0.5.0"}})
    upstream.path.write_text(dump(known.model_dump(mode="json")))
    landed.renew(["jax-ml/jax@abcdef0"], [Clone(REPOSITORY, upstream.folder)], Console(), path=upstream.path)
    assert {"jax-ml/jax@abcdef0": "0.5.0"} == read(Threads, upstream.path).first_releases


def test_a_clone_is_named_with_its_repository(tmp_path: Path) -> None:
    """A folder that is not a clone is a failure, and a text without a repository is misuse."""
    with pytest.raises(Failed, match="git cannot read"):
        _ = clone(f"{REPOSITORY}={tmp_path}").commits
    with pytest.raises(Misused, match="OWNER/NAME=FOLDER"):
        clone(str(tmp_path))
