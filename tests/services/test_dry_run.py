"""What policies would have decided in conversations that real agents have had.

Of those, ``fixtures/permissions`` has the requests that somebody decides about, what the agent had said of their tool
calls, and how they were answered.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.services.dry_run import DryRunEntry
from acp_host.services.permission_rules import PermissionRule
from acp_host.services.permissions import PermissionPolicy

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "permissions"
WORKSPACE = PermissionPolicy(
    "reject_once",
    rules=(
        PermissionRule(name="workspace", decision="allow_once", kinds=("edit", "read"), paths=("**",)),
        PermissionRule(name="sleep", decision="allow_once", commands=("sleep *", "python3 *"), programs=("sleep",)),
    ),
)


def entries(agent: str, policy: PermissionPolicy = WORKSPACE) -> tuple[DryRunEntry, ...]:
    return policy.dry_run(RECORDINGS / f"{agent}.jsonl")


AGENTS = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))
# deepagents names no kind, so no rule that names kinds allows what it asks for.
EDITORS = [agent for agent in AGENTS if agent not in ("acpsdk-ts-example", "deepagents")]


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_outside_of_the_workspace_and_no_line_of_shell_is_allowed(agent: str) -> None:
    found = entries(agent)
    assert found
    for entry in found:
        subject = entry.subject
        if entry.decision.allows:
            assert all(path.startswith("/workspace/") for path in subject.paths) or subject.command == "sleep 30"
        if subject.command and ("&&" in subject.command or ";" in subject.command):
            assert not entry.decision.allows


@pytest.mark.parametrize("agent", EDITORS)
def test_every_agent_that_asks_to_edit_in_the_workspace_may(agent: str) -> None:
    edits = [entry for entry in entries(agent) if entry.subject.kind == "edit"]
    inside = [entry for entry in edits if entry.subject.paths == ("/workspace/made.txt",)]
    outside = [entry for entry in edits if "/home/user/outside.txt" in entry.subject.paths]
    assert inside
    assert {entry.explanation.rule and entry.explanation.rule.name for entry in inside} == {"workspace"}
    assert {entry.decision for entry in outside} <= {"reject_once"}


@pytest.mark.parametrize(
    ("agent", "commands"),
    [
        ("claude-agent-acp-new", {"touch /workspace/never", "touch /workspace/never2; curl http://127.0.0.1:1/"}),
        ("codex-acp", {"touch escalated"}),
        ("fast-agent", {"echo hi-42 && touch /workspace/shell-ran", "sleep 30"}),
        ("opencode", {"touch /workspace/never"}),
        ("qwen", {"touch /workspace/never"}),
        ("pydantic-acp", {"sleep 30"}),
        ("gemini", {None}),
    ],
)
def test_the_commands_that_agents_name_are_found(agent: str, commands: set[str]) -> None:
    assert commands <= {entry.subject.command for entry in entries(agent)}


def test_a_shell_around_a_command_is_seen_through() -> None:
    """fast-agent asks for the line, and then has a shell run it."""
    created = [entry for entry in entries("fast-agent") if entry.method == "terminal/create"]
    assert [entry.subject.command for entry in created] == ["echo hi-42 && touch /workspace/shell-ran", "sleep 30"]
    assert [entry.decision for entry in created] == ["reject_once", "allow_once"]


def test_a_rejecting_rule_reads_the_title_of_what_names_no_command() -> None:
    """gemini says its command in the title only."""
    policy = PermissionPolicy("allow_once", rules=(PermissionRule(decision="reject_once", programs=("curl",)),))
    rejected = [entry.subject.title for entry in entries("gemini", policy) if not entry.decision.allows]
    assert rejected == ["touch /workspace/never2; curl http://127.0.0.1:1/"]


def test_what_was_answered_then_stands_beside_what_would_be() -> None:
    answers = Counter(entry.answer for entry in entries("opencode"))
    assert answers["reject"] >= 1
    assert answers["once"] >= 1
    assert answers["done"] >= 1


@pytest.mark.parametrize(("default", "decisions"), [("allow_once", {"allow_once"}), ("ask", {"ask"})])
@pytest.mark.parametrize("agent", AGENTS)
def test_without_rules_the_default_decides(agent: str, default: str, decisions: set[str]) -> None:
    assert {entry.decision for entry in entries(agent, PermissionPolicy(default))} == decisions


def recorded(*messages: tuple[str, dict[str, Any]]) -> list[str]:
    return [json.dumps({"dir": direction, "t": 0, "msg": message}) for direction, message in messages]


def test_a_direct_write_follows_the_decision_about_the_same_thing_in_its_turn() -> None:
    policy = PermissionPolicy(rules=(PermissionRule(decision="allow_once", titles=("Edit *",)),))
    write = {"id": 2, "method": "fs/write_text_file", "params": {"sessionId": "s", "path": "/w/a", "content": "x"}}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit a", "kind": "edit"}
    where = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "locations": [{"path": "/w/a"}]}
    lines = recorded(
        ("out", {"id": 1, "method": "session/new", "params": {"cwd": "/w"}}),
        ("in", {"id": 1, "result": {"sessionId": "s"}}),
        ("out", {"id": 2, "method": "session/prompt", "params": {"sessionId": "s"}}),
        ("in", {"method": "session/update", "params": {"sessionId": "s", "update": call}}),
        ("in", {"method": "session/update", "params": {"sessionId": "s", "update": where}}),
        (
            "in",
            {
                "id": 1,
                "method": "session/request_permission",
                "params": {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []},
            },
        ),
        ("in", write),
        ("out", {"id": 2, "error": {"code": -32602, "message": "no"}}),
        ("out", {"id": 3, "method": "session/prompt", "params": {"sessionId": "s"}}),
        ("in", write),
    )
    found = policy.dry_run(lines)
    assert [(entry.line, entry.decision, entry.answer) for entry in found] == [
        (6, "allow_once", None),
        (7, "allow_once", "refused"),
        (10, "reject_once", None),
    ]


def test_what_is_no_message_is_passed_over_and_what_is_no_line_is_an_error() -> None:
    odd = ['{"dir": "meta", "note": "x"}', "", '{"dir": "in", "raw": "x"}', '{"dir": "in", "msg": 7}']
    odd += recorded(("in", {"id": 1, "method": "session/request_permission", "params": {"options": 1}}))
    odd += recorded(("in", {"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call"}}}))
    assert PermissionPolicy().dry_run(odd) == ()
    for wrong, why in {"{": "it is not JSON", "[]": "it is not a JSON object", "{}": '"dir" is neither'}.items():
        with pytest.raises(InvalidInput, match=f"line {len(odd) + 1} of the recording cannot be read: {why}"):
            PermissionPolicy().dry_run([*odd, wrong])


def test_a_recording_in_parts_or_compressed_is_read_like_every_other(tmp_path: Path) -> None:
    opens = recorded(
        ("out", {"id": 1, "method": "session/new", "params": {"cwd": "/w"}}),
        ("in", {"id": 1, "result": {"sessionId": "s"}}),
    )
    write = {"method": "fs/write_text_file", "params": {"sessionId": "s", "path": "/w/a", "content": "x"}}
    asks = recorded(("in", {"id": 2, **write}), ("in", {"id": 3, **write}))
    continues = '{"dir": "meta", "event": "continues", "note": "part 2", "part": 2, "first": 1}'
    (tmp_path / "talk.1.jsonl").write_text("\n".join([*opens, asks[0], ""]))
    (tmp_path / "talk.jsonl").write_text("\n".join([continues, asks[1], ""]))
    found = WORKSPACE.dry_run(tmp_path / "talk.jsonl")
    assert [(entry.line, entry.subject.paths) for entry in found] == [(3, ("/w/a",)), (2, ("/w/a",))]
    with gzip.open(tmp_path / "packed.jsonl.gz", "wt") as packed:
        packed.write("\n".join([*opens, *asks, ""]))
    assert [entry.decision for entry in WORKSPACE.dry_run(tmp_path / "packed.jsonl.gz")] == ["allow_once"] * 2
