"""The parts that messages of version 2 have in common, in the form of version 1, and back.

Nothing is lost on the way: what version 1 has no place for stands in ``extra`` of its form, under its wire name, and
what version 1 does not know at all is kept as the unknown member of its union.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from acp_host.wire import commands as v1_commands
from acp_host.wire import config_options as v1_options
from acp_host.wire import content as v1_content
from acp_host.wire import mcp as v1_mcp
from acp_host.wire import session as v1_session
from acp_host.wire import tool_calls as v1_calls
from acp_host.wire._model import UNSET, Unknown, Unset
from acp_host.wire.converters import unstructure
from acp_host.wire.permission_question import ShownContent
from acp_host.wire.v2 import commands as v2_commands
from acp_host.wire.v2 import config_options as v2_options
from acp_host.wire.v2 import content as v2_content
from acp_host.wire.v2 import mcp as v2_mcp
from acp_host.wire.v2 import session as v2_session
from acp_host.wire.v2 import tool_calls as v2_calls

__all__ = [
    "block_to_v1",
    "block_to_v2",
    "blocks_to_v2",
    "command_to_v1",
    "commands_to_v1",
    "location_to_v1",
    "option_to_v1",
    "options_to_v1",
    "produced_to_v1",
    "server_to_v2",
    "system_prompt_to_v2",
]


# --- content ----------------------------------------------------------------------------------------------------------


def block_to_v1(block: v2_content.ContentBlock) -> v1_content.ContentBlock:
    """Return a content block as version 1 has it; icons of a link stand in its ``extra``."""
    if not isinstance(block, v2_content.ResourceLink):
        return block
    icons = block.icons
    told = icons if icons is None or icons is UNSET else [unstructure(icon) for icon in icons]
    return v1_content.ResourceLink(
        name=block.name,
        uri=block.uri,
        annotations=block.annotations,
        description=block.description,
        mime_type=block.mime_type,
        size=block.size,
        title=block.title,
        meta=block.meta,
        extra=block.extra if told is UNSET else {**block.extra, "icons": told},
    )


def block_to_v2(block: v1_content.ContentBlock) -> v2_content.ContentBlock:
    """Return a content block as version 2 has it; a negative size, which says nothing, is left out."""
    if not isinstance(block, v1_content.ResourceLink) or isinstance(block, v2_content.ResourceLink):
        return block
    return v2_content.ResourceLink(
        name=block.name,
        uri=block.uri,
        annotations=block.annotations,
        description=block.description,
        mime_type=block.mime_type,
        size=UNSET if isinstance(block.size, int) and block.size < 0 else block.size,
        title=block.title,
        meta=block.meta,
        extra=block.extra,
    )


def blocks_to_v2(blocks: Iterable[v1_content.ContentBlock]) -> tuple[v2_content.ContentBlock, ...]:
    """Return the blocks of a prompt as version 2 has them."""
    return tuple([block_to_v2(block) for block in blocks])


# --- tool calls -------------------------------------------------------------------------------------------------------


def produced_to_v1(content: v2_calls.ToolCallContent) -> ShownContent:
    """Return something that a tool call produced; a diff of version 2 says other things than one of version 1."""
    if isinstance(content, v2_calls.Content):
        return v1_calls.Content(block_to_v1(content.content), content.meta, extra=content.extra)
    return content


def location_to_v1(location: v2_calls.ToolCallLocation) -> v1_calls.ToolCallLocation:
    """Return a place in a file as version 1 has it."""
    return v1_calls.ToolCallLocation(location.path, location.line, location.meta, extra=location.extra)


# --- commands ---------------------------------------------------------------------------------------------------------


def command_to_v1(command: v2_commands.AvailableCommand) -> v1_commands.AvailableCommand | None:
    """Return a command as version 1 has it; ``None`` for one of a kind that is not known, which nobody could run."""
    if isinstance(command, Unknown):
        return None
    told = command.input
    if isinstance(told, v2_commands.TextCommandInput):
        taken: v1_commands.AvailableCommandInput | None | Unset = v1_commands.UnstructuredCommandInput(
            told.hint, told.meta, extra=told.extra
        )
    elif isinstance(told, Unknown):
        taken = v1_commands.UnstructuredCommandInput("", extra=told.data)
    else:
        taken = told
    return v1_commands.AvailableCommand(command.name, command.description, taken, command.meta, extra=command.extra)


def commands_to_v1(commands: Iterable[v2_commands.AvailableCommand]) -> tuple[v1_commands.AvailableCommand, ...]:
    """Return those of the commands that the user can run."""
    return tuple([found for command in commands if (found := command_to_v1(command)) is not None])


# --- configuration options --------------------------------------------------------------------------------------------


def option_to_v1(option: v2_options.SessionConfigOption) -> v1_options.SessionConfigOption:
    """Return a configuration option as version 1 has it."""
    if isinstance(option, Unknown):
        return option
    rest: dict[str, Any] = {
        "description": option.description,
        "category": option.category,
        "meta": option.meta,
        "extra": option.extra,
    }
    if isinstance(option, v2_options.SessionConfigBoolean):
        return v1_options.SessionConfigBoolean(option.config_id, option.name, option.current_value, **rest)
    items = tuple([_item_to_v1(item) for item in option.options])
    return v1_options.SessionConfigSelect(option.config_id, option.name, option.current_value, items, **rest)


def _item_to_v1(item: v2_options.SessionConfigSelectItem) -> v1_options.SessionConfigSelectItem:
    if not isinstance(item, v2_options.SessionConfigSelectGroup):
        return item
    return v1_options.SessionConfigSelectGroup(item.group_id, item.name, item.options, item.meta, extra=item.extra)


def options_to_v1(options: Iterable[v2_options.SessionConfigOption]) -> tuple[v1_options.SessionConfigOption, ...]:
    """Return configuration options as version 1 has them."""
    return tuple([option_to_v1(option) for option in options])


# --- what a session is opened with ------------------------------------------------------------------------------------


def server_to_v2(server: v1_mcp.McpServer) -> v2_mcp.McpServer:
    """Return an MCP server as version 2 has it; one that is reached by server-sent events has no place there."""
    match server:
        case v1_mcp.McpServerHttp():
            return v2_mcp.McpServerHttp(server.name, server.url, server.headers, server.meta, extra=server.extra)
        case v1_mcp.McpServerStdio():
            return v2_mcp.McpServerStdio(
                server.name, server.command, server.args, server.env, server.meta, extra=server.extra
            )
        case v1_mcp.McpServerSse():
            return v1_mcp.UnknownMcpServer("sse", unstructure(server, v1_mcp.McpServer))
        case _:
            return server


def system_prompt_to_v2(prompt: v1_session.SystemPrompt | None | Unset) -> v2_session.SystemPrompt | None | Unset:
    """Return a system prompt as version 2 has it."""
    if not isinstance(prompt, v1_session.SystemPrompt):
        return prompt
    return v2_session.SystemPrompt(prompt.mode, blocks_to_v2(prompt.content), prompt.meta, extra=prompt.extra)
