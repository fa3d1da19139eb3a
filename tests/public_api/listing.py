"""The public API as text, a file for each public module: :func:`listings`. ``make public-api`` stores them.

They are read from the sources, so it does not matter what is installed. What a class inherits is listed with it, but
for the methods of :data:`OF_PARTS_AROUND`; of a default it is told that there is one, and not which.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
MODULES = (
    "acp_host",
    "acp_host.automation",
    "acp_host.automation.known_agents",
    "acp_host.blocking",
    "acp_host.errors",
    "acp_host.fleet",
    "acp_host.fleet.blocking",
    "acp_host.harn",
    "acp_host.harn.a2a",
    "acp_host.harn.bridge",
    "acp_host.harn.external_agents",
    "acp_host.protocol.events",
    "acp_host.recording",
    "acp_host.recording.anonymise",
    "acp_host.recording.format",
    "acp_host.redaction",
    "acp_host.reminders",
    "acp_host.reminders.sources",
    "acp_host.replay",
    "acp_host.sandbox",
    "acp_host.scheduling",
    "acp_host.services",
    "acp_host.services.files",
    "acp_host.state.clock",
    "acp_host.state.entries",
    "acp_host.state.notice_entries",
    "acp_host.testing",
    "acp_host.testing.chaos",
    "acp_host.testing.gallery",
    "acp_host.testing.pytest_plugin",
    "acp_host.transports",
    "acp_host.ui.feed",
    "acp_host.ui.glib",
    "acp_host.ui.jupyter",
    "acp_host.ui.main_thread",
    "acp_host.ui.qt",
    "acp_host.ui.serve",
    "acp_host.ui.terminal",
    "acp_host.ui.tk",
    "acp_host.wire.auth",
    "acp_host.wire.capabilities",
    "acp_host.wire.commands",
    "acp_host.wire.config_options",
    "acp_host.wire.content",
    "acp_host.wire.elicitation",
    "acp_host.wire.files",
    "acp_host.wire.initialize",
    "acp_host.wire.mcp",
    "acp_host.wire.notices",
    "acp_host.wire.permission",
    "acp_host.wire.plans",
    "acp_host.wire.prompt",
    "acp_host.wire.session",
    "acp_host.wire.subagents",
    "acp_host.wire.terminals",
    "acp_host.wire.tool_calls",
    "acp_host.wire.updates",
    "acp_host.wire.usage",
)
"""Those whose names users import. What two of them have is listed with the first."""

OF_PARTS_AROUND = ("acp_host.host.connected_session.ConnectedSession",)
"""Classes whose methods are for the parts around them alone, and on no page of the site."""


def listings() -> dict[str, str]:
    """Return the listing of each public module, by its name."""
    package = griffe.load("acp_host", search_paths=[str(ROOT)], allow_inspection=False, try_relative_path=False)
    listed: dict[str, str] = {}
    return {name: _listing(_within(package, name), name, listed) for name in MODULES}


def _within(package: Any, name: str) -> Any:
    return package[name.partition(".")[2]] if "." in name else package


def _listing(module: Any, name: str, listed: dict[str, str]) -> str:
    lines: list[str] = []
    for exported in sorted(str(each) for each in module.exports or ()):
        member = _target(module.members[exported])
        if member.is_module and exported in member.members:
            # A function with the name of its module, which stands for both in what is read.
            member = _target(member.members[exported])
        if member.path in listed:
            lines.append(f"{exported} is {listed[member.path]}")
        else:
            listed[member.path] = f"{name}.{exported}"
            lines += _described(exported, member)
    return "\n".join(lines) + "\n"


def _target(member: Any) -> Any:
    return member.final_target if member.is_alias else member


def _described(name: str, member: Any) -> Iterator[str]:
    if member.is_module:
        yield f"module {name}"
    elif member.is_class:
        bases = ", ".join(str(base) for base in member.bases)
        yield f"class {name}({bases})" if bases else f"class {name}"
        members = {each: _target(found) for each, found in member.all_members.items()}
        constructor = members.get("__init__")
        if constructor is not None and constructor.is_function:
            yield f"    {_function('__init__', constructor)}"
        public = {each: found for each, found in members.items() if not each.startswith("_") and _is_for_users(found)}
        # Fields stand as they are declared, which is the order in which a constructor takes them.
        fields = [each for each in public if _is_field(public[each])]
        for each in [*fields, *sorted(public.keys() - set(fields))]:
            yield from (f"    {line}" for line in _described(each, public[each]))
    elif member.is_function:
        yield _function(name, member)
    else:
        yield _attribute(name, member)


def _is_for_users(member: Any) -> bool:
    return member.parent.path not in OF_PARTS_AROUND or _is_field(member)


def _is_field(member: Any) -> bool:
    return bool(member.is_attribute and "property" not in member.labels)


def _function(name: str, function: Any) -> str:
    marks = [f"{mark} " for mark in ("async", "classmethod", "staticmethod") if mark in function.labels]
    returns = "" if function.returns is None else f" -> {function.returns}"
    parameters = function.signature().removeprefix(function.name)
    return f"{''.join(marks)}def {name}{parameters.partition(' -> ')[0]}{returns}"


def _attribute(name: str, attribute: Any) -> str:
    mark = "property " if "property" in attribute.labels else ""
    kind = "" if attribute.annotation is None else f": {attribute.annotation}"
    if attribute.value is None or not (kind or "class-attribute" in attribute.labels):
        return f"{mark}{name}{kind}"
    return f"{mark}{name}{kind} = {'…' if kind else attribute.value}"


def stored() -> dict[str, str]:
    """Return the listings that are stored, by module."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}


def write() -> None:
    """Store the listings, in place of those that are there."""
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name, text in listings().items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
