"""One reminder, four agents, and the rung of the ladder that takes it with each: ``python reminder_ladder.py``."""

import asyncio

import acp_host
from acp_host.testing import ReferenceAgent

MARKED = acp_host.ReminderPolicy(rungs=["inject_reminder", "remind", "prefixed_user_message"])
AGENTS = {
    "one with the draft of the protocol": (ReferenceAgent(), False, None),
    "one that does it as Harn does": (ReferenceAgent(without=["reminders"], also=["harn_reminders"]), False, None),
    "one that has no way, beside a person": (ReferenceAgent(without=["reminders"]), True, None),
    "one that has no way, marked text allowed": (ReferenceAgent(without=["reminders"]), False, MARKED),
}


async def main():
    for title, (agent, sidebar, policy) in AGENTS.items():
        async with acp_host.connect(agent.transport(), sidebar=sidebar) as host:
            session = await host.new_session()
            print(title)
            for step in session.plan_reminder("2 tests failed", policy=policy):  # sends nothing
                print(f"  {'takes it ' if step.available else 'not there'} {step.rung:22} {step.reason}")
            session.remind_soon("2 tests failed", policy=policy)
            result = await session.prompt("/reminders")
            [reminder] = session.reminders.snapshot().entries
            print(f"  {reminder.rung}: {reminder.status}. The agent says: {' '.join(result.text.split())}\n")


if __name__ == "__main__":
    asyncio.run(main())
