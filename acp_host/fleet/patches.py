"""What has changed in a working copy, as patches: :func:`changed_files`; and how they get elsewhere.

Patches are git's: whole (``--binary``), one for each file, with paths relative to the top of the working copy. They are
data: what applies them follows no link out of the directory and touches no ``.git``. Everything blocks; call
it in a thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from attrs import frozen

from acp_host.fleet.git import GitFailed, git
from acp_host.fleet.working_copies import WorkingCopy
from acp_host.services.working_copy import DifferenceKind

__all__ = ["ChangedFile", "Changes", "apply_patch", "changed_files", "joined"]

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
