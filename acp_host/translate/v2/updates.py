"""ACP v2 updates as normalised session events: :func:`translate`.

Pure: the same update gives the same event, and nothing is remembered. Notices and reminders are not conversation and
have translators of their own; this one returns ``None`` for them.

Cost: one dictionary look-up and one small object per update.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from acp_host.state import events
from acp_host.state.entries import Speaker
from acp_host.translate.v1 import plan_removed, unknown, usage
from acp_host.translate.v2.values import (
    block_to_v1,
    commands_to_v1,
    location_to_v1,
    options_to_v1,
    produced_to_v1,
)
from acp_host.wire import plans as v1_plans
from acp_host.wire import subagents as v1_subagents
from acp_host.wire._model import UNSET, Unset
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.converters import unstructure
from acp_host.wire.notices import Notice
from acp_host.wire.plans import PlanRemoved, UnknownPlan
from acp_host.wire.subagents import UnknownState
from acp_host.wire.updates import UnknownSessionUpdate
from acp_host.wire.usage import UsageUpdate
from acp_host.wire.v2.commands import AvailableCommandsUpdate
from acp_host.wire.v2.compaction import CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.v2.config_options import ConfigOptionUpdate
from acp_host.wire.v2.content import ContentBlock
from acp_host.wire.v2.plans import PlanItems, PlanUpdate, PlanUpdateContent
from acp_host.wire.v2.state_update import (
    BackgroundToolCall,
    IdleStateUpdate,
    RequiresActionStateUpdate,
    RunningStateUpdate,
    SessionStateUpdate,
    StateUpdate,
)
from acp_host.wire.v2.subagents import SessionMessage, SessionMessageChunk, SubagentUpdate
from acp_host.wire.v2.terminals import TerminalOutputChunk, TerminalSize, TerminalUpdate
from acp_host.wire.v2.tool_calls import ToolCallContentChunk, ToolCallUpdate
from acp_host.wire.v2.updates import (
    AgentMessage,
    AgentMessageChunk,
    AgentThought,
    AgentThoughtChunk,
    SessionInfoUpdate,
    SessionUpdate,
    UserMessage,
    UserMessageChunk,
)

__all__ = ["PLAIN", "translate", "translate_run"]

_USER, _ASSISTANT, _THOUGHT = Speaker.USER, Speaker.ASSISTANT, Speaker.THOUGHT
_CLEARED = {"kind": "other", "status": "pending", "content": (), "locations": ()}
"""What an attribute of a tool call is once it is cleared; the others are then ``None``."""
_SAID_OF_CALL = ("title", "name", "kind", "status", "raw_input", "raw_output")


def translate(update: SessionUpdate) -> events.SessionEvent | None:
    """Return the event that an update stands for, or ``None`` where it is no event of the conversation."""
    translator = _TRANSLATORS.get(update.__class__)
    return None if translator is None else translator(update)


def translate_run(run: ChunkRun) -> events.TextStreamed:
    """Return the event that stands for all chunks of a run."""
    speaker = _ASSISTANT if run.kind is AgentMessageChunk else _THOUGHT
    return events.TextStreamed(speaker, run.texts, run.message_id or None, True)


def _user_chunk(update: UserMessageChunk) -> events.MessageChunk:
    return events.MessageChunk(_USER, block_to_v1(update.content), update.message_id, True)


def _agent_chunk(update: AgentMessageChunk) -> events.MessageChunk:
    return events.MessageChunk(_ASSISTANT, block_to_v1(update.content), update.message_id, True)


def _thought_chunk(update: AgentThoughtChunk) -> events.MessageChunk:
    return events.MessageChunk(_THOUGHT, block_to_v1(update.content), update.message_id, True)


def _user_message(update: UserMessage) -> events.MessageReplaced:
    return events.MessageReplaced(_USER, update.message_id, _given(update.content))


def _agent_message(update: AgentMessage) -> events.MessageReplaced:
    return events.MessageReplaced(_ASSISTANT, update.message_id, _given(update.content))


def _agent_thought(update: AgentThought) -> events.MessageReplaced:
    return events.MessageReplaced(_THOUGHT, update.message_id, _given(update.content))


def _given(content: tuple[ContentBlock, ...] | None | Unset) -> Any:
    return tuple([block_to_v1(block) for block in content]) if content else content


def _tool_call(update: ToolCallUpdate) -> events.ToolCallPatched:
    told = {name: getattr(update, name) for name in _SAID_OF_CALL}
    content, locations = update.content, update.locations
    told["content"] = tuple([produced_to_v1(item) for item in content]) if content else content
    told["locations"] = tuple([location_to_v1(place) for place in locations]) if locations else locations
    said = {name: _CLEARED.get(name) if value is None else value for name, value in told.items() if value is not UNSET}
    if not isinstance(update.capabilities, Unset):
        said["cancellable"] = bool(update.capabilities and update.capabilities.cancel)
    return events.ToolCallPatched(update.tool_call_id, said, update.meta, update.extra)


def _tool_call_chunk(update: ToolCallContentChunk) -> events.ToolCallContentAdded:
    return events.ToolCallContentAdded(update.tool_call_id, produced_to_v1(update.content))


def _terminal(update: TerminalUpdate) -> events.AgentTerminalReported:
    output: bytes | None | Unset = UNSET
    problem = ""
    if update.output is None:
        output = None
    elif not isinstance(update.output, Unset):
        read, problem = _bytes(update.output.data, update.terminal_id)
        output = UNSET if problem else read
    status, size, able = update.exit_status, update.size, update.capabilities
    return events.AgentTerminalReported(
        update.terminal_id,
        update.command,
        update.cwd,
        output,
        exited=UNSET if isinstance(status, Unset) else status is not None,
        exit_code=_told(status.exit_code) if status else None,
        signal=_told(status.signal) if status else None,
        size=(size.cols, size.rows) if isinstance(size, TerminalSize) else size,
        cancellable=UNSET if isinstance(able, Unset) else bool(able and able.cancel),
        meta=update.meta,
        problem=problem,
    )


def _told(value: Any) -> Any:
    return None if value is UNSET else value


def _terminal_chunk(update: TerminalOutputChunk) -> events.AgentTerminalPrinted:
    data, problem = _bytes(update.data, update.terminal_id)
    return events.AgentTerminalPrinted(update.terminal_id, data, problem)


def _bytes(data: str, terminal_id: str) -> tuple[bytes, str]:
    """Return the bytes that base64 stands for, or none of them and what is wrong."""
    try:
        return base64.b64decode(data, validate=True), ""
    except (binascii.Error, ValueError) as error:
        return b"", f"output of the terminal {terminal_id!r} is not base64 and was left out: {error}"


def _state(update: SessionStateUpdate) -> events.StateReported:
    background = update.background if isinstance(update.background, tuple) else None
    calls = [work.tool_call_id for work in background or () if isinstance(work, BackgroundToolCall)]
    return events.StateReported(update.state, background, frozenset(calls))


def _plan(plan: PlanUpdateContent) -> v1_plans.PlanUpdateContent:
    if isinstance(plan, PlanItems):
        return v1_plans.PlanItems(plan.plan_id, plan.entries, plan.meta, extra=plan.extra)
    return plan


def _plan_update(update: PlanUpdate) -> events.PlanReplaced:
    plan = update.plan
    plan_id = plan.data.get("planId") if isinstance(plan, UnknownPlan) else plan.plan_id
    return events.PlanReplaced(plan_id if isinstance(plan_id, str) else None, _plan(plan))


def _commands(update: AvailableCommandsUpdate) -> events.CommandsReplaced:
    return events.CommandsReplaced(commands_to_v1(update.available_commands))


def _config_options(update: ConfigOptionUpdate) -> events.ConfigOptionsReplaced:
    return events.ConfigOptionsReplaced(options_to_v1(update.config_options))


def _info(update: SessionInfoUpdate) -> events.SessionInfoChanged:
    return events.SessionInfoChanged(update.title, update.updated_at, update.meta, patches_meta=True)


def _compaction(update: CompactionUpdate) -> events.CompactionReported:
    return events.CompactionReported(update.compaction_id, update.status, _given(update.summary), update.error)


def _compaction_summary(update: CompactionSummaryChunk) -> events.CompactionSummaryAdded:
    return events.CompactionSummaryAdded(update.compaction_id, block_to_v1(update.content))


def _subagent(update: SubagentUpdate) -> events.SubagentReported:
    told = v1_subagents.SubagentUpdate(
        update.session_id,
        update.title,
        update.description,
        update.capabilities,
        update.state if update.state is None or isinstance(update.state, Unset) else _child_state(update.state),
        update.cwd,
        update.additional_directories,
        update.meta,
        extra=update.extra,
    )
    return events.SubagentReported(told, patches_meta=True)


def _child_state(state: StateUpdate) -> v1_subagents.StateUpdate:
    """Return the state of a child session; what goes on beside its work is in ``extra``."""
    if isinstance(state, UnknownState):
        return state
    extra = {**state.extra, "background": unstructure(state)["background"]} if state.background else state.extra
    match state:
        case RunningStateUpdate():
            return v1_subagents.RunningStateUpdate(state.meta, extra=extra)
        case RequiresActionStateUpdate():
            return v1_subagents.RequiresActionStateUpdate(state.meta, extra=extra)
        case IdleStateUpdate():
            return v1_subagents.IdleStateUpdate(state.stop_reason, state.error, state.usage, state.meta, extra=extra)
        case _:
            return v1_subagents.UnknownStateUpdate(state.meta, extra=extra)


def _session_message(update: SessionMessage) -> events.SessionMessageReported:
    return events.SessionMessageReported(
        update.message_id,
        content=_given(update.content),
        sender_session_id=update.sender_session_id,
        recipient_session_id=update.recipient_session_id,
        sender_message_id=update.sender_message_id,
        recipient_message_id=update.recipient_message_id,
    )


def _session_message_chunk(update: SessionMessageChunk) -> events.SessionMessageReported:
    return events.SessionMessageReported(update.message_id, appended=block_to_v1(update.content))


_TRANSLATORS: dict[type, Callable[[Any], events.SessionEvent | None]] = {
    UserMessageChunk: _user_chunk,
    UserMessage: _user_message,
    AgentMessageChunk: _agent_chunk,
    AgentMessage: _agent_message,
    AgentThoughtChunk: _thought_chunk,
    AgentThought: _agent_thought,
    SessionStateUpdate: _state,
    ToolCallUpdate: _tool_call,
    ToolCallContentChunk: _tool_call_chunk,
    TerminalUpdate: _terminal,
    TerminalOutputChunk: _terminal_chunk,
    PlanUpdate: _plan_update,
    PlanRemoved: plan_removed,
    AvailableCommandsUpdate: _commands,
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

PLAIN = frozenset(_TRANSLATORS) - {UserMessageChunk, UserMessage, UnknownSessionUpdate} | {Notice}
"""The kinds of update that, without ``_meta``, are not about reminders."""
