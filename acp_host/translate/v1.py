"""ACP v1 updates as normalised session events: :func:`translate`.

Pure: the same update gives the same event, and nothing is remembered. Notices and reminders are not conversation and
have translators of their own; this one returns ``None`` for them.

Cost: one dictionary look-up and one small object per update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import DecodeError
from acp_host.state import events
from acp_host.state.entries import Speaker
from acp_host.translate.reminders import REMINDER_UPDATES
from acp_host.wire._model import UNSET, Unset
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.compaction import CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.config_options import ConfigOptionUpdate, CurrentModeUpdate
from acp_host.wire.content import TextContent
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.harn.content import as_shown
from acp_host.wire.notices import Notice
from acp_host.wire.plans import Plan, PlanItems, PlanRemoved, PlanUpdate, UnknownPlan
from acp_host.wire.session import (
    ForkSessionResponse,
    LoadSessionResponse,
    NewSessionResponse,
    ResumeSessionResponse,
)
from acp_host.wire.session_models import SessionModelState
from acp_host.wire.subagents import SessionMessage, SessionMessageChunk, SubagentUpdate
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    SessionInfoUpdate,
    SessionUpdate,
    UnknownSessionUpdate,
    UserMessageChunk,
)
from acp_host.wire.usage import UsageUpdate

__all__ = ["PLAIN", "commands_told", "opened", "plan_removed", "translate", "translate_run", "unknown", "usage"]

_USER, _ASSISTANT, _THOUGHT = Speaker.USER, Speaker.ASSISTANT, Speaker.THOUGHT


def translate(update: SessionUpdate) -> events.SessionEvent | None:
    """Return the event that an update stands for, or ``None`` where it is no event of the conversation."""
    translator = _TRANSLATORS.get(update.__class__)
    return None if translator is None else translator(update)


def translate_run(run: ChunkRun) -> events.TextStreamed:
    """Return the event that stands for all chunks of a run."""
    speaker = _ASSISTANT if run.kind is AgentMessageChunk else _THOUGHT
    return events.TextStreamed(speaker, run.texts, run.message_id or None)


def opened(
    response: NewSessionResponse | LoadSessionResponse | ResumeSessionResponse | ForkSessionResponse,
) -> events.SessionOpened:
    """Return the event for the agent's answer to a request that opens a session."""
    options = response.config_options
    return events.SessionOpened(
        response.modes or None, None if isinstance(options, Unset) else options, _models(response.extra.get("models"))
    )


def commands_told(
    response: NewSessionResponse | LoadSessionResponse | ResumeSessionResponse | ForkSessionResponse,
) -> events.CommandsReplaced | None:
    """Return the event for the commands in such an answer, which those of version 2 may have; ``None`` for none."""
    told = response.extra.get("availableCommands")
    if not isinstance(told, list):
        return None
    try:
        update, _ = structure_tolerant({"availableCommands": told}, AvailableCommandsUpdate)
    except DecodeError:
        return None
    return events.CommandsReplaced(update.available_commands)


def _models(told: Any) -> SessionModelState | None:
    """Return what an agent tells of its models in the form of the older draft; ``None`` where it is none."""
    if not isinstance(told, Mapping):
        return None
    try:
        models: SessionModelState = structure_tolerant(told, SessionModelState)[0]
    except DecodeError:
        return None
    return models


def _user_chunk(update: UserMessageChunk) -> events.MessageChunk:
    message_id = update.message_id
    return events.MessageChunk(_USER, update.content, None if message_id is UNSET else message_id or None)


def _agent_chunk(update: AgentMessageChunk) -> events.MessageChunk | None:
    message_id = update.message_id
    content: Any = update.content
    if content.__class__ is TextContent and (content.meta or content.extra):
        content = as_shown(content)
        if content is None:
            return None
    return events.MessageChunk(_ASSISTANT, content, None if message_id is UNSET else message_id or None)


def _thought_chunk(update: AgentThoughtChunk) -> events.MessageChunk:
    message_id = update.message_id
    return events.MessageChunk(_THOUGHT, update.content, None if message_id is UNSET else message_id or None)


def _tool_call(update: ToolCall) -> events.ToolCallReported:
    return events.ToolCallReported(update, True)


def _tool_call_update(update: ToolCallUpdate) -> events.ToolCallReported:
    return events.ToolCallReported(update, False)


def _plan(update: Plan) -> events.PlanReplaced:
    return events.PlanReplaced(
        None, PlanItems(plan_id="", entries=update.entries, meta=update.meta, extra=update.extra)
    )


def _plan_update(update: PlanUpdate) -> events.PlanReplaced:
    plan = update.plan
    plan_id = plan.data.get("planId") if isinstance(plan, UnknownPlan) else plan.plan_id
    return events.PlanReplaced(plan_id if isinstance(plan_id, str) else None, plan)


def plan_removed(update: PlanRemoved) -> events.PlanRemoved:
    """Return the event for an update that is the same in every version."""
    return events.PlanRemoved(update.plan_id)


def _commands(update: AvailableCommandsUpdate) -> events.CommandsReplaced:
    return events.CommandsReplaced(update.available_commands)


def _mode(update: CurrentModeUpdate) -> events.ModeChanged:
    return events.ModeChanged(update.current_mode_id)


def _config_options(update: ConfigOptionUpdate) -> events.ConfigOptionsReplaced:
    return events.ConfigOptionsReplaced(update.config_options)


def _info(update: SessionInfoUpdate) -> events.SessionInfoChanged:
    at_work = UNSET if not update.meta else _at_work(update.meta)
    return events.SessionInfoChanged(update.title, update.updated_at, update.meta, at_work)


def _at_work(meta: Mapping[str, Any]) -> bool | Unset:
    """Return what an agent says in ``_meta`` about whether it is at work, as pi-acp and codex-acp do."""
    match meta:
        case {"piAcp": {"running": bool(running)}}:
            return running
        case {"codex": {"threadStatus": {"type": str(status)}}}:
            return status == "active"
    return UNSET


def usage(update: UsageUpdate) -> events.UsageReported:
    """Return the event for an update that is the same in every version."""
    return events.UsageReported(update.used, update.size, update.cost)


def _compaction(update: CompactionUpdate) -> events.CompactionReported:
    return events.CompactionReported(update.compaction_id, update.status, update.summary, update.error)


def _compaction_summary(update: CompactionSummaryChunk) -> events.CompactionSummaryAdded:
    return events.CompactionSummaryAdded(update.compaction_id, update.content)


def _subagent(update: SubagentUpdate) -> events.SubagentReported:
    return events.SubagentReported(update)


def _session_message(update: SessionMessage) -> events.SessionMessageReported:
    return events.SessionMessageReported(
        update.message_id,
        content=update.content,
        sender_session_id=update.sender_session_id,
        recipient_session_id=update.recipient_session_id,
        sender_message_id=update.sender_message_id,
        recipient_message_id=update.recipient_message_id,
    )


def _session_message_chunk(update: SessionMessageChunk) -> events.SessionMessageReported:
    return events.SessionMessageReported(update.message_id, appended=update.content)


def unknown(update: UnknownSessionUpdate) -> events.UnknownReported | None:
    """Return the event for an update of a kind that is not known; ``None`` for one that is about reminders."""
    if update.tag in REMINDER_UPDATES:
        return None
    return events.UnknownReported(update.tag, update.data, update.problem)


_TRANSLATORS: dict[type, Callable[[Any], events.SessionEvent | None]] = {
    UserMessageChunk: _user_chunk,
    AgentMessageChunk: _agent_chunk,
    AgentThoughtChunk: _thought_chunk,
    ToolCall: _tool_call,
    ToolCallUpdate: _tool_call_update,
    Plan: _plan,
    PlanUpdate: _plan_update,
    PlanRemoved: plan_removed,
    AvailableCommandsUpdate: _commands,
    CurrentModeUpdate: _mode,
    ConfigOptionUpdate: _config_options,
    SessionInfoUpdate: _info,
    UsageUpdate: usage,
    CompactionUpdate: _compaction,
    CompactionSummaryChunk: _compaction_summary,
    SubagentUpdate: _subagent,
    SessionMessage: _session_message,
    SessionMessageChunk: _session_message_chunk,
    UnknownSessionUpdate: unknown,
}

PLAIN = frozenset(_TRANSLATORS) - {UserMessageChunk, UnknownSessionUpdate} | {Notice}
"""The kinds of update that, without ``_meta``, are not about reminders."""
