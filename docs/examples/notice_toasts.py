"""What an agent tells the user beside the conversation, as toasts: ``python notice_toasts.py [AGENT…]``."""

import asyncio
import sys

import acp_host
from acp_host.testing import ReferenceAgent

PROMPT = """\
/notice info Settings were reloaded
/notice warning The disk is almost full
/notice warning The disk is almost full
/notice error The model cannot be reached
/say I have told you.
"""


def draw(toasts):
    print(f"--- {len(toasts)} on the screen")
    for toast in toasts:
        times = f" ({toast.count} times)" if toast.count > 1 else ""
        print(f"[{toast.agent_name}] {toast.presentation.look}: {toast.display_title}{times}")


async def main(agent):
    preferences = acp_host.NoticePreferences(info=acp_host.SeverityPreferences(duration=0.5))
    async with acp_host.connect(agent) as host:
        session = await host.new_session(cwd=".")
        session.notices.preferences = preferences
        session.notices.select(lambda notices: notices.toasts, draw)
        print((await session.prompt(PROMPT)).text)
        await asyncio.sleep(1)  # the one of severity "info" leaves by itself
        for notice in session.notices.snapshot().history:
            print(notice.state, notice.display_title, sep=": ")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ReferenceAgent.command()))
