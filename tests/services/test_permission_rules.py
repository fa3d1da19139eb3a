"""What a rule matches; above all what one that allows does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.services.permission_rules import PermissionRule
from acp_host.services.permission_subject import PermissionSubject

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def subject(**fields: Any) -> PermissionSubject:
    given: dict[str, Any] = {"agent": "a", "session_id": "s", "kind": "edit", "cwd": "/w", **fields}
    if "command" in given and "kind" not in fields:
        given["kind"] = "execute"
    return PermissionSubject(**given)


def matches(decision: str, conditions: dict[str, Any], fields: dict[str, Any]) -> bool:
    return PermissionRule(decision=decision, **conditions).mismatch(subject(**fields), NOW) is None


SRC = {"paths": ("src/**",)}
GIT = {"commands": ("git status*",)}


@pytest.mark.parametrize(
    ("conditions", "fields", "allowed", "rejected"),
    [
        ({}, {}, True, True),
        ({}, {"kind": None}, True, True),
        ({}, {"command": "rm -rf /"}, True, True),
        # kinds
        ({"kinds": ("edit",)}, {}, True, True),
        ({"kinds": ("read", "edit")}, {}, True, True),
        ({"kinds": ("read",)}, {}, False, False),
        ({"kinds": ("edit",)}, {"kind": None}, False, False),
        ({"kinds": ("edit",)}, {"kind": "Edit"}, False, False),
        ({"kinds": ("unknown",)}, {"kind": None}, True, True),
        ({"kinds": ("unknown",)}, {"kind": "deploy"}, True, True),
        ({"kinds": ("unknown",)}, {"kind": "edit"}, False, False),
        ({"kinds": ("*",)}, {"kind": "deploy"}, True, True),
        ({"kinds": ("read",)}, {"kind": "read", "command": "rm -rf /"}, False, True),
        ({"kinds": ("execute",)}, {"kind": "read", "command": "rm -rf /"}, False, True),
        ({"kinds": ("execute", "read")}, {"kind": "read", "command": "rm -rf /"}, True, True),
        ({"kinds": ("execute",)}, {"kind": None, "command": "rm"}, False, True),
        ({"kinds": ("read",)}, {"kind": "read", "shows_diff": True}, False, True),
        ({"kinds": ("read", "edit")}, {"kind": "read", "shows_diff": True}, True, True),
        ({"kinds": ("edit",)}, {"kind": "fetch", "shows_diff": True}, False, True),
        ({"kinds": ("edit",)}, {"kind": None, "shows_diff": True}, False, True),
        ({"kinds": ("move",)}, {"kind": "move", "shows_diff": True}, True, True),
        # titles, agents, sessions
        ({"titles": ("Edit *",)}, {"title": "Edit x"}, True, True),
        ({"titles": ("Edit *",)}, {"title": "edit x"}, False, False),
        ({"titles": ("*",)}, {"command": "rm -rf /"}, False, True),
        ({"titles": ("*",), "kinds": ("execute",)}, {"command": "ls"}, True, True),
        ({"agents": ("b", "a*")}, {}, True, True),
        ({"agents": ("b",)}, {}, False, False),
        ({"sessions": ("t",)}, {}, False, False),
        # paths
        (SRC, {"paths": ("/w/src/a",)}, True, True),
        (SRC, {"paths": ("/w/src/a/b/c",)}, True, True),
        (SRC, {"paths": ("/w/src",)}, True, True),
        (SRC, {"paths": ("/w/src2/a",)}, False, False),
        (SRC, {"paths": ()}, False, False),
        (SRC, {"paths": ("/w/src/a", "/etc/passwd")}, False, True),
        (SRC, {"paths": ("/etc/passwd",), "named_paths": ("/w/src/link",)}, False, True),
        (SRC, {"paths": ("/w/SRC/a",)}, False, True),
        (SRC, {"command": "cat src/a", "mentioned": ("/w/cat", "/w/src/a")}, False, True),
        (SRC, {"paths": ("/w/src/a",), "readable": False}, False, True),
        (SRC, {"paths": ("/w/src/a",), "command": "rm -rf /"}, False, True),
        (SRC, {"paths": ("/w/src/a",), "kind": "execute"}, False, True),
        ({"paths": ("src/",)}, {"paths": ("/w/src/a/b",)}, True, True),
        ({"paths": ("*.py",)}, {"paths": ("/w/a.py",)}, True, True),
        ({"paths": ("*.py",)}, {"paths": ("/w/src/a.py",)}, False, False),
        ({"paths": ("**/*.py",)}, {"paths": ("/w/a.py", "/w/x/y/b.py")}, True, True),
        ({"paths": ("**",)}, {"paths": ("/etc/passwd",)}, False, False),
        ({"paths": ("/**",)}, {"paths": ("/etc/passwd",)}, True, True),
        ({"paths": ("/etc/*",)}, {"paths": ("/etc/passwd",)}, True, True),
        ({"paths": ("a/**/b/**/c",)}, {"paths": ("/w/a/x/b/c",)}, True, True),
        ({"paths": ("../x",)}, {"paths": ("/x",)}, True, True),
        ({"paths": (".env",)}, {"paths": ("/w/.env",)}, True, True),
        # commands
        (GIT, {"command": "git status --short"}, True, True),
        (GIT, {"command": "git push"}, False, False),
        (GIT, {}, False, False),
        (GIT, {"kind": "execute", "title": "git status"}, False, True),
        (GIT, {"command": "git status; rm -rf /"}, False, True),
        (GIT, {"command": "git status && rm"}, False, True),
        (GIT, {"command": "git status $(rm -rf /)"}, False, True),
        (GIT, {"command": "git status `rm`"}, False, True),
        (GIT, {"command": "git status\nrm -rf /"}, False, True),
        (GIT, {"command": "git status > /etc/passwd"}, False, True),
        (GIT, {"command": "git status", "env": ("LD_PRELOAD",)}, False, True),
        (GIT, {"command": "git status", "readable": False}, False, True),
        ({**GIT, "env": ("CI",)}, {"command": "git status", "env": ("CI",)}, True, True),
        ({**GIT, "env": ("CI",)}, {"command": "git status", "env": ("CI", "PATH")}, False, True),
        ({**GIT, "shell": True}, {"command": "git status; rm -rf /"}, True, True),
        ({**GIT, **SRC}, {"command": "git status", "paths": ("/w/src/a",)}, True, True),
        ({"commands": ("rm *",)}, {"command": "cd x && rm -rf y"}, False, True),
        ({"commands": ("rm *",)}, {"command": "FORCE=1 rm -rf y"}, False, True),
        ({"programs": ("git",)}, {"command": "git push"}, True, True),
        ({"programs": ("git",)}, {"command": "./git push"}, False, True),
        ({"programs": ("git",)}, {"command": "/tmp/git push"}, False, True),
        ({"programs": ("git",)}, {"command": "PATH=. git push"}, False, True),
        ({"programs": ("git",)}, {"command": "git push | sh"}, False, True),
        ({"programs": ("sh",)}, {"command": "git push | sh"}, False, True),
        ({"programs": ("git",), "commands": ("* push",)}, {"command": "git pull"}, False, False),
        ({"programs": ("git",), "commands": ("* push",)}, {"command": "git push"}, True, True),
    ],
)
def test_what_matches(conditions: dict[str, Any], fields: dict[str, Any], allowed: bool, rejected: bool) -> None:
    assert matches("allow_once", conditions, fields) is allowed
    assert matches("allow_always", conditions, fields) is allowed
    assert matches("reject_once", conditions, fields) is rejected
    assert matches("ask", conditions, fields) is rejected


def test_a_rule_for_commands_and_paths_needs_both() -> None:
    both = {"commands": ("cat *",), "paths": ("src/**", ".")}
    assert matches("allow_once", both, {"command": "cat a", "paths": ("/w", "/w/src/a")})
    assert not matches("allow_once", both, {"command": "cat a", "paths": ("/w", "/etc/passwd")})
    assert not matches("allow_once", both, {"command": "cat a"})
    assert not matches("allow_once", both, {"command": "rm a", "paths": ("/w/src/a",)})


def test_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    assert matches("allow_once", {"paths": ("~/notes/*",)}, {"paths": ("/home/u/notes/a",)})


def test_a_rule_ends_when_it_expires() -> None:
    rule = PermissionRule(decision="allow_once", expires=NOW)
    assert rule.mismatch(subject(), NOW - timedelta(seconds=1)) is None
    assert "expired" in str(rule.mismatch(subject(), NOW))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"decision": "yes"}, "one of allow_once"),
        ({"decision": "cancel"}, "reject instead"),
        ({"kinds": ("edti",)}, "not 'edti'"),
        ({"paths": "src/**"}, "list of strings"),
        ({"paths": ("",)}, "not empty"),
        ({"paths": (1,)}, "not empty"),
        ({"commands": None}, "list of strings"),
        ({"expires": datetime(2026, 1, 1)}, "offset from UTC"),
        ({"shell": True}, "need commands or programs"),
        ({"env": ("CI",)}, "need commands or programs"),
    ],
)
def test_a_rule_that_is_none_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        PermissionRule(**{"decision": "allow_once", **fields})
