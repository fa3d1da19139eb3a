"""What agents make of a cancelled turn. Nothing happens unless the host cancels."""

from __future__ import annotations

from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter, Play
from acp_host.testing.chaos.journal import What
from acp_host.testing.chaos.messages import ASK, CANCELLED, FORM, permission

__all__ = ["CHAPTER", "ERRORS", "WORDS"]

CHAPTER = Chapter("Cancelling")

_STOPPED = {"stopReason": "cancelled"}


def _cancelled(after: Any) -> Play:
    """A turn that is cancelled; ``after`` takes the agent and the prompt, and ends it."""

    async def play(agent: Encounter) -> None:
        await agent.begin()
        prompt = await agent.prompt()
        agent.say("half an ans")
        if await agent.cancelled():
            await after(agent, prompt)
        else:
            agent.end(prompt)

    return play


def _add(number: int, name: str, does: str, rule: str, row: str, after: Any) -> None:
    CHAPTER.add(number, name, does=does, rule=rule, row=row, whole=_cancelled(after), cancels=True, ends=Ends.EITHER)


@CHAPTER.whole(
    191,
    "question-open-at-cancel",
    does="Waits for answers to questions, and so cannot end a turn that is cancelled.",
    rule="A cancel answers every open question of the session: permissions `cancelled`, forms `cancel`.",
    row="R60",
    cancels=True,
    ends=Ends.EITHER,
)
async def question_open_at_cancel(agent: Encounter) -> None:
    await agent.begin()
    await agent.next("session/prompt")
    prompt = agent.received[-1]
    asked = [agent.request(ASK, permission()) for _ in range(3)]
    form = agent.request("elicitation/create", FORM)
    agent.journal.note(What.WORKING)
    answers = [await agent.answer(request_id) for request_id in asked]
    if await agent.cancelled(1):
        await agent.answer(form, patience=1)
    for answer in answers:
        agent.must("an open question is answered, or cancelled with its turn", bool(answer), answer)
    agent.end(prompt, _STOPPED)


async def _asks_after(agent: Encounter, prompt: Any) -> None:
    answer = await agent.ask(ASK, permission())
    agent.must("what is asked after the cancel is answered `cancelled`", answer.get("result") == CANCELLED, answer)
    agent.end(prompt, _STOPPED)


_add(
    192,
    "asks-after-cancel",
    "Asks for permission after the cancel has come, since its work was on the way.",
    "Answer `cancelled`, and show it to nobody.",
    "R60",
    _asks_after,
)

ERRORS = (-32800, -32603, -32000, -32601, 1)
"""Codes that cancelled prompts are answered with."""


def _fails(code: int) -> Any:
    async def after(agent: Encounter, prompt: Any) -> None:
        agent.reply_error(code, "aborted", {"why": "AbortError"}, to=prompt)
        agent.ended(prompt)

    return after


for _number, _code in enumerate(ERRORS, 193):
    _add(
        _number,
        f"error-after-cancel-{abs(_code)}",
        f"Answers a cancelled prompt with the error {_code}.",
        "The user has cancelled, so the turn is cancelled and has not failed; what was said is kept.",
        "R61",
        _fails(_code),
    )

WORDS = ("end_turn", "max_tokens", "refusal", "canceled", "aborted")
"""Stop reasons of cancelled turns."""


def _says(word: str) -> Any:
    async def after(agent: Encounter, prompt: Any) -> None:
        agent.say("last words", "session-1")
        agent.end(prompt, {"stopReason": word})

    return after


for _number, _word in enumerate(WORDS, 198):
    _add(
        _number,
        f"says-{_word.replace('_', '-')}-after-cancel",
        f"Answers a cancelled prompt with `{_word}`.",
        "Know by yourself that it was cancelled, whatever the agent calls it.",
        "R62",
        _says(_word),
    )


async def _talks_on(agent: Encounter, prompt: Any) -> None:
    for number in range(500):
        agent.say(f"{number} ", "session-1")
    agent.end(prompt, _STOPPED)
    agent.say("and on", "session-1")


_add(
    203,
    "talks-on-after-cancel",
    "Says five hundred more things after the cancel, and something after the end.",
    "Take it until the agent ends the turn.",
    "R65",
    _talks_on,
)


async def _needs_more(agent: Encounter, prompt: Any) -> None:
    agent.over()
    await agent.next("$/cancel_request")
    agent.reply_error(-32800, "request cancelled", to=prompt)
    agent.ended(prompt)


_add(
    204,
    "ignores-cancel",
    "Ignores a cancel, and ends only when its prompt is withdrawn by `$/cancel_request`.",
    "Wait for a bounded time, then withdraw the prompt, or end the agent.",
    "R64",
    _needs_more,
)


async def _deaf(agent: Encounter, _: Any) -> None:
    agent.over()
    await agent.stall()


_add(
    205,
    "ignores-everything",
    "Never ends a cancelled turn, whatever it is told.",
    "Take the turn as over after a bounded time.",
    "R64",
    _deaf,
)


async def _dies(agent: Encounter, prompt: Any) -> None:
    agent.log("panic: cancel of nil turn")
    raise SystemExit(101)


_add(
    206,
    "dies-of-cancel",
    "Dies when it is told to cancel.",
    "The turn is over, with what is known of the end.",
    "R69",
    _dies,
)
