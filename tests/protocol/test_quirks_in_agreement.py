from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import acp_host
from acp_host.errors import NotSupported
from acp_host.protocol.negotiation import make_agreement
from acp_host.quirks import QUIRKS, Quirk, QuirkKind
from acp_host.wire.capabilities import AgentCapabilities, ClientCapabilities
from acp_host.wire.initialize import Implementation, InitializeResponse

QUIRK = Quirk(agent="odd", kind=QuirkKind.ABSENT_THOUGH_ADVERTISED, subject="session/load", why="it only says so")
ANSWER = InitializeResponse(1, AgentCapabilities(load_session=True), agent_info=Implementation("odd", "1"))


def test_a_method_that_is_advertised_in_vain_is_refused_for_its_real_reason() -> None:
    agreement = make_agreement(ANSWER, ClientCapabilities(), (*QUIRKS, QUIRK))
    with pytest.raises(NotSupported, match=r"odd does not support session/load: a known quirk \(it only says so\)\."):
        agreement.require("session/load")


def test_without_the_row_it_can_be_called() -> None:
    make_agreement(ANSWER, ClientCapabilities(), QUIRKS).require("session/load")


def compared_names(source: str) -> list[int]:
    """The lines of a module where what an agent calls itself is held against something."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
            case ast.Match(subject):
                sides = [subject]
            case ast.Call(func=ast.Attribute(attr="match" | "fullmatch" | "search" | "startswith" | "endswith")):
                sides = [node.func.value, *node.args]
            case _:
                continue
        texts = [ast.unparse(side) for side in sides]
        if any(re.search(r"\bagent_name\b|\bagent_info\.(name|title)\b", text) for text in texts):
            found.append(node.lineno)
    return found


def test_nothing_but_the_table_looks_at_an_agents_name() -> None:
    assert compared_names('if agreement.agent_name == "x":\n    pass') == [1]
    assert compared_names('x = info.agent_info.name.startswith("x")') == [1]
    library = Path(acp_host.__file__).parent
    looking = {
        str(path.relative_to(library)): lines
        for path in library.rglob("*.py")
        if "agent_" in (source := path.read_text(encoding="utf-8")) and (lines := compared_names(source))
    }
    assert {module: lines for module, lines in looking.items() if not module.startswith(("testing", "ui"))} == {}
