"""Elicitation requests: what the question belongs to, whatever its mode."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.wire.converters import decoder, structure_tolerant, unstructure
from acp_host.wire.elicitation import (
    CreateElicitationRequest,
    ElicitationFormMode,
    ElicitationRequestScope,
    ElicitationSessionScope,
    ElicitationUrlMode,
    UnknownElicitation,
)

FORM = {"mode": "form", "message": "Which one?", "requestedSchema": {"type": "object", "properties": {}}}
URL = {"mode": "url", "message": "Sign in", "elicitationId": "e1", "url": "https://example.com/"}
OTHER = {"mode": "_voice", "message": "Say it"}

SCOPES: list[tuple[dict[str, Any], Any]] = [
    ({"sessionId": "s1"}, ElicitationSessionScope("s1")),
    ({"sessionId": "s1", "toolCallId": None}, ElicitationSessionScope("s1", None)),
    ({"sessionId": "s1", "toolCallId": "t1"}, ElicitationSessionScope("s1", "t1")),
    ({"requestId": 7}, ElicitationRequestScope(7)),
    ({"requestId": "7"}, ElicitationRequestScope("7")),
    ({"requestId": None}, ElicitationRequestScope(None)),
    ({"sessionId": "s1", "requestId": 7}, ElicitationSessionScope("s1")),
    ({}, None),
]


@pytest.mark.parametrize(("members", "scope"), SCOPES, ids=[str(members) for members, _ in SCOPES])
@pytest.mark.parametrize(
    ("question", "cls"), [(FORM, ElicitationFormMode), (URL, ElicitationUrlMode), (OTHER, UnknownElicitation)]
)
def test_a_question_belongs_to_a_session_or_to_a_request(
    question: dict[str, Any], cls: type[Any], members: dict[str, Any], scope: Any
) -> None:
    value = decoder(CreateElicitationRequest)({**question, **members})

    assert type(value) is cls
    assert value.scope == scope
    assert unstructure(value, CreateElicitationRequest) == {**question, **members}


def test_a_scope_that_cannot_be_read_is_none_in_an_unknown_mode() -> None:
    value, _ = structure_tolerant({**OTHER, "sessionId": 1, "requestId": []}, CreateElicitationRequest)

    assert value.scope is None
