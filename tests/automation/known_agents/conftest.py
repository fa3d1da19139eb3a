from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import define, field

from acp_host.automation.known_agents import Locations


@define
class Files:
    """Files that a server of this machine has.

    Attributes:
        url: the server.
        bodies: path → content.
        redirects: path → where it leads.
        silent: paths for which there is no answer.
        asked: the paths that were asked for.
    """

    url: str
    bodies: dict[str, bytes] = field(factory=dict)
    redirects: dict[str, str] = field(factory=dict)
    silent: set[str] = field(factory=set)
    asked: list[str] = field(factory=list)


@pytest.fixture
def server() -> Iterator[Files]:
    """A server of files, over HTTP and from this machine only."""

    released = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            files.asked.append(self.path)
            if self.path in files.silent:
                released.wait()
                return
            if self.path in files.redirects:
                self.send_response(302)
                self.send_header("Location", files.redirects[self.path])
            elif self.path in files.bodies:
                self.send_response(200)
                self.send_header("Content-Length", str(len(files.bodies[self.path])))
            else:
                self.send_response(404)
            self.end_headers()
            self.wfile.write(files.bodies.get(self.path, b""))

        def log_message(self, *args: object) -> None:
            pass

    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    files = Files(f"http://127.0.0.1:{served.server_port}")
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield files
    released.set()
    served.shutdown()
    served.server_close()
    thread.join()


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    """A user's files, none of them there yet."""
    return Locations(
        own=tmp_path / "config" / "agents.toml",
        registries=tmp_path / "registries",
        programs=tmp_path / "programs",
        seen=tmp_path / "state" / "agents-seen.json",
    )
