"""Functions of the host that a script can call."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    HostTool,
)
from tests.harn.bridge_calls import ask, error, open_file


class TestTools:
    async def test_they_are_listed_with_all_that_belongs_to_them(self):
        old = HostTool(name="old", function=print, deprecated=True)
        answer = await ask(HarnBridge(tools=[open_file, old]), "host/tools/list")
        assert answer["result"] == {
            "tools": [
                {
                    "name": "open_file",
                    "description": "Show a file in the editor.",
                    "schema": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}, "line": {"type": "integer"}},
                        "required": ["path"],
                        "additionalProperties": False,
                    },
                    "deprecated": False,
                },
                {"name": "old", "description": "", "schema": None, "deprecated": True},
            ]
        }
        assert (await ask(HarnBridge(), "host/tools/list"))["result"] == {"tools": []}

    @pytest.mark.parametrize("args", [[{"path": "a", "line": 3}], {"path": "a", "line": 3}])
    async def test_the_arguments_may_stand_in_an_array(self, args: Any):
        answer = await ask(HarnBridge(tools=[open_file]), "builtin_call", {"name": "open_file", "args": args})
        assert answer == {"result": "a:3"}

    @pytest.mark.parametrize("args", [[], None, [None], [{}], {}])
    async def test_a_tool_may_take_none(self, args: Any):
        async def ping() -> str:
            return "pong"

        params = {"name": "ping", "args": args}
        assert await ask(HarnBridge(tools=[ping]), "builtin_call", params) == {"result": "pong"}

    @pytest.mark.parametrize(
        ("args", "text"),
        [
            ([{}], "'path' is a required property"),
            ([{"path": 3}], "3 is not of type 'string'"),
            ([{"path": "a", "line": True}], "is not of type 'integer'"),
            ([{"path": "a", "other": 1}], "Additional properties"),
            ([{"path": "a"}, 3], "takes one object"),
            (["a"], "takes one object"),
            ("a", "takes one object"),
        ],
    )
    async def test_arguments_that_do_not_fit_are_refused(self, args: Any, text: str):
        answer = await ask(HarnBridge(tools=[open_file]), "builtin_call", {"name": "open_file", "args": args})
        error(-32602, text, answer)

    async def test_a_denial_says_that_it_is_one(self):
        answer = await ask(
            HarnBridge(tools=[open_file]), "builtin_call", {"name": "open_file", "args": [{"path": "secret"}]}
        )
        assert answer == {"error": {"code": -32001, "message": "this file is not for you"}}

    @pytest.mark.parametrize("name", ["other", None, 3, ["open_file"]])
    async def test_what_is_not_there_is_not_found(self, name: Any):
        error(-32601, "no such tool", await ask(HarnBridge(tools=[open_file]), "builtin_call", {"name": name}))

    async def test_tools_come_and_go(self):
        bridge = HarnBridge()
        tool = bridge.tools.add(open_file)
        assert tool.name == "open_file"
        with pytest.raises(InvalidInput, match="already"):
            bridge.tools.add(open_file)
        bridge.tools.remove("open_file")
        bridge.tools.remove("open_file")
        assert bridge.tools.descriptors() == []

    @pytest.mark.parametrize("args", [{"path": "a"}, {"path": "a" * 600}])
    async def test_a_schema_of_ones_own_counts(self, args: dict[str, str]):
        schema = {"type": "object", "properties": {"path": {"const": "b"}}}
        tool = HostTool(name="t", function=lambda args: args["path"], schema=schema)
        answer = await ask(HarnBridge(tools=[tool]), "builtin_call", {"name": "t", "args": args})
        error(-32602, "t: ", answer)
        assert len(answer["error"]["message"]) <= 500
        good = await ask(HarnBridge(tools=[tool]), "builtin_call", {"name": "t", "args": {"path": "b"}})
        assert good == {"result": "b"}

    def test_what_makes_no_tool_is_refused(self):
        for wrong in (
            lambda: HostTool(name="", function=print),
            lambda: HostTool(name="t", function=3),
            lambda: HostTool(name="t", function=print, schema={"type": "nonsense"}),
            lambda: HostTool.of(lambda: 1),
            lambda: HostTool.of(3),
            lambda: HostTool.of(dict),
        ):
            with pytest.raises(InvalidInput):
                wrong()
        assert HostTool.of(lambda: 1, name="one").name == "one"
