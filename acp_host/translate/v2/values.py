"""The parts that messages of version 2 have in common, in the form of version 1, and back.

Nothing is lost on the way: what version 1 has no place for stands in ``extra`` of its form, under its wire name, and
what version 1 does not know at all is kept as the unknown member of its union.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from acp_host.wire import commands as commands1
from acp_host.wire import config_options as options1
from acp_host.wire import content as content1
from acp_host.wire import mcp as mcp1
from acp_host.wire import session as session1
from acp_host.wire import tool_calls as calls1
from acp_host.wire._model import UNSET, Unknown, Unset
from acp_host.wire.converters import unstructure
from acp_host.wire.permission_question import ShownContent
from acp_host.wire.v2 import commands as commands2
from acp_host.wire.v2 import config_options as options2
from acp_host.wire.v2 import content as content2
from acp_host.wire.v2 import mcp as mcp2
from acp_host.wire.v2 import session as session2
from acp_host.wire.v2 import tool_calls as calls2

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


def block_to_v1(block: content2.ContentBlock) -> content1.ContentBlock:
    """Return a content block as version 1 has it; icons of a link stand in its ``extra``."""
    if not isinstance(block, content2.ResourceLink):
        return block
    icons = block.icons
    told = icons if icons is None or icons is UNSET else [unstructure(icon) for icon in icons]
    return content1.ResourceLink(
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


def block_to_v2(block: content1.ContentBlock) -> content2.ContentBlock:
    """Return a content block as version 2 has it; a negative size, which says nothing, is left out."""
    if not isinstance(block, content1.ResourceLink) or isinstance(block, content2.ResourceLink):
        return block
    return content2.ResourceLink(
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


def blocks_to_v2(blocks: Iterable[content1.ContentBlock]) -> tuple[content2.ContentBlock, ...]:
    """Return the blocks of a prompt as version 2 has them."""
    return tuple([block_to_v2(block) for block in blocks])


# --- tool calls -------------------------------------------------------------------------------------------------------


def produced_to_v1(content: calls2.ToolCallContent) -> ShownContent:
    """Return something that a tool call produced; a diff of version 2 says other things than one of version 1."""
    if isinstance(content, calls2.Content):
        return calls1.Content(block_to_v1(content.content), content.meta, extra=content.extra)
    return content


def location_to_v1(location: calls2.ToolCallLocation) -> calls1.ToolCallLocation:
    """Return a place in a file as version 1 has it."""
    return calls1.ToolCallLocation(location.path, location.line, location.meta, extra=location.extra)


# --- commands ---------------------------------------------------------------------------------------------------------


def command_to_v1(command: commands2.AvailableCommand) -> commands1.AvailableCommand | None:
    """Return a command as version 1 has it; ``None`` for one of a kind that is not known, which nobody could run."""
    if isinstance(command, Unknown):
        return None
    told = command.input
    if isinstance(told, commands2.TextCommandInput):
        taken: commands1.AvailableCommandInput | None | Unset = commands1.UnstructuredCommandInput(
            told.hint, told.meta, extra=told.extra
        )
    elif isinstance(told, Unknown):
        taken = commands1.UnstructuredCommandInput("", extra=told.data)
    else:
        taken = told
    return commands1.AvailableCommand(command.name, command.description, taken, command.meta, extra=command.extra)


def commands_to_v1(commands: Iterable[commands2.AvailableCommand]) -> tuple[commands1.AvailableCommand, ...]:
    """Return those of the commands that the user can run."""
    return tuple([found for command in commands if (found := command_to_v1(command)) is not None])


# --- configuration options --------------------------------------------------------------------------------------------


def option_to_v1(option: options2.SessionConfigOption) -> options1.SessionConfigOption:
    """Return a configuration option as version 1 has it."""
    if isinstance(option, Unknown):
        return option
    rest: dict[str, Any] = {
        "description": option.description,
        "category": option.category,
        "meta": option.meta,
        "extra": option.extra,
    }
    if isinstance(option, options2.SessionConfigBoolean):
        return options1.SessionConfigBoolean(option.config_id, option.name, option.current_value, **rest)
    items = tuple([_item_to_v1(item) for item in option.options])
    return options1.SessionConfigSelect(option.config_id, option.name, option.current_value, items, **rest)


def _item_to_v1(item: options2.SessionConfigSelectItem) -> options1.SessionConfigSelectItem:
    if not isinstance(item, options2.SessionConfigSelectGroup):
        return item
    return options1.SessionConfigSelectGroup(item.group_id, item.name, item.options, item.meta, extra=item.extra)


def options_to_v1(options: Iterable[options2.SessionConfigOption]) -> tuple[options1.SessionConfigOption, ...]:
    """Return configuration options as version 1 has them."""
    return tuple([option_to_v1(option) for option in options])


# --- what a session is opened with ------------------------------------------------------------------------------------


def server_to_v2(server: mcp1.McpServer) -> mcp2.McpServer:
    """Return an MCP server as version 2 has it; one that is reached by server-sent events has no place there."""
    match server:
        case mcp1.McpServerHttp():
            return mcp2.McpServerHttp(server.name, server.url, server.headers, server.meta, extra=server.extra)
        case mcp1.McpServerStdio():
            return mcp2.McpServerStdio(
                server.name, server.command, server.args, server.env, server.meta, extra=server.extra
            )
        case mcp1.McpServerSse():
            return mcp1.UnknownMcpServer("sse", unstructure(server, mcp1.McpServer))
        case _:
            return server


def system_prompt_to_v2(prompt: session1.SystemPrompt | None | Unset) -> session2.SystemPrompt | None | Unset:
    """Return a system prompt as version 2 has it."""
    if not isinstance(prompt, session1.SystemPrompt):
        return prompt
    return session2.SystemPrompt(prompt.mode, blocks_to_v2(prompt.content), prompt.meta, extra=prompt.extra)
