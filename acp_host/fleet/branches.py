"""New branches for what jobs have changed: :func:`commit_patch`, and :func:`check_branch` before there is anything.

Everything blocks; call it in a thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from acp_host.errors import InvalidInput
from acp_host.fleet.git import IDENTITY, git
from acp_host.fleet.job import Job

__all__ = ["check_branch", "commit_patch"]


def check_branch(branch: str, jobs: Iterable[Job]) -> None:
    """See that what each of some jobs will change can go to a branch of this name, each to one of its own.

    Raises:
        InvalidInput: it is no name of a branch, or a job has no repository on this machine, or the same as another one.
        GitFailed: git is not installed.
    """
    if git("check-ref-format", "--branch", branch, cwd=os.curdir, allowed=(0, 128)).strip() != os.fsencode(branch):
        raise InvalidInput(f"{branch!r} cannot be the name of a branch")
    owners: dict[str, Job] = {}
    for job in jobs:
        repository = _repository_of(job.cwd)
        if repository is None:
            raise InvalidInput(
                f"job {job.id}: {job.cwd} is in no git repository here that could have a branch {branch}"
            )
        owner = owners.setdefault(repository, job)
        if owner is not job:
            raise InvalidInput(
                f"jobs {owner.id} and {job.id} are of one repository, which can have one branch {branch}: run them"
                " without a branch, and apply their patches one by one"
            )


def commit_patch(patch: bytes, repository: str | os.PathLike[str], *, onto: str, branch: str, message: str) -> str:
    """Make a new branch with one commit that has the changes of a patch, and return its id; no file is touched.

    Args:
        patch: with paths relative to the top directory of the repository.
        repository: its top directory.
        onto: the commit that the new one follows.
        branch: name of the branch. It must not exist, unless it is what this call would make, but for its message.
        message: of the commit; what cannot be written as UTF-8 in it becomes a question mark.

    Raises:
        GitFailed: there is another branch of that name, or the patch was not made for this commit.
    """
    git("check-ref-format", "--branch", branch, cwd=repository)
    with TemporaryDirectory() as aside:
        env = {"GIT_INDEX_FILE": str(Path(aside, "index"))}
        git("read-tree", onto, cwd=repository, env=env)
        if patch:
            git("apply", "--cached", "--whitespace=nowarn", "-", cwd=repository, env=env, data=patch)
        tree = git("write-tree", cwd=repository, env=env).decode().strip()
    present = _commit_of(branch, repository, tree=tree, parent=onto)
    if present is not None:
        return present
    named = git("var", "GIT_AUTHOR_IDENT", cwd=repository, allowed=(0, 128))
    data = message.encode("utf-8", "replace") + b"\n"
    made = git("commit-tree", tree, "-p", onto, cwd=repository, env={} if named else IDENTITY, data=data)
    commit = made.decode().strip()
    git("update-ref", f"refs/heads/{branch}", commit, "0" * len(commit), cwd=repository)
    return commit


def _commit_of(branch: str, repository: str | os.PathLike[str], *, tree: str, parent: str) -> str | None:
    """Return the commit that a branch is at, if it has this tree and follows this commit alone."""
    name = f"refs/heads/{branch}"
    told = git("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}", cwd=repository, allowed=(0, 1, 128))
    commit = told.decode().strip()
    if not commit:
        return None
    found = git("show", "--no-patch", "--format=%T %P", commit, cwd=repository).decode().strip()
    return commit if found == f"{tree} {parent}" else None


def _repository_of(directory: str) -> str | None:
    """Return what all worktrees of a repository have in common; ``None`` for what is in none on this machine."""
    if not os.path.isdir(directory):
        return None
    common = os.fsdecode(git("rev-parse", "--git-common-dir", cwd=directory, allowed=(0, 128)).rstrip(b"\r\n"))
    return os.path.realpath(os.path.join(directory, common)) if common else None
