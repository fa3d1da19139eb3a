"""A conversation as a page in the browser, served by your own program: ``python web_page.py [AGENT…]``.

Open the address that it prints, prompt, and answer what the agent asks. Ctrl-C ends it.
"""

import asyncio
import contextlib
import sys

import acp_host
from acp_host.testing import ReferenceAgent
from acp_host.ui.feed import Feed
from acp_host.ui.serve import serve_feed


async def main(agent):
    queue, logins = acp_host.PermissionQueue(), acp_host.LoginQueue()
    connection = acp_host.connect(agent, permissions=queue, authenticate=logins, sidebar=True)
    async with connection as host:
        session = await host.new_session(cwd=".")
        async with Feed(host, permissions=queue, logins=logins) as feed, serve_feed(feed) as served:
            print(served.url, flush=True)
            session.prompt("What is in this folder?")
            await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(sys.argv[1:] or ReferenceAgent.command("--delay", "0.03")))
