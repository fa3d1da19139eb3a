"""What arrives on stdout and is no proper message: noise, broken encodings, sizes."""

from __future__ import annotations

import json
import random

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter, Step
from acp_host.testing.chaos.journal import What
from acp_host.testing.chaos.messages import ASK, DONE, chunk, line, message_update, permission

__all__ = ["CHAPTER", "NOISE", "NOT_QUITE_JSON", "TEXT_OF_MANY_BYTES", "nested"]

CHAPTER = Chapter("What arrives on stdout")

NOISE: dict[str, bytes] = {
    "migration log": b"[2026-01-02 03:04:05] INFO applying migration 0007_sessions\n",
    "config log": b"DEBUG config: merged 3 files {'model': 'x'}\n",
    "banner": b"Loaded cached credentials.\n",
    "name in brackets": b"[Some ACP Agent] session store ready\n",
    "escape sequences": b"\x1b[2J\x1b[H\x1b[1;32mready\x1b[0m\r\n",
    "JSON string": b'"listening"\n',
    "JSON number": b"42\n",
    "JSON null": b"null\n",
    "box": "╭─ Agent ─────╮\n│ [b]hello[/b] │\n╰─────────────╯\n".encode(),
    "literal of another language": b"{ level: 'info', msg: 'ready' }\n",
    "template": b"{model} is ready\n",
    "batch": b'[{"jsonrpc":"2.0","id":1,"method":"session/update","params":{}}]\n',
    "blank lines": b"\n\r\n   \n",
}
"""Lines that are no messages."""

_IGNORE = "Leave such lines out, say so where a developer sees it, and never answer them: the turn is as without them."


def _noisy(noise: bytes) -> Step:
    """Print it before and after every message of a conversation."""

    async def play(agent: Encounter) -> None:
        agent.send_raw(noise)
        await agent.begin()
        agent.send_raw(noise)
        prompt = await agent.prompt()
        agent.say("an ")
        agent.send_raw(noise)
        agent.say("answer")
        agent.end(prompt)
        agent.send_raw(noise)
        _not_answered(agent)

    return play


def _not_answered(agent: Encounter) -> None:
    answers = [event.text for event in agent.journal.events if event.what == What.RESPONSE]
    agent.must("lines that are no messages are not answered", not answers, answers)


for _number, (_name, _noise) in enumerate(NOISE.items(), 1):
    CHAPTER.add(
        _number,
        f"noise-{_name.lower().replace(' ', '-')}",
        does=f"Prints lines between all messages, from before the handshake on: {_name}.",
        rule=_IGNORE,
        row="R01",
        whole=_noisy(_noise),
    )


@CHAPTER.step(
    14,
    "noise-flood",
    does="Prints five thousand lines of a log in the middle of a turn.",
    rule=_IGNORE + " So many are counted, not listed.",
    row="R02",
)
def noise_flood(agent: Encounter) -> None:
    for number in range(5_000):
        agent.send_raw(b"[Some ACP Agent] event %d\n" % number)


@CHAPTER.step(15, "noise-megabyte", does="Prints a line of a megabyte that is no message.", rule=_IGNORE, row="R02")
def noise_megabyte(agent: Encounter) -> None:
    agent.send_raw(b"x" * 1_000_000 + b"\n")


def _long(size: int) -> Step:
    return lambda agent: agent.say("x" * size)


for _number, _size in ((16, 65_536), (17, 70_000), (18, 10_000_000)):
    CHAPTER.add(
        _number,
        f"long-line-{_size}",
        does=f"Sends an update of {_size:,} bytes in one line.",
        rule="Read it: the protocol has no limit, and readers of lines that give up at 64 KiB lose the connection.",
        row="R04",
        step=_long(_size),
    )


@CHAPTER.step(
    19,
    "no-newline",
    does="Sends 20 MB without a newline, then one.",
    rule="Hold no more than a maximum of your own, and go on after the newline.",
    row="R06",
)
async def no_newline(agent: Encounter) -> None:
    for _ in range(300):
        agent.send_raw(b"y" * 65_536)
        await agent.drain()
    agent.send_raw(b"\n")


TEXT_OF_MANY_BYTES = "größe 日本語 🎉 “quoted”"


@CHAPTER.step(
    20,
    "byte-by-byte",
    does="Writes an update byte by byte, so that characters are cut between two reads.",
    rule="Decode whole lines.",
    row="R07",
)
def byte_by_byte(agent: Encounter) -> None:
    raw = json.dumps(message_update(chunk(TEXT_OF_MANY_BYTES)), ensure_ascii=False).encode() + b"\n"
    for byte in raw:
        agent.send_raw(bytes([byte]))


@CHAPTER.step(
    21,
    "same-text-again",
    does="Sends the same piece of text several times, with an id and without.",
    rule="A repetition is a repetition: pieces of text are never compared with each other.",
    row="R07",
)
def same_text_again(agent: Encounter) -> None:
    for _ in range(3):
        agent.say("ha")
        agent.update(chunk("ha", messageId="m1"))


@CHAPTER.step(
    22,
    "invalid-utf8",
    does="Sends an update with a byte that is no UTF-8.",
    rule="Show a replacement character for it; the rest of the message counts.",
    row="R08",
)
def invalid_utf8(agent: Encounter) -> None:
    agent.send_raw(line(message_update(chunk("caf?!"))).replace(b"?", b"\xe9"))


@CHAPTER.step(
    23,
    "half-characters",
    does="Cuts an emoji into its two UTF-16 halves, over two chunks, as escapes.",
    rule="Join them, or show a replacement for each; neither ends the connection.",
    row="R09",
)
def half_characters(agent: Encounter) -> None:
    for half in ("\ud83d", "\ude00"):
        agent.send_raw(line(message_update(chunk(half))))


@CHAPTER.step(
    24,
    "half-a-character-in-an-id",
    does="Offers a permission option whose id has half of an emoji in it.",
    rule="Answer with the id as it came.",
    row="R09",
)
async def half_a_character_in_an_id(agent: Encounter) -> None:
    params = permission("allow_once")
    params["options"][0]["optionId"] = "half \ud83d"
    agent.send_raw(line({"jsonrpc": "2.0", "id": "q", "method": ASK, "params": params}))
    answer = await agent.answer("q")
    outcome = (answer.get("result") or {}).get("outcome") or {}
    agent.must("an id that is chosen goes back as it came", outcome.get("optionId") in (None, "half \ud83d"), outcome)


def nested(around: bytes, depth: int = 5_000) -> bytes:
    """Return a message with as many lists in each other in the place of the text ``NESTED``."""
    return around.replace(b'"NESTED"', b"[" * depth + b"]" * depth)


@CHAPTER.step(
    25,
    "deep-update",
    does="Sends a tool call update nested five thousand levels deep.",
    rule="Leave it out if it cannot be read; the turn goes on.",
    row="R10",
)
def deep_update(agent: Encounter) -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "rawOutput": "NESTED"}
    agent.send_raw(nested(line(message_update(update))))


@CHAPTER.step(
    26,
    "deep-request",
    does="Asks for permission with parameters nested five thousand levels deep.",
    rule="Answer it, with an error if it cannot be read, so that the agent does not wait for ever.",
    row="R10",
)
async def deep_request(agent: Encounter) -> None:
    agent.send_raw(nested(line({"jsonrpc": "2.0", "id": 9, "method": ASK, "params": permission(rawInput="NESTED")})))
    agent.journal.asked(9, ASK)
    await agent.answer(9)


@CHAPTER.whole(
    27,
    "deep-answer",
    does="Ends the turn with an answer nested five thousand levels deep.",
    rule="The turn is over, with an error if the answer cannot be read.",
    row="R10",
    ends=Ends.EITHER,
)
async def deep_answer(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    agent.say("the answer")
    result = {**DONE, "_meta": {"trace": "NESTED"}}
    agent.send_raw(nested(line({"jsonrpc": "2.0", "id": prompt["id"], "result": result})))
    agent.ended(prompt)


@CHAPTER.step(
    28,
    "byte-order-mark",
    does="Begins a line with a byte order mark.",
    rule="Read it all the same, or leave the line out.",
    row="R11",
)
def byte_order_mark(agent: Encounter) -> None:
    agent.send_raw(b"\xef\xbb\xbf" + line(message_update(chunk("x "))))


@CHAPTER.step(
    29,
    "carriage-returns",
    does="Ends its lines as Windows does.",
    rule="A carriage return before the newline is no part of the message.",
    row="R11",
)
def carriage_returns(agent: Encounter) -> None:
    agent.send_raw(line(message_update(chunk("x "))).replace(b"\n", b"\r\n"))


NOT_QUITE_JSON = ("NaN", "Infinity", '"raw \t tab"')
"""Values that some JSON libraries write and most refuse."""


@CHAPTER.step(
    30,
    "not-quite-json",
    does="Writes `NaN`, `Infinity` and raw control characters into its messages.",
    rule="Read them or leave them out, with a word; the turn goes on.",
    row="R11",
)
def not_quite_json(agent: Encounter) -> None:
    for value in NOT_QUITE_JSON:
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "rawOutput": "VALUE"}
        agent.send_raw(line(message_update(update)).replace(b'"VALUE"', value.encode()))


@CHAPTER.step(
    31,
    "cut-in-two",
    does="Prints a log line into the middle of a request.",
    rule="Neither half is a message. If the id can be seen, answer it with an error, so that the agent does not wait.",
    row="R12",
)
async def cut_in_two(agent: Encounter) -> None:
    raw = line({"jsonrpc": "2.0", "id": 5, "method": ASK, "params": permission()})
    agent.send_raw(raw[:120] + b"WARN low memory\n" + raw[120:])
    agent.journal.asked(5, ASK, must_be_answered=False)


@CHAPTER.step(
    32,
    "mixture",
    does="Shuffles noise, half messages, empty objects and answers to nothing between three hundred chunks.",
    rule="The turn has all its text, in order.",
    row="R18",
)
def mixture(agent: Encounter) -> None:
    pieces = [*NOISE.values(), line({"jsonrpc": "2.0", "id": 99, "result": 1}), b'{"jsonrpc":\n', line({}), line([])]
    chance = random.Random(20)
    for number in range(300):
        for _ in range(chance.randrange(4)):
            agent.send_raw(chance.choice(pieces))
        agent.say(f"{number} ")
