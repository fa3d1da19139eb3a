"""What an installed wheel can do with its core dependencies, and with one extra: ``python -P probes.py EXTRA``.

Each probe is run in an environment that has nothing else, so it imports what it wants to try, and no test tools.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXTRA_OF = {
    "acp_host.cli": "cli",
    "acp_host.harn.a2a": "http",
    "acp_host.host.telemetry": "otel",
    "acp_host.services._mcp_package": "mcp",
    "acp_host.transports.streamable_http": "http",
    "acp_host.ui.jupyter": "jupyter",
    "acp_host.ui.jupyter_server": "jupyter-server",
    "acp_host.ui.qt": "qt",
    "acp_host.ui.terminal": "tui",
    # Of no extra: what these adapt to is there before them.
    "acp_host.testing.pytest_plugin": "",
    "acp_host.ui.glib": "",
    "acp_host.ui.tk": "",
}
"""Modules, with all below them, that may need an extra to be imported. All others must do without any."""
LAZY_PACKAGES = ("acp_host", "acp_host.automation", "acp_host.fleet", "acp_host.recording", "acp_host.testing")
"""Packages whose names are to be there with the core dependencies alone."""


def extra_of(module: str) -> str | None:
    """Return the extra that a module may need; ``None``: it has to do without any."""
    homes = [home for home in EXTRA_OF if f"{module}.".startswith(f"{home}.")]
    return EXTRA_OF[max(homes, key=len)] if homes else None


def failures(extra: str | None) -> dict[str, str]:
    """Import all modules that need no more than this extra; return those that fail, and why."""
    failed = {}
    for module in modules():
        if extra_of(module) in (None, extra):
            try:
                importlib.import_module(module)
            except Exception as error:
                failed[module] = f"{type(error).__name__}: {error}"
    return failed


def modules() -> list[str]:
    """Return the names of all modules, without importing them."""
    import acp_host

    found, folders = ["acp_host"], [(Path(acp_host.__file__).parent, "acp_host")]
    while folders:
        folder, package = folders.pop()
        for module in pkgutil.iter_modules([str(folder)], f"{package}."):
            if not module.name.endswith(".__main__"):
                found.append(module.name)
            if module.ispkg:
                folders.append((folder / module.name.rpartition(".")[2], module.name))
    return found


def library() -> None:
    import acp_host

    print(acp_host.__file__)
    for name in LAZY_PACKAGES:
        package = importlib.import_module(name)
        assert len(package.__all__) > 5
        for public in package.__all__:
            getattr(package, public)

    async def converse() -> str:
        async with acp_host.connect([sys.executable, "-m", "acp_host.testing.agent"]) as host:
            session = await host.new_session(cwd=tempfile.gettempdir())
            return (await session.prompt("/say Hello")).text

    assert asyncio.run(converse()) == "Hello"


def core() -> None:
    library()
    assert "inspect" in command("--help").stdout
    ran = command("inspect", "agent")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "pip install 'acp-host[cli]'" in ran.stderr, ran.stderr


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the ``acp-host`` of this environment."""
    program = Path(sys.executable).with_name("acp-host.exe" if sys.platform == "win32" else "acp-host")
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=120)


def cli() -> None:
    import acp_host

    assert command("--version").stdout.split()[-1] == acp_host.__version__
    assert "inspect" in command("--help").stdout
    ran = command("run", sys.executable, "-m", "acp_host.testing.agent", "--", "/say Hello")
    assert "Hello" in ran.stdout, ran.stderr
    assert "acp-host" in command("completion", "bash").stdout
    assert command("agents").returncode == 0


def http() -> None:
    import h2  # noqa: F401 - that it is there is all

    from acp_host.transports.remote import remote_transport

    assert remote_transport("http://127.0.0.1:9/acp").remote


def serve() -> None:
    from acp_host.testing import ReferenceAgent, serve_http

    async def serve_once() -> str:
        async with serve_http(ReferenceAgent().serve) as served:
            return served.url

    assert asyncio.run(serve_once()).startswith("http://127.0.0.1:")


def forms() -> None:
    from acp_host.services._patterns import check_patterns

    assert check_patterns([(r"^\d+$", "42"), (r"^\d+$", "x")]) == ["match", "differs"]


def harn() -> None:
    from acp_host.harn.bridge.skill_folder import SkillFolder

    SkillFolder(tempfile.gettempdir())


def mcp() -> None:
    from mcp.server.mcpserver import MCPServer

    import acp_host

    server = MCPServer("clock")
    server.tool(name="now")(lambda: 42)

    async def lend() -> None:
        async with acp_host.connect([sys.executable, "-m", "acp_host.testing.agent"], unstable=True) as host:
            lent = acp_host.HostMcpServer(server, name="clock")
            session = await host.new_session(cwd=tempfile.gettempdir(), mcp_servers=[lent])
            answer = await session.prompt("/mcp tools/list {}")
            assert "inputSchema" in answer.text, answer.text

    asyncio.run(lend())


def tui() -> None:
    from acp_host.ui.terminal import ChatApp
    from acp_host.ui.terminal.markdown import safe_markdown

    assert ChatApp.CSS_PATH
    assert callable(safe_markdown)


def notebooks() -> None:
    from acp_host.services.files.notebook_format import NotebookFormat

    NotebookFormat()


def jupyter_server() -> None:
    import acp_host.ui.jupyter_server

    [point] = acp_host.ui.jupyter_server._jupyter_server_extension_points()
    point["app"]()
    config = Path(sys.prefix, "etc", "jupyter", "jupyter_server_config.d", "acp_host.json")
    assert "acp_host.ui.jupyter_server" in config.read_text(encoding="utf-8")


def dask() -> None:
    from acp_host.fleet.dask_engine import DaskEngine

    DaskEngine("tcp://127.0.0.1:9")


def otel() -> None:
    import acp_host

    async def converse() -> str:
        agent = [sys.executable, "-m", "acp_host.testing.agent"]
        async with acp_host.connect(agent, telemetry=True) as host:
            session = await host.new_session(cwd=tempfile.gettempdir())
            return (await session.prompt("/say Hello")).text

    assert asyncio.run(converse()) == "Hello"


def watch() -> None:
    from acp_host.reminders.sources.files import _watchfiles

    _watchfiles()


def peers() -> None:
    import acp
    import acp.http

    assert acp.PROTOCOL_VERSION == 1


def jupyter() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    from acp_host.ui.jupyter import load_ipython_extension

    load_ipython_extension(InteractiveShell())


def qt() -> None:
    from PySide6.QtCore import QCoreApplication, QObject

    from acp_host.ui.qt import QtDispatch

    application = QCoreApplication([])
    QtDispatch(QObject(application)).end()


def fuzz() -> None:
    import atheris  # noqa: F401 - that it is there is all


def docs() -> None:
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory() as folder:
        settings = 'extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]\nhtml_theme = "furo"\n'
        (Path(folder) / "conf.py").write_text(settings)
        (Path(folder) / "index.md").write_text("# A page\n\n```{eval-rst}\n.. autoclass:: acp_host.Session\n```\n")
        assert build_main(["-q", folder, f"{folder}/html"]) == 0
        assert "id of the session" in (Path(folder) / "html/index.html").read_text()


def dev() -> None:
    for name in ("hypothesis", "mypy", "pytest", "ruff", "towncrier"):
        importlib.import_module(name)


PROBES = {
    "library": library,
    "core": core,
    "cli": cli,
    "http": http,
    "serve": serve,
    "forms": forms,
    "harn": harn,
    "mcp": mcp,
    "tui": tui,
    "notebooks": notebooks,
    "jupyter-server": jupyter_server,
    "dask": dask,
    "otel": otel,
    "watch": watch,
    "peers": peers,
    "jupyter": jupyter,
    "qt": qt,
    "fuzz": fuzz,
    "docs": docs,
    "dev": dev,
}
"""What is installed → what tries it and raises if it is incomplete; ``library`` is ``core`` without the command."""


def main(name: str) -> None:
    failed = failures(None if name in ("core", "library") else name)
    assert not failed, "\n".join(f"{module}: {why}" for module, why in failed.items())
    PROBES[name]()


if __name__ == "__main__":
    main(sys.argv[1])
