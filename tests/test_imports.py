"""What is loaded when: a plain script pays for what it uses, in modules and not in seconds, which differ everywhere."""

from __future__ import annotations

import subprocess
import sys

from acp_host.testing import ReferenceAgent

LIBRARIES = {"acp_host", "attr", "attrs", "orjson"}
FIRST_USE = (
    "acp_host.harn",
    "acp_host.host.telemetry.connection_watch",
    "acp_host.host.telemetry.watched",
    "acp_host.json_logs",
    "acp_host.host.stated_turns",
    "acp_host.recording",
    "acp_host.replay",
    "acp_host.services.elicitation",
    "acp_host.services.files.service",
    "acp_host.services.form_reader",
    "acp_host.services.terminals",
    "acp_host.state.json_form",
    "acp_host.testing",
    "acp_host.transports.streamable_http",
    "acp_host.transports.websocket",
    "acp_host.ui",
    "acp_host.wire.cattrs_converters",
    "acp_host.wire.elicitation",
    "acp_host.wire.v2.methods",
    "acp_host.wire.v2.session",
    "acp_host.wire.v2.updates",
)
"""Modules, with all below them, that a conversation does not load by itself."""

CONNECT = "from acp_host import connect\n"
CONVERSATION = f"""
import asyncio

async def main():
    async with connect({ReferenceAgent.command()!r}) as host:
        session = await host.new_session(cwd=".")
        assert (await session.prompt("/say Hello")).text == "Hello"

asyncio.run(main())
"""


def loaded(code: str) -> list[str]:
    """Return the modules that are loaded once some code has run."""
    program = f"import sys\n{code}\nprint(*sys.modules)"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()


def libraries(modules: list[str]) -> set[str]:
    before = {module.partition(".")[0] for module in loaded("")}
    return {module.partition(".")[0] for module in modules} - before - sys.stdlib_module_names


def early(modules: list[str]) -> list[str]:
    return [module for module in modules if any(f"{module}.".startswith(f"{late}.") for late in FIRST_USE)]


def test_importing_connect_loads_two_libraries_and_nothing_that_a_script_may_never_use() -> None:
    modules = loaded(CONNECT)

    assert libraries(modules) == LIBRARIES
    assert early(modules) == []


def test_a_conversation_loads_one_library_more() -> None:
    modules = loaded(CONNECT + CONVERSATION)

    assert libraries(modules) == {*LIBRARIES, "psutil"}
    assert early(modules) == []


def test_a_conversation_loads_little_that_importing_connect_has_not() -> None:
    before = {module for module in loaded(CONNECT) if module.startswith("acp_host.")}
    after = {module for module in loaded(CONNECT + CONVERSATION) if module.startswith("acp_host.")}

    assert [module for module in after - before if not module.startswith("acp_host.transports.")] == []


def test_the_help_of_the_command_loads_no_connection_and_that_of_a_sub_command_no_other() -> None:
    run = "from acp_host.cli import main\ntry:\n    main({arguments})\nexcept SystemExit:\n    pass"
    of_all = loaded(run.format(arguments=["--help"]))
    of_inspect = loaded(run.format(arguments=["inspect", "--help"]))

    assert "acp_host.cli.command" in of_all
    assert "acp_host.host.connect" not in of_all
    assert "acp_host.cli.inspect" in of_inspect
    assert "acp_host.cli.chat" not in of_inspect
