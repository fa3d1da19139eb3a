"""A permission request as version 2 of the protocol has it, in version 1's form: :class:`PermissionQuestion`."""

from __future__ import annotations

from acp_host.wire._model import model
from acp_host.wire.permission import RequestPermissionRequest

__all__ = ["PermissionQuestion"]


@model
class PermissionQuestion(RequestPermissionRequest):
    """The agent asks before it acts, with a question of its own beside the tool call.

    ``tool_call`` describes what is to be permitted. It has been told as an update before, where it is a call of the
    session at all: a command, or something that nobody here knows, is described in the form of a call that is none.

    Attributes:
        title: the question, for people.
        description: why permission is needed, for people; empty where the agent does not say.
    """

    title: str = ""
    description: str = ""
