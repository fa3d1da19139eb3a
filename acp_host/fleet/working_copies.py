"""Working copies in which agents may make a mess: :func:`make_copy`, :class:`WorkingCopy`.

============  ========================================================================================================
kind          what the agent gets
============  ========================================================================================================
``worktree``  a git worktree with a detached HEAD: quick, and the agent can commit. What it does to branches, tags and
              stashes, and to the repository's configuration, it does to the original's: these are shared
``clone``     a clone with branches and configuration of its own, which borrows the original's objects
``copy``      a copy of all files, a ``.git`` directory included
============  ========================================================================================================

By default a git repository gets a worktree, any other directory a copy, and a URL a clone. Each begins with what is
there: with changes that are not committed, and with files that git does not know, unless ``uncommitted`` says
otherwise; not with what git ignores, except in a copy. Submodules, and other repositories in the directory, are there
as plain files: in a worktree and a clone without their own ``.git``.

What belongs to an attempt is in one directory: ``copy/NAME`` is the working copy, ``own`` what the host needs to tell
what has changed, where the agent has no business. Nothing here looks at the agent's files by a repository that the
agent could have made or changed, but for worktrees, whose repository is the user's own.

Everything blocks; call it in a thread.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from acp_host.errors import InvalidInput
from acp_host.fleet.git import IDENTITY, GitFailed, git, has_git

__all__ = ["CopyKind", "Uncommitted", "WorkingCopy", "is_url", "make_copy", "remove_copy"]

_URL = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:", re.IGNORECASE)
_GITLINK = b"160000"
_TRIES = 10


class CopyKind(StrEnum):
    """How a working copy is made; the table of this module has the differences."""

    WORKTREE = "worktree"
    CLONE = "clone"
    COPY = "copy"


class Uncommitted(StrEnum):
    """What becomes of changes in a git repository that are not committed."""

    INCLUDE = "include"
    """The working copy has them, and files that git does not know."""
    IGNORE = "ignore"
    """The working copy begins with the last commit."""
    REFUSE = "refuse"
    """There is an error if there are any."""


@frozen(kw_only=True)
class WorkingCopy:
    """A working copy; a plain value, so that another process can remove it.

    Attributes:
        kind: one of :class:`CopyKind`.
        source: what it was made of: the top directory of the repository, the directory, or the URL.
        directory: holds everything that belongs to it.
        root: its top directory.
        cwd: what stands for the directory that was asked for; the same, or below it.
        git_dir: the repository by which it is looked at; ``None``: there is no git, and it is not looked at.
        commit: the commit that the original was at; ``None`` for one without, and for directories.
        base: the tree that it began with; ``None`` likewise.
        problem: why some changes cannot be told, as a sentence; ``None``: they can.
    """

    kind: CopyKind
    source: str
    directory: str
    root: str
    cwd: str
    git_dir: str | None = None
    commit: str | None = None
    base: str | None = None
    problem: str | None = None

    def git(self, *arguments: str, allowed: tuple[int, ...] = (0,)) -> bytes:
        """Run git on the files of the copy, by the repository and the index that are the host's.

        Raises:
            GitFailed: it has failed.
        """
        assert self.git_dir is not None
        env = {
            "GIT_DIR": self.git_dir,
            "GIT_WORK_TREE": self.root,
            "GIT_INDEX_FILE": str(Path(self.directory, "own", "index")),
        }
        return git(*arguments, cwd=self.directory, env=env, allowed=allowed)

    def tree(self) -> tuple[str, str | None]:
        """Look at the files that are there now; those that git ignores are left out.

        Returns:
            the id of a tree with them, and why some are missing in it, as a sentence; ``None``: none are.

        Raises:
            GitFailed: they cannot be looked at.
        """
        problem = None
        try:
            self.git("add", "--all", "--", ".")
        except GitFailed as error:  # e.g. one that cannot be read, or a repository without a commit among them
            problem = str(error)
            self.git("add", "--all", "--ignore-errors", "--", ".", allowed=(0, 1))
        return self.git("write-tree").decode().strip(), problem


def is_url(source: str) -> bool:
    """Whether it is the URL of a git repository, or its short form ``user@host:path``, and no directory."""
    return _URL.match(source) is not None and not os.path.isdir(source)


def make_copy(
    source: str,
    directory: str | os.PathLike[str],
    *,
    kind: CopyKind | None = None,
    uncommitted: Uncommitted = Uncommitted.INCLUDE,
) -> WorkingCopy:
    """Make a working copy of a directory or of a repository elsewhere.

    Args:
        source: the directory, or the URL of a git repository.
        directory: where everything that belongs to it goes; is made, and must not exist.
        kind: how; ``None``: by what ``source`` is.
        uncommitted: what becomes of changes that are not committed.

    Raises:
        InvalidInput: there is no such directory, it cannot be copied in this way, or has changes that are refused.
        GitFailed: git says no.
        OSError: the disk does.
    """
    home = Path(os.path.realpath(directory))
    home.mkdir(mode=0o700, parents=True)
    try:
        (home / "copy").mkdir()
        (home / "own").mkdir()
        if is_url(source):
            copy = _of_url(source, home, kind)
        else:
            copy = _of_directory(os.path.realpath(source), home, kind, uncommitted)
        return _with_base(copy)
    except BaseException:
        _remove_tree(home)
        raise


def remove_copy(directory: str | os.PathLike[str], source: str) -> None:
    """Remove a working copy with all that belongs to it, whatever the agent has made of it, or what is left of one.

    Args:
        directory: the one that :func:`make_copy` was given.
        source: what it was made of.

    Raises:
        OSError: something cannot be removed.
    """
    home = os.path.realpath(directory)
    _remove_tree(Path(home))
    if not is_url(source) and os.path.isdir(source):
        with contextlib.suppress(GitFailed):  # no repository, or none any more
            if _top_of(source) is not None:
                _forget_worktrees(home, source)


def _forget_worktrees(home: str, source: str) -> None:
    for line in _worktree("list", "--porcelain", cwd=source).splitlines():
        path = os.fsdecode(line.removeprefix(b"worktree "))
        if line.startswith(b"worktree ") and Path(home) in Path(path).parents:
            _worktree("remove", "--force", "--force", path, cwd=source)


def _worktree(*arguments: str, cwd: str) -> bytes:
    """Run a command of ``git worktree``, which fails where another one is at work in the same repository."""
    for left in reversed(range(_TRIES)):
        try:
            return git("worktree", *arguments, cwd=cwd)
        except GitFailed:
            if not left:
                raise
            time.sleep(random.uniform(0.01, 0.1))
    raise AssertionError


def _of_url(url: str, home: Path, kind: CopyKind | None) -> WorkingCopy:
    if kind not in (None, CopyKind.CLONE):
        raise InvalidInput(f"a repository elsewhere can be cloned only, and not be a {kind}: {url}")
    name = re.sub(r"\.git$", "", url.rstrip("/")).rpartition("/")[2].rpartition(":")[2] or "repository"
    root = home / "copy" / name
    git("clone", "--quiet", "--depth=1", "--template=", "--", url, str(root), cwd=home)
    commit = git("rev-parse", "--verify", "HEAD", cwd=root).decode().strip()
    return WorkingCopy(
        kind=CopyKind.CLONE, source=url, directory=str(home), root=str(root), cwd=str(root), commit=commit
    )


def _of_directory(source: str, home: Path, kind: CopyKind | None, uncommitted: Uncommitted) -> WorkingCopy:
    if not os.path.isdir(source):
        raise InvalidInput(f"there is no directory {source}")
    top = _top_of(source)
    if top is None and kind in (CopyKind.WORKTREE, CopyKind.CLONE):
        raise InvalidInput(f"{source} is in no git repository, so it cannot have a {kind}: it can be a copy")
    if top is None or kind is CopyKind.COPY:
        return _plain_copy(source, home)
    commit = _head_of(top)
    start = _start(top, commit, uncommitted, aside=home / "own" / "start")
    below = os.path.relpath(source, top).replace(os.sep, "/")
    if below != "." and not git("ls-tree", "-d", start, "--", below, cwd=top):
        if kind is None:  # git ignores it, or it is empty
            return _plain_copy(source, home)
        raise InvalidInput(f"git does not know {source}, so that there is nothing of it in a {kind}: it can be a copy")
    root = home / "copy" / (os.path.basename(top) or "repository")
    if kind is CopyKind.CLONE:
        git("clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", top, str(root), cwd=home)
        git("remote", "remove", "origin", cwd=root)  # what an agent pushes must not go there
        git("checkout", "--quiet", "--detach", start, cwd=root)
    else:
        _worktree("add", "--quiet", "--force", "--detach", str(root), start, cwd=top)
    _bring_submodules(top, root, start)
    return WorkingCopy(
        kind=kind or CopyKind.WORKTREE,
        source=top,
        directory=str(home),
        root=str(root),
        cwd=os.path.normpath(root / below),
        git_dir=_private_directory(root) if kind is not CopyKind.CLONE else None,
        commit=commit,
    )


def _top_of(source: str) -> str | None:
    """Return the top directory of the repository that a directory is in; ``None`` if it is in none.

    Raises:
        InvalidInput: it is a repository without files.
        GitFailed: git does not want to say, e.g. because it belongs to somebody else.
    """
    if not has_git():
        return None
    try:
        inside = git("rev-parse", "--is-inside-work-tree", cwd=source).strip()
    except GitFailed as error:
        if "not a git repository" in str(error):
            return None
        raise
    if inside != b"true":
        raise InvalidInput(f"{source} has no files that an agent could work on: it is a bare repository, or a .git")
    return os.path.realpath(os.fsdecode(git("rev-parse", "--show-toplevel", cwd=source).rstrip(b"\r\n")))


def _head_of(top: str) -> str | None:
    head = git("rev-parse", "--quiet", "--verify", "HEAD^{commit}", cwd=top, allowed=(0, 1)).decode().strip()
    return head or None


def _start(top: str, commit: str | None, uncommitted: Uncommitted, *, aside: Path) -> str:
    """Return the commit to begin with: the last one, or one that has what is not committed, on no branch.

    The user's index is not touched: what is not committed is added to a copy of it, ``aside``.
    """
    if uncommitted is Uncommitted.IGNORE:
        if commit is None:
            raise InvalidInput(f"{top} has no commit yet, and what is not committed is to be ignored")
        return commit
    index = os.fsdecode(git("rev-parse", "--git-path", "index", cwd=top).rstrip(b"\r\n"))
    env = {"GIT_INDEX_FILE": str(aside), **IDENTITY}
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(os.path.join(top, index), aside)  # so that git reads only what has changed
    git("add", "--all", "--", ".", cwd=top, env=env)
    tree = git("write-tree", cwd=top, env=env).decode().strip()
    if commit is not None and tree == git("rev-parse", f"{commit}^{{tree}}", cwd=top).decode().strip():
        return commit
    if uncommitted is Uncommitted.REFUSE:
        raise InvalidInput(f"{top} has changes that are not committed")
    parents = () if commit is None else ("-p", commit)
    made = git("commit-tree", tree, *parents, cwd=top, env=env, data=b"What was not committed\n")
    return made.decode().strip()


def _private_directory(root: Path) -> str:
    """Return the directory in the original's ``.git`` that is this worktree's. Call it before an agent was there."""
    return os.path.realpath(os.fsdecode(git("rev-parse", "--absolute-git-dir", cwd=root).rstrip(b"\r\n")))


def _bring_submodules(top: str, root: Path, start: str) -> None:
    """Copy the files of submodules, and of other repositories in the original, where there are any."""
    for line in git("ls-tree", "-r", "-z", start, cwd=top).split(b"\0"):
        about, _, name = line.partition(b"\t")
        if about.startswith(_GITLINK):
            path = os.fsdecode(name)
            if os.path.isdir(os.path.join(top, path)):
                _copy_tree(os.path.join(top, path), root / path, without_git=True)


def _plain_copy(source: str, home: Path) -> WorkingCopy:
    root = home / "copy" / (os.path.basename(source) or "directory")
    if os.path.commonpath([source, home]) == source:
        raise InvalidInput(f"{source} cannot be copied into itself: choose another directory for working copies")
    _copy_tree(source, root, without_git=False)
    return WorkingCopy(kind=CopyKind.COPY, source=source, directory=str(home), root=str(root), cwd=str(root))


def _copy_tree(source: str | os.PathLike[str], target: Path, *, without_git: bool) -> None:
    """Copy files, directories and links as such; devices, pipes and sockets are left out."""
    top = os.fspath(source)

    def left_out(directory: str, names: Iterable[str]) -> set[str]:
        return {name for name in names if _is_left_out(top, directory, name, without_git)}

    shutil.copytree(top, target, symlinks=True, ignore=left_out, dirs_exist_ok=True)


def _is_left_out(top: str, directory: str, name: str, without_git: bool) -> bool:
    path = os.path.join(directory, name)
    if name == ".git":
        # A file leads to a repository elsewhere, which is the original's.
        return without_git or (directory == top and not os.path.isdir(path)) or os.path.islink(path)
    try:
        mode = os.lstat(path).st_mode
    except OSError:  # it is gone by now
        return True
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _with_base(copy: WorkingCopy) -> WorkingCopy:
    """Note what the copy begins with."""
    if not has_git():
        return evolve(copy, problem="git was not found, so nothing tells what has changed")
    own = Path(copy.directory, "own")
    if copy.git_dir is None:
        git("init", "--quiet", "--bare", "--template=", str(own / "git"), cwd=own)
        copy = evolve(copy, git_dir=str(own / "git"))
    else:
        shutil.copyfile(Path(copy.git_dir, "index"), own / "index")
    links = [entry for entry in copy.git("ls-files", "--stage", "-z").split(b"\0") if entry.startswith(_GITLINK)]
    for entry in links:
        copy.git("update-index", "--force-remove", "--", os.fsdecode(entry.partition(b"\t")[2]))
    base, problem = copy.tree()
    if any(line.startswith(_GITLINK) for line in copy.git("ls-tree", "-r", "-z", base).split(b"\0")):
        problem = "there are repositories of their own in the directory, and changes in these are not told"
    return evolve(copy, base=base, problem=problem)


def _remove_tree(path: Path) -> None:
    def again(function: Callable[..., Any], name: str, _: Any) -> None:
        # A directory that cannot be written, or on Windows a file.
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(name), stat.S_IRWXU)
            os.chmod(name, stat.S_IRWXU)
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name)
        elif os.path.lexists(name):
            function(name)

    if os.path.lexists(path):
        shutil.rmtree(path, onerror=again)
