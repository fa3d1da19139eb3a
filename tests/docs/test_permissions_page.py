"""What the page about permissions shows works, and its tables are complete."""

from __future__ import annotations

import os
import re
from pathlib import Path

import attrs
import pytest

from acp_host.services.audit import AuditDecision, DecidedBy
from acp_host.services.permission_options import PermissionDecision
from acp_host.services.permission_rules import PermissionRule
from acp_host.services.permissions import PermissionPolicy
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import ROOT, read_page, run_page

PAGE = "docs/permissions.md"
POLICY = re.findall(r"^```toml\n(.*?)^```", read_page(PAGE), re.MULTILINE | re.DOTALL)[0]


async def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "policy.toml").write_text(POLICY)
    recording = ROOT / "fixtures" / "permissions" / "qwen.jsonl"
    names = await run_page(PAGE, agent=ReferenceAgent.command(), recording=recording)
    said = capsys.readouterr().out
    assert "session/request_permission allowed policy edit the sources\n" in said
    assert "fs/write_text_file allowed" in said
    assert "session/request_permission rejected policy None\n" in said
    assert "ask: no rule matches" in said
    assert "the rule 'edit the sources' does not decide: it is not for the path" in said
    assert re.search(r"session/request_permission ask then: \w+", said)
    assert "Edit elsewhere.txt ['Allow'" in said
    assert f"edit {os.path.join(os.getcwd(), 'elsewhere.txt')}\n" in said
    assert said.count("Edit elsewhere.txt [") == 1, "the second time it is remembered"
    assert (tmp_path / "audit.jsonl").read_text().count("\n") == len(names["audit"].records) > 0


def test_the_policy_of_the_page() -> None:
    policy = PermissionPolicy.from_toml(POLICY)
    assert [rule.name for rule in policy.rules] == ["edit the sources", "look at the repository", "never"]


def test_the_tables_are_complete() -> None:
    page = read_page(PAGE)
    for word in (*AuditDecision, *DecidedBy, *(set(PermissionDecision) - {"cancel"})):
        assert f"`{word}`" in page
    for attribute in attrs.fields(PermissionRule):
        assert re.search(rf"`{attribute.name}\b", page)
