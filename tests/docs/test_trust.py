"""What the page on trust shows works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from acp_host import sandbox
from acp_host.testing import ReferenceAgent
from acp_host.transports import Launch, Launcher
from tests.docs.snippets import run_page
from tests.test_sandbox import WORKS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no sandbox on Windows")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    (tmp_path / ".git/hooks").mkdir(exist_ok=True)
    return tmp_path


async def test_the_page(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_sandbox(**given: object) -> Launcher:
        def same(launch: Launch) -> Launch:
            return launch

        return same

    if not WORKS:  # the example is about connect(), too
        monkeypatch.setattr(sandbox, "sandbox_here", no_sandbox)
    names = await run_page("docs/trust.md", agent_command=ReferenceAgent.command())
    assert capsys.readouterr().out == "Hello\n"
    assert names["host"].closed
