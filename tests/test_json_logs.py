"""Log records as JSON Lines."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import acp_host
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE

KEY = "sk-abcdefghijklmnop1234"


@contextmanager
def logged(**options: Any) -> Iterator[list[dict[str, Any]]]:
    """Collect what is logged below ``acp_host`` in the block."""
    stream, lines = io.StringIO(), list[dict[str, Any]]()
    handler, logger = logging.StreamHandler(stream), logging.getLogger("acp_host")
    handler.setFormatter(acp_host.JsonLogFormatter(**options))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        lines += [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_record() -> None:
    with logged() as lines:
        logging.getLogger("acp_host.something").warning("a %s\nof two lines", "text", extra={"run": 7, "why": {"a": 1}})
    [line] = lines
    assert line["time"].endswith("+00:00")
    assert {**line, "time": ""} == {
        "time": "",
        "level": "WARNING",
        "logger": "acp_host.something",
        "message": "a text\nof two lines",
        "run": 7,
        "why": "{'a': 1}",
    }


def test_secrets_and_control_characters_are_not_in_it() -> None:
    with logged() as lines:
        logger = logging.getLogger("acp_host")
        logger.error("key %s \x1b[31m", KEY, extra={"api_key": "0123456789", "headers": {"x": "0123456789"}})
    text = json.dumps(lines)
    assert KEY not in text
    assert "0123456789" not in text
    assert "\\u001b" not in text


@pytest.mark.parametrize("content", [False, True])
def test_a_diagnostic_and_an_exception(content: bool) -> None:
    diagnostic = Diagnostic(DiagnosticKind.MALFORMED, "it is odd", "$.x", "session/update", "s-1", "words of an agent")
    with logged(content=content) as lines:
        logger = logging.getLogger("acp_host.diagnostics")
        logger.debug("%s", "odd", extra={"diagnostic": diagnostic})
        try:
            raise ValueError("words of a user")
        except ValueError:
            logger.exception("it failed")
    odd, failed = lines
    told = (odd["diagnostic"], odd["method"], odd["session_id"], odd["path"])
    assert told == ("malformed", "session/update", "s-1", "$.x")
    assert ("data" in odd, "error_text" in failed) == (content, content)
    assert failed["error"] == "ValueError"
    assert "test_a_diagnostic_and_an_exception" in failed["where"][-1]
    assert ("words of" in json.dumps(lines)) is content


def test_numbers_that_json_readers_would_lose_digits_of() -> None:
    with logged(content=True) as lines:
        logger = logging.getLogger("acp_host")
        odd = Diagnostic(DiagnosticKind.REPAIRED, "it is odd", data=10**30)
        logger.info("now", extra={"diagnostic": odd, "count": -(2**64), "few": 7})
    assert (lines[0]["data"], lines[0]["count"], lines[0]["few"]) == (str(10**30), str(-(2**64)), 7)


def test_within_a_span() -> None:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")
    with logged() as lines, tracer.start_as_current_span("work") as span:
        logging.getLogger("acp_host").info("now")
    context = span.get_span_context()
    assert (lines[0]["trace_id"], lines[0]["span_id"]) == (f"{context.trace_id:032x}", f"{context.span_id:016x}")


def test_what_an_application_passes_takes_the_place_of_nothing() -> None:
    with logged() as lines:
        logging.getLogger("acp_host").info("now", extra={"level": "none", "time": 0, "odd": object()})
    assert lines[0]["level"] == "INFO"
    assert lines[0]["odd"].startswith("<object object")


async def test_a_conversation_leaves_no_words_in_the_log() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        agent.say("words of the agent", "s-1")
        agent.send_raw(b"words that are no message\n")
        agent.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}, "odd": "words"}, "s-1")
        agent.notify("no/such_method", {"sessionId": "s-1", "text": "words of a method"})
        agent.reply(DONE, to=prompt)

    with logged() as lines:
        async with acp_host.connect(ScriptedAgent(script).transport()) as host:
            await (await host.new_session()).prompt("words of the user")
            kinds = [str(diagnostic.kind) for diagnostic in host.diagnostics]
    assert kinds
    assert [line["diagnostic"] for line in lines if "diagnostic" in line] == kinds
    assert "words" not in json.dumps(lines)
