"""Working copies: what is in them, that the original stays as it is, and that nothing is left of them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from acp_host import InvalidInput
from acp_host.fleet.git import GitFailed
from acp_host.fleet.working_copies import CopyKind, Uncommitted, WorkingCopy, is_url, make_copy, remove_copy
from tests.fleet.surroundings import files_of, git, repository

KINDS = [None, CopyKind.CLONE, CopyKind.COPY]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = repository(tmp_path / "project", **{".gitignore": "*.log\n", "run.sh": "true\n"})
    (repo / "src/code.txt").write_text("one\ntwo\n")
    (repo / "src/new.txt").write_text("new\n")
    (repo / "noise.log").write_text("ignored\n")
    git("rm", "--quiet", "README.md", cwd=repo)
    return repo


def state_of(repo: Path) -> tuple[str, ...]:
    return tuple(
        git(*words, cwd=repo) for words in (("status", "--porcelain"), ("for-each-ref",), ("worktree", "list"))
    )


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_what_is_there_and_the_original_is_not_touched(
    repo: Path, tmp_path: Path, kind: CopyKind | None
) -> None:
    before = state_of(repo)
    copy = make_copy(str(repo), tmp_path / "place", kind=kind)
    expected = files_of(repo)
    if kind is not CopyKind.COPY:
        del expected["noise.log"]
    assert files_of(copy.root) == expected
    assert copy.cwd == copy.root == str(tmp_path / "place/copy/project")
    assert stat.S_IMODE(os.stat(copy.directory).st_mode) == 0o700
    assert git("status", "--porcelain", "--ignored", cwd=Path(copy.root)).count("??") == (kind is CopyKind.COPY)
    remove_copy(copy.directory, str(repo))
    assert not (tmp_path / "place").exists()
    assert state_of(repo) == before


def test_what_is_not_committed_can_be_left_out_or_refused(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(str(repo), tmp_path / "place", uncommitted=Uncommitted.IGNORE)
    assert files_of(copy.root)["src/code.txt"] == "one\n"
    assert "README.md" in files_of(copy.root)
    with pytest.raises(InvalidInput, match="has changes that are not committed"):
        make_copy(str(repo), tmp_path / "other", uncommitted=Uncommitted.REFUSE)
    assert not (tmp_path / "other").exists()
    git("stash", "--quiet", "--include-untracked", cwd=repo)
    make_copy(str(repo), tmp_path / "other", uncommitted=Uncommitted.REFUSE)


def test_a_directory_below_the_top_is_one_there(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(str(repo / "src"), tmp_path / "place")
    assert (copy.source, copy.cwd) == (str(repo), f"{copy.root}{os.sep}src")
    (repo / "build.log").mkdir()
    (repo / "build.log/out.txt").write_text("1")
    ignored = make_copy(str(repo / "build.log"), tmp_path / "ignored")
    assert (ignored.kind, files_of(ignored.root)) == (CopyKind.COPY, {"out.txt": "1"})
    with pytest.raises(InvalidInput, match="git does not know"):
        make_copy(str(repo / "build.log"), tmp_path / "third", kind=CopyKind.WORKTREE)


@pytest.mark.parametrize("kind", KINDS)
def test_submodules_and_repositories_within_are_there_as_files(tmp_path: Path, kind: CopyKind | None) -> None:
    library = repository(tmp_path / "library")
    repo = repository(tmp_path / "project")
    git("submodule", "--quiet", "add", str(library), "vendor/library", cwd=repo)
    git("commit", "--quiet", "-m", "Use it", cwd=repo)
    (repo / "vendor/library/src/code.txt").write_text("patched\n")
    repository(repo / "tools/own")
    copy = make_copy(str(repo), tmp_path / "place", kind=kind)
    assert files_of(copy.root) == files_of(repo)
    if kind is not CopyKind.COPY:
        assert not (Path(copy.root) / "vendor/library/.git").exists()
        assert copy.problem is None
    else:  # they are repositories of their own there, too
        assert copy.problem is not None
    remove_copy(copy.directory, str(repo))
    assert git("worktree", "list", cwd=repo).count("\n") == 1


def test_a_repository_without_a_commit_and_a_directory_without_one(tmp_path: Path) -> None:
    (tmp_path / "fresh").mkdir()
    git("init", "--quiet", cwd=tmp_path / "fresh")
    (tmp_path / "fresh/a.txt").write_text("a")
    copy = make_copy(str(tmp_path / "fresh"), tmp_path / "place")
    assert (copy.kind, copy.commit, files_of(copy.root)) == (CopyKind.WORKTREE, None, {"a.txt": "a"})
    (tmp_path / "plain/link").parent.mkdir()
    (tmp_path / "plain/link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "plain/pipe")
    copy = make_copy(str(tmp_path / "plain"), tmp_path / "second")
    assert copy.kind is CopyKind.COPY
    assert os.readlink(Path(copy.root, "link")) == "/etc/passwd"
    assert not Path(copy.root, "pipe").exists()


def test_a_url_is_cloned(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(f"file://{repo}", tmp_path / "place")
    assert (copy.kind, copy.source) == (CopyKind.CLONE, f"file://{repo}")
    assert files_of(copy.root)["src/code.txt"] == "one\n"
    with pytest.raises(InvalidInput, match="can be cloned only"):
        make_copy(f"file://{repo}", tmp_path / "second", kind=CopyKind.WORKTREE)
    with pytest.raises(GitFailed, match="git clone failed"):
        make_copy(f"file://{tmp_path}/nothing", tmp_path / "second")
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("url", ["https://example.org/a.git", "git@example.org:a/b.git", "ssh://example.org/a"])
def test_urls_are_told_from_directories(url: str) -> None:
    assert is_url(url)
    assert not is_url("some/directory")
    assert not is_url("C:\\directory")


def test_the_agents_git_is_its_own_in_a_clone_and_leads_nowhere(repo: Path, tmp_path: Path) -> None:
    before = state_of(repo)
    copy = make_copy(str(repo), tmp_path / "place", kind=CopyKind.CLONE)
    git("checkout", "--quiet", "-b", "mine", cwd=Path(copy.root))
    git("commit", "--quiet", "--allow-empty", "-m", "Mine", cwd=Path(copy.root))
    assert git("remote", cwd=Path(copy.root)) == ""
    assert state_of(repo) == before


def test_a_copy_of_a_worktree_does_not_lead_to_its_repository(repo: Path, tmp_path: Path) -> None:
    git("worktree", "add", "--quiet", str(tmp_path / "tree"), "HEAD", cwd=repo)
    copy = make_copy(str(tmp_path / "tree"), tmp_path / "place", kind=CopyKind.COPY)
    assert not Path(copy.root, ".git").exists()


def test_nothing_is_left_of_one_that_cannot_be_written_any_more(repo: Path, tmp_path: Path) -> None:
    copy = make_copy(str(repo), tmp_path / "place")
    Path(copy.root, "src").chmod(0o500)
    Path(copy.root, ".git").unlink()
    Path(copy.root, ".git").mkdir()
    Path(copy.root, "way-out").symlink_to(repo, target_is_directory=True)
    remove_copy(copy.directory, str(repo))
    assert not os.path.lexists(copy.directory)
    assert (repo / "src/new.txt").exists()
    assert git("worktree", "list", cwd=repo).count("\n") == 1


def test_what_cannot_be_copied_is_refused(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no directory"):
        make_copy(str(tmp_path / "nowhere"), tmp_path / "place")
    with pytest.raises(InvalidInput, match="has no files that an agent could work on"):
        make_copy(str(repo / ".git"), tmp_path / "place")
    (tmp_path / "plain").mkdir()
    with pytest.raises(InvalidInput, match="in no git repository"):
        make_copy(str(tmp_path / "plain"), tmp_path / "place", kind=CopyKind.WORKTREE)
    with pytest.raises(InvalidInput, match="copied into itself"):
        make_copy(str(tmp_path / "plain"), tmp_path / "plain/place")
    assert not (tmp_path / "place").exists()
    assert not (tmp_path / "plain/place").exists()


def test_what_is_set_for_another_repository_does_not_count(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    copy: WorkingCopy = make_copy(str(repo), tmp_path / "place")
    assert copy.source == str(repo)


def test_hooks_of_the_original_are_not_run(repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    hook.chmod(0o700)
    make_copy(str(repo), tmp_path / "place")
    assert not (tmp_path / "was-run").exists()
