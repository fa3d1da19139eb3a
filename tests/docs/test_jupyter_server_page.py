"""What the page on Jupyter Server shows works."""

from __future__ import annotations

from pathlib import Path

from traitlets.config import Config

from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter_server.app import AcpHostApp
from tests.docs.snippets import read_page, run_snippet, snippets_of
from tests.ui.jupyter_servers import jupyter


async def test_the_examples(tmp_path: Path) -> None:
    configuration, widget, program, files = snippets_of(read_page("docs/jupyter-server.md"))
    config = Config()
    await run_snippet(configuration, c=config)
    app = AcpHostApp(config=config)
    assert list(app.agents) == ["reference", "some-agent", "elsewhere", "careful"]
    assert app.idle_timeout == 3600
    async with jupyter(tmp_path, AcpHostApp__agents={"some-agent": ReferenceAgent.command()}) as server:
        names = await run_snippet(program, url=server.url, token=server.token)
    assert names["agent"]["status"] == "running"
    assert names["hello"]["type"] == "hello"
    await run_snippet(widget)
    assert (await run_snippet(files))["files"].can_write
