"""What has changed in a working copy, as patches: :func:`changed_files`; and how they get elsewhere.

Patches are git's: whole (``--binary``), one for each file, with paths relative to the top of the working copy. They are
data: what applies them follows no link out of the directory and touches no ``.git``. Everything blocks; call
it in a thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen

from acp_host.fleet.git import IDENTITY, GitFailed, git
from acp_host.fleet.working_copies import WorkingCopy
from acp_host.services.working_copy import DifferenceKind

__all__ = ["ChangedFile", "Changes", "apply_patch", "changed_files", "commit_patch", "joined"]

MAX_FILES = 100_000
_KINDS = {"A": DifferenceKind.CREATED, "D": DifferenceKind.DELETED}
_GITLINK = "160000"
_ASIDE = ("--no-renames", "--submodule=short")
_FORM = (
    "--binary",
    "--full-index",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


@frozen(kw_only=True)
class ChangedFile:
    """A file that is another than it was.

    Attributes:
        path: relative to the top directory of the repository, or of what was copied, with ``/``; bytes of a name that
            are not UTF-8 are replaced by U+FFFD.
        kind: ``created``, ``modified``, ``deleted``, or ``mode``.
        patch: for ``git apply``; in the file's own encoding.
        allowed: whether the policy allows the change; ``None`` where changes were not held against one.
    """

    path: str
    kind: DifferenceKind
    patch: bytes
    allowed: bool | None = None

    @property
    def text(self) -> str:
        """The patch to read; what is not UTF-8 in it is replaced by U+FFFD."""
        return self.patch.decode("utf-8", "replace")


@frozen
class Changes:
    """What has changed in a working copy.

    Attributes:
        files: by path.
        problem: why there may be more, as a sentence; ``None``: these are all.
    """

    files: tuple[ChangedFile, ...] = ()
    problem: str | None = None


def changed_files(copy: WorkingCopy) -> Changes:
    """Return what has changed since the working copy was made; what git ignores is left out.

    Raises:
        GitFailed: it cannot be told, e.g. because it is more than 64 MiB.
    """
    if copy.base is None:
        return Changes(problem=copy.problem)
    now, problem = copy.tree()
    listed = copy.git("diff-tree", "-r", "-z", "--raw", *_ASIDE, copy.base, now).split(b"\0")
    if len(listed) // 2 > MAX_FILES:
        raise GitFailed(f"more than {MAX_FILES} files have changed")
    patches = _split(copy.git("diff-tree", "-r", "-p", *_ASIDE, *_FORM, copy.base, now))
    about = [(line.decode("ascii")[1:].split(), name) for line, name in zip(listed[::2], listed[1::2], strict=False)]
    if len(about) != len(patches):
        raise GitFailed("the patches that git has made are not those of the files that it has listed")
    files = tuple(
        ChangedFile(path=name.decode("utf-8", "replace"), kind=_kind(fields), patch=patch)
        for (fields, name), patch in zip(about, patches, strict=True)
        if _GITLINK not in fields[:2]
    )
    made = [name.decode("utf-8", "replace") for fields, name in about if _GITLINK in fields[:2]]
    if made:
        problem = problem or f"the agent has made repositories of its own, e.g. {made[0]}: their files are not told"
    return Changes(files, problem or copy.problem)


def apply_patch(
    patch: bytes, directory: str | os.PathLike[str], *, reverse: bool = False, agent_was_here: bool = False
) -> None:
    """Change the files of a directory as a patch says: all of them, or none.

    Args:
        patch: with paths relative to ``directory``.
        directory: the top directory of a repository, or any other directory.
        reverse: take the changes back.
        agent_was_here: take it for a plain directory: its ``.git`` may be what an agent has made of it.

    Raises:
        GitFailed: the files are not those that the patch was made for.
    """
    if patch:
        top = os.path.realpath(directory)
        how = ("--reverse",) if reverse else ()
        env = {"GIT_CEILING_DIRECTORIES": os.path.dirname(top)}  # a repository around it has other paths
        if agent_was_here:
            env["GIT_DIR"] = os.devnull
        git("apply", "--whitespace=nowarn", *how, "-", cwd=top, env=env, data=patch)


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


def _kind(fields: list[str]) -> DifferenceKind:
    before, after, old, new, status = fields
    if status == "M" and old == new and before != after:
        return DifferenceKind.MODE
    return _KINDS.get(status, DifferenceKind.MODIFIED)


def _split(text: bytes) -> list[bytes]:
    """Split a patch into those of single files: no line within one begins like the first line of the next."""
    begin = b"diff --git "
    parts = (b"\n" + text).split(b"\n" + begin)[1:]
    whole = [begin + part + b"\n" for part in parts]
    if whole:
        whole[-1] = whole[-1][:-1]  # the text ends with the newline of its last line
    return whole


def joined(files: Iterable[ChangedFile]) -> bytes:
    """Return one patch for some files."""
    return b"".join(file.patch for file in files)
