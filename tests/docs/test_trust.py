"""What the page on trust shows works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_host import sandbox
from acp_host.services.change_verdicts import ChangeVerdict
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.transports import Launch, Launcher
from tests.docs.snippets import read_page, run_page
from tests.sandboxes import WORKS, keep_checkout

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no sandbox on Windows")


CARELESS = """
from pathlib import Path
await agent.handshake()
await agent.open_session()
prompt = await agent.expect("session/prompt")
Path(".env").write_text("")
agent.reply({"stopReason": "end_turn"}, to=prompt)
await agent.stall()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    (tmp_path / ".git/hooks").mkdir(exist_ok=True)
    (tmp_path / ".env").write_text("KEY=1")
    return tmp_path


async def test_the_page(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_sandbox(**given: object) -> Launcher:
        def same(launch: Launch) -> Launch:
            return launch

        return same

    keep_checkout(monkeypatch)
    if not WORKS:  # the example is about connect(), too
        monkeypatch.setattr(sandbox, "sandbox_here", no_sandbox)
    commands = {"agent_command": ReferenceAgent.command(), "careless_command": ScriptedAgent.command(CARELESS)}
    names = await run_page("docs/trust.md", **commands)
    violation = str(names["violation"])
    assert violation.endswith("/.env (modified): the rule 'keys' matches")
    assert capsys.readouterr().out == f"policy_violated\n{violation}\nHello\n"
    assert names["host"].closed


def test_every_verdict_is_explained() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \w", read_page("docs/trust.md"), re.MULTILINE)
    assert set(ChangeVerdict) <= set(rows)
