"""What the server's configuration says about an agent: :class:`AgentSettings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.host.agent_target import AgentTarget
from acp_host.host.option_names import check_option_names
from acp_host.services.files import BufferProvider, FileService, NotebookFormat
from acp_host.services.permission_queue import PermissionQueue
from acp_host.services.permissions import PermissionPolicy, Permissions
from acp_host.services.policy_words import policy_of_word

__all__ = ["AgentSettings"]

_OURS = ("audit", "elicitation", "process_records", "sidebar")
"""Arguments of ``connect()`` that are the extension's part."""


@frozen(kw_only=True)
class AgentSettings:
    """An agent that can be started.

    Attributes:
        name: what it is called in the configuration and on the pages.
        target: its command, its URL, or an ``AgentTarget``.
        session_cwd: where its sessions work; ``None``: in the server's directory, or a folder below.
        options: all else that :func:`acp_host.connect` is given. Never shown: there may be secrets.
    """

    name: str
    target: Sequence[str] | str | AgentTarget = field(repr=False)
    session_cwd: str | None = None
    options: Mapping[str, Any] = field(factory=dict, repr=False)

    @classmethod
    def of(cls, name: str, given: Any) -> AgentSettings:
        """Return what is configured for an agent.

        Args:
            name: of the agent.
            given: its command or URL, or an ``AgentTarget`` as :func:`acp_host.known` returns; or a mapping with one of
                these as ``target``, and arguments of :func:`acp_host.connect`. There, ``files`` may also be a mapping
                of arguments of :class:`~acp_host.services.files.FileService`, ``permissions`` also one of the words of
                :mod:`~acp_host.services.policy_words` or the path of a file with a policy, and ``session_cwd`` is where
                sessions work.

        Raises:
            InvalidInput: it is none of these.
        """
        options = dict(given) if isinstance(given, Mapping) else {"target": given}
        target = options.pop("target", None)
        if not target or not (isinstance(target, str | AgentTarget) or _is_command(target)):
            raise InvalidInput(
                f"agent {name!r}: target is its command, as a list of words or as one text, its URL, or an AgentTarget"
            )
        taken = [option for option in _OURS if option in options]
        if taken:
            raise InvalidInput(f"agent {name!r}: {', '.join(taken)} cannot be set here")
        cwd = options.pop("session_cwd", None)
        if not isinstance(cwd, str | None):
            raise InvalidInput(f"agent {name!r}: session_cwd is the path of a directory")
        return cls(name=name, target=target, session_cwd=cwd, options=options)

    def connect_options(self, questions: PermissionQueue, notebooks: Sequence[BufferProvider]) -> dict[str, Any]:
        """Return what ``connect()`` is given beside the target.

        Args:
            questions: asks the user.
            notebooks: what is open in the server.

        Raises:
            InvalidInput: an option is wrong.
        """
        options = dict(self.options)
        check_option_names(f"agent {self.name!r}", options, also=("session_cwd",))
        files = options.pop("files", None)
        if files is True or isinstance(files, Mapping):
            options["files"] = _files({} if files is True else files, notebooks)
        elif files:
            raise InvalidInput(f"agent {self.name!r}: files is True, or arguments of FileService")
        options["permissions"] = _permissions(self.name, options.pop("permissions", None), questions)
        return options


def _files(arguments: Mapping[str, Any], notebooks: Sequence[BufferProvider]) -> FileService:
    try:
        return FileService(**{"buffers": notebooks, "formats": {".ipynb": NotebookFormat()}, **arguments})
    except TypeError as error:
        raise InvalidInput(f"files: {error}") from None


def _permissions(name: str, given: Any, questions: PermissionQueue) -> Permissions | PermissionQueue:
    if given in (None, "ask"):
        return questions
    if isinstance(given, str):
        try:
            given = policy_of_word(given) or PermissionPolicy.load(given)
        except InvalidInput as error:
            raise InvalidInput(f"agent {name!r}: permissions: {error}") from None
    if not isinstance(given, PermissionPolicy):
        raise InvalidInput(f"agent {name!r}: permissions is a policy, a word such as 'ask', or the path of a policy")
    return Permissions(policy=given, ask=questions)


def _is_command(target: Any) -> bool:
    return isinstance(target, Sequence) and all(isinstance(word, str) for word in target)
