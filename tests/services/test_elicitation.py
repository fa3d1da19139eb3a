"""What the agent is told: the handler's answer where it fits the question, and otherwise no."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import InvalidParams, RequestFailed
from acp_host.services.elicitation import answer_elicitation
from acp_host.services.elicitation_handlers import ElicitationHandlers
from acp_host.services.form_reader import MAX_FIELDS
from acp_host.wire._model import UNSET
from acp_host.wire.elicitation import (
    ElicitationAcceptAction,
    ElicitationCancelAction,
    ElicitationDeclineAction,
    ElicitationUrlMode,
    UnknownElicitation,
    UnknownElicitationAction,
)
from tests.services.form_strategies import request_of

FORM = request_of({"properties": {"port": {"type": "integer", "maximum": 9}}, "required": ["port"]})
PAGE = ElicitationUrlMode("Log in", "e-1", "https://example.org/login", session_id="s")
NO = ElicitationDeclineAction()


async def answered(request: Any, handler: Any, *, mode: str = "form") -> tuple[Any, list[Diagnostic]]:
    reported: list[Diagnostic] = []
    handlers = ElicitationHandlers(**{mode: handler})
    return await answer_elicitation(handlers, request, reported.append), reported


@pytest.mark.parametrize(
    "answer",
    [
        ElicitationAcceptAction({"port": 8}, meta={"vendor": 1}),
        ElicitationDeclineAction(),
        ElicitationCancelAction(),
        UnknownElicitationAction("later", {"action": "later", "in": "1h"}),
    ],
)
async def test_an_answer_that_fits_is_sent_as_it_is(answer: Any) -> None:
    async def by_coroutine(_: Any) -> Any:
        return answer

    assert await answered(FORM, lambda _: answer) == (answer, [])
    assert await answered(FORM, by_coroutine) == (answer, [])


async def test_values_are_sent_in_the_form_that_agents_read() -> None:
    answer, _ = await answered(FORM, lambda _: ElicitationAcceptAction({"port": 8.0}))
    assert (answer.content, type(answer.content["port"])) == ({"port": 8}, int)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ElicitationAcceptAction({"port": 99}), "port is too large"),
        (ElicitationAcceptAction({"port": "s3cret"}), "port is not a whole number"),
        (ElicitationAcceptAction({}), "port needs an answer"),
        (ElicitationAcceptAction(), "port needs an answer"),
        (ElicitationAcceptAction(None), "port needs an answer"),
        (ElicitationAcceptAction({"port": 1, "extra": "s3cret"}), "no field named 'extra'"),
        (ElicitationAcceptAction("s3cret"), "a mapping by name of the field, not str"),
        ({"port": 1}, "not answered with dict"),
        (None, "not answered with NoneType"),
    ],
)
async def test_an_answer_that_does_not_fit_is_never_sent(answer: Any, why: str) -> None:
    told, [diagnostic] = await answered(FORM, lambda _: answer)
    assert told == NO
    assert diagnostic.kind is DiagnosticKind.HANDLER_FAILED
    assert why in diagnostic.message
    assert "s3cret" not in repr(diagnostic), "what the user typed is nobody else's business"
    assert (diagnostic.method, diagnostic.session_id) == ("elicitation/create", "s")


async def test_a_handler_that_fails_is_a_no() -> None:
    def fails(_: Any) -> Any:
        raise ZeroDivisionError("oops")

    told, [diagnostic] = await answered(FORM, fails)
    assert told == NO
    assert "ZeroDivisionError: oops" in diagnostic.message


async def test_a_handler_may_refuse_in_its_own_words() -> None:
    def refuses(_: Any) -> Any:
        raise RequestFailed("not today", code=-31000)

    with pytest.raises(RequestFailed, match="not today"):
        await answered(FORM, refuses)


@pytest.mark.parametrize(
    ("request_", "mode"),
    [(FORM, "url"), (PAGE, "form"), (UnknownElicitation("hologram", {"mode": "hologram", "sessionId": "s"}), "form")],
)
async def test_a_mode_without_a_handler_is_declined_and_kept(request_: Any, mode: str) -> None:
    told, [diagnostic] = await answered(request_, pytest.fail, mode=mode)
    assert told == NO
    assert diagnostic.kind is DiagnosticKind.UNEXPECTED
    assert diagnostic.data is request_


async def test_agreeing_to_a_page_carries_no_content() -> None:
    told, reported = await answered(PAGE, lambda _: ElicitationAcceptAction({"x": 1}), mode="url")
    assert (told.content, reported) == (UNSET, [])


@pytest.mark.parametrize(
    ("request_", "mode"),
    [
        (request_of({"properties": {f"f{n}": {"type": "boolean"} for n in range(MAX_FIELDS + 1)}}), "form"),
        (ElicitationUrlMode("Log in", "e-1", "javascript:alert(1)", session_id="s"), "url"),
    ],
)
async def test_what_cannot_be_shown_is_refused_and_reaches_nobody(request_: Any, mode: str) -> None:
    reported: list[Diagnostic] = []
    with pytest.raises(InvalidParams):
        await answer_elicitation(ElicitationHandlers(**{mode: pytest.fail}), request_, reported.append)
    assert [note.kind for note in reported] == [DiagnosticKind.MALFORMED]


async def test_what_was_left_out_of_a_form_and_not_checked_in_an_answer_is_told() -> None:
    form = request_of({"properties": {"x": {"type": "string", "pattern": "(", "$ref": "http://x"}}})
    told, [left_out, unchecked] = await answered(form, lambda _: ElicitationAcceptAction({"x": "s3cret"}))
    assert told.content == {"x": "s3cret"}
    assert "$ref" in left_out.message
    assert "is no regular expression" in unchecked.message
    assert "s3cret" not in repr((left_out, unchecked))
