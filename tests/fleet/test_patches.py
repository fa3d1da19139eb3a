"""What has changed in a working copy is found, whatever the agent does, and can be made in the original."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from acp_host.fleet.branches import commit_patch
from acp_host.fleet.git import GitFailed
from acp_host.fleet.patches import ChangedFile, Changes, apply_patch, changed_files, joined
from acp_host.fleet.working_copies import CopyKind, WorkingCopy, make_copy
from tests.fleet.surroundings import files_of, git, repository

KINDS = [CopyKind.WORKTREE, CopyKind.CLONE, CopyKind.COPY]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = repository(tmp_path / "project", **{".gitignore": "*.log\n", "run.sh": "true\n", "old.txt": "old\n"})
    (repo / "uncommitted.txt").write_text("here\n")
    return repo


def kinds(files: tuple[ChangedFile, ...]) -> dict[str, str]:
    return {file.path: str(file.kind) for file in files}


def mess(root: Path) -> None:
    """Change something in every way."""
    (root / "src/code.txt").write_text("two\n")
    (root / "uncommitted.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    (root / "naïve name\t.txt").write_text("no newline")
    (root / "picture.bin").write_bytes(bytes(range(256)) * 40)
    (root / "link").symlink_to("src/code.txt")
    (root / "old.txt").unlink()
    (root / "run.sh").chmod(0o755)
    (root / "noise.log").write_text("ignored")
    (root / "looks.txt").write_text("diff --git a/x b/x\n--- a/x\n+++ b/x\n")


@pytest.mark.parametrize("kind", KINDS)
def test_every_change_is_found_and_can_be_made_elsewhere(repo: Path, tmp_path: Path, kind: CopyKind) -> None:
    copy = make_copy(str(repo), tmp_path / "place", kind=kind)
    assert changed_files(copy) == Changes()
    mess(Path(copy.root))
    files = changed_files(copy).files
    assert kinds(files) == {
        "link": "created",
        "looks.txt": "created",
        "naïve name\t.txt": "created",
        "old.txt": "deleted",
        "picture.bin": "created",
        "run.sh": "mode",
        "src/code.txt": "modified",
        "uncommitted.txt": "modified",
    }
    assert all(file.patch.startswith(b"diff --git ") and file.patch.endswith(b"\n") for file in files)
    assert joined(files).count(b"\ndiff --git ") == len(files) - 1
    apply_patch(joined(files), repo)
    expected = files_of(copy.root)
    del expected["noise.log"]
    assert files_of(repo) == expected
    assert os.readlink(repo / "link") == "src/code.txt"
    assert os.access(repo / "run.sh", os.X_OK)
    apply_patch(joined(files), repo, reverse=True)
    assert (repo / "src/code.txt").read_text() == "one\n"


def test_what_the_agent_commits_is_a_change_like_any_other(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(str(repo), tmp_path / "place")
    root = Path(copy.root)
    (root / "src/code.txt").write_text("two\n")
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "-m", "Done", cwd=root)
    git("update-index", "--assume-unchanged", "old.txt", cwd=root)
    (root / "old.txt").write_text("bent\n")
    assert kinds(changed_files(copy).files) == {"src/code.txt": "modified", "old.txt": "modified"}


def test_a_patch_is_made_or_not_as_a_whole(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(str(repo), tmp_path / "place")
    mess(Path(copy.root))
    (repo / "src/code.txt").write_text("meanwhile\n")
    before = files_of(repo)
    with pytest.raises(GitFailed, match="does not apply"):
        apply_patch(joined(changed_files(copy).files), repo)
    assert files_of(repo) == before


def test_a_branch_has_them_and_no_file_is_touched(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(str(repo), tmp_path / "place")
    (Path(copy.root) / "src/code.txt").write_text("two\n")
    before, status = files_of(repo), git("status", "--porcelain", cwd=repo)
    assert copy.commit is not None
    patch = joined(changed_files(copy).files)
    made = commit_patch(patch, repo, onto=copy.commit, branch="agents/one", message="Two")
    assert git("log", "--format=%H %s", "agents/one", cwd=repo).splitlines()[0] == f"{made} Two"
    assert git("show", "agents/one:src/code.txt", cwd=repo) == "two\n"
    assert (files_of(repo), git("status", "--porcelain", cwd=repo)) == (before, status)
    assert commit_patch(patch, repo, onto=copy.commit, branch="agents/one", message="Again") == made, "it is there"
    with pytest.raises(GitFailed):
        commit_patch(b"", repo, onto=copy.commit, branch="agents/one", message="Other")
    commit_patch(patch, repo, onto=copy.commit, branch="agents/two", message="caf\udce9")
    assert git("log", "-1", "--format=%s", "agents/two", cwd=repo).strip() == "caf?"
    with pytest.raises(GitFailed):
        commit_patch(patch, repo, onto=copy.commit, branch="-option", message="No")


def evil_repository(path: Path, proof: Path) -> None:
    """Make a repository that runs a program whenever git looks at it."""
    git("init", "--quiet", str(path), cwd=path.parent)
    for name in ("core.fsmonitor", "filter.evil.clean", "diff.evil.textconv", "diff.evil.command", "core.pager"):
        git("config", name, f"touch {proof}; cat", cwd=path)
    (path / ".gitattributes").write_text("* filter=evil diff=evil\n")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_the_agent_has_configured_is_run(repo: Path, tmp_path: Path, kind: CopyKind) -> None:
    proof = tmp_path / "was-run"
    copy = make_copy(str(repo), tmp_path / "place", kind=kind)
    root = Path(copy.root)
    git_place = root / ".git"
    shutil.rmtree(git_place) if git_place.is_dir() else git_place.unlink()
    evil_repository(root, proof)
    (root / "inner").mkdir()
    evil_repository(root / "inner", proof)
    (root / "src/code.txt").write_text("two\n")
    assert kinds(changed_files(copy).files)["src/code.txt"] == "modified"
    assert not proof.exists()
    git("status", cwd=root)  # it works, so that the test means something
    assert proof.exists()


def test_a_patch_does_not_get_out_of_the_directory_or_into_its_git(repo: Path, tmp_path: Path) -> None:
    begin = b"new file mode 100644\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1 @@\n+evil\n"
    (repo / "out").symlink_to(tmp_path)
    for path in (b"../evil.txt", b".git/hooks/pre-commit", b"out/evil.txt"):
        with pytest.raises(GitFailed):
            apply_patch(b"diff --git a/%b b/%b\n" % (path, path) + begin % path, repo)
    assert not (tmp_path / "evil.txt").exists()
    assert not (repo / ".git/hooks/pre-commit").exists()


def test_in_a_directory_that_is_in_somebody_elses_repository(repo: Path, tmp_path: Path) -> None:
    plain = repo / "data.log"
    plain.mkdir()
    (plain / "a.txt").write_text("a\n")
    copy = make_copy(str(plain), tmp_path / "place")
    (Path(copy.root) / "a.txt").write_text("b\n")
    apply_patch(joined(changed_files(copy).files), plain)
    assert (plain / "a.txt").read_text() == "b\n"


def test_changes_of_a_repository_that_the_agent_makes_are_not_told_but_that_is(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(str(repo), tmp_path / "place")
    repository(Path(copy.root) / "mine")
    (Path(copy.root) / "src/code.txt").write_text("two\n")
    changes = changed_files(copy)
    assert kinds(changes.files) == {"src/code.txt": "modified"}
    assert changes.problem == "the agent has made repositories of its own, e.g. mine: their files are not told"
    (Path(copy.root) / "empty").mkdir()
    git("init", "--quiet", cwd=Path(copy.root) / "empty")
    changes = changed_files(copy)
    assert kinds(changes.files) == {"src/code.txt": "modified"}
    assert changes.problem is not None
    assert "'empty/' does not have a commit checked out" in changes.problem


def test_without_git_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    copy: WorkingCopy = make_copy(str(tmp_path / "plain"), tmp_path / "place")
    assert changed_files(copy) == Changes(problem="git was not found, so nothing tells what has changed")
