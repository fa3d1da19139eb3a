"""The converters, and the check of what is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import cattrs
import pytest

from acp_host.errors import DecodeError, InvalidInput
from acp_host.wire._model import UNSET, Model, evolve
from acp_host.wire.cancellation import CancelRequestNotification
from acp_host.wire.cattrs_converters import careful_converter, stream_converter
from acp_host.wire.content import ContentBlock, ImageContent, TextContent, UnknownContent
from acp_host.wire.converters import (
    check,
    decoder,
    structure,
    structure_tolerant,
    unstructure,
)
from acp_host.wire.elicitation import CreateElicitationResponse, ElicitationAcceptAction, UnknownElicitationAction
from acp_host.wire.mcp import McpServerStdio
from acp_host.wire.permission import PermissionOption, PermissionOptionKind
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.session import NewSessionRequest, SystemPrompt, SystemPromptMode
from tests.wire.samples import Color, Figure, Point, Sheet, UnknownFigure, sheet

POINT = {"kind": "point", "x": 1, "y": 2}


def test_structure_and_unstructure_are_inverse() -> None:
    data = sheet(figures=[POINT, {"kind": "star"}], source={"text": "t"}, more=None)
    assert unstructure(structure(data, Sheet)) == data
    assert structure(POINT, Figure) == Point(1, 2)
    assert unstructure(structure(POINT, Figure), Figure) == POINT


def test_structure_repairs_nothing() -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - of which type is not promised
        structure(sheet(color=5), Sheet)
    assert structure_tolerant(sheet(color=5), Sheet)[0].color is UNSET


def test_the_decoder_of_a_type_is_made_once() -> None:
    assert decoder(Sheet) is decoder(Sheet)
    assert decoder(Figure) is decoder(Figure)


@attrs.define
class Page:
    """A class of an application that holds wire types, and is none itself."""

    title: str
    point: Point
    figures: list[Figure]
    by_name: dict[str, Figure]
    block: ContentBlock | None = None


PAGE = {
    "title": "t",
    "point": {"x": 1, "y": 2},
    "figures": [POINT, {"kind": "star"}],
    "by_name": {"p": POINT},
    "block": None,
}


@pytest.mark.parametrize("converter", [stream_converter, careful_converter])
def test_both_converters_read_and_write_what_applications_build_on_wire_types(converter: cattrs.Converter) -> None:
    page = Page("t", Point(1, 2), [Point(1, 2), UnknownFigure("star", {"kind": "star"})], {"p": Point(1, 2)})

    assert converter.structure(PAGE, Page) == page
    assert converter.unstructure(page) == PAGE
    text = {"type": "text", "text": "x"}
    assert converter.structure(PAGE | {"block": text}, Page).block == TextContent("x")
    assert converter.unstructure(attrs.evolve(page, block=TextContent("x")))["block"] == text


def test_the_careful_converter_repairs_and_explains() -> None:
    assert careful_converter.structure(POINT | {"label": 5}, Figure) == Point(1, 2)
    with pytest.raises(DecodeError, match=r"^expected an integer, got a string at \$\.x$"):
        careful_converter.structure(POINT | {"x": "1"}, Figure)
    with pytest.raises(cattrs.ClassValidationError) as caught:
        careful_converter.structure(PAGE | {"point": {"x": 1}}, Page)
    assert "required property 'y' is missing" in "\n".join(cattrs.transform_error(caught.value))


VALID: list[tuple[Any, Any]] = [
    (PromptRequest("s", (TextContent("x"), UnknownContent("smell", {"type": "smell"}))), PromptRequest),
    (PromptRequest("s", [TextContent("x")]), PromptRequest),
    (NewSessionRequest("/c", (McpServerStdio("n", "c", (), ()),)), NewSessionRequest),
    (
        NewSessionRequest("/c", (), system_prompt=SystemPrompt(SystemPromptMode.APPEND, (TextContent("x"),))),
        NewSessionRequest,
    ),
    (PermissionOption("o", "n", PermissionOptionKind.ALLOW_ONCE), PermissionOption),
    (PermissionOption("o", "n", "allow_persistent"), PermissionOption),
    (ElicitationAcceptAction({"a": "b", "c": 1, "d": 0.5, "e": True, "f": ("g",)}), CreateElicitationResponse),
    (UnknownElicitationAction("later", {"action": "later"}), CreateElicitationResponse),
    (CancelRequestNotification(None), CancelRequestNotification),
    (Sheet("s", (), {}, color=Color.RED, meta={"a": float("nan")}, extra={"x": object()}), Sheet),
]


@pytest.mark.parametrize(("value", "hint"), VALID)
def test_what_fits_may_be_sent(value: Any, hint: Any) -> None:
    check(unstructure(value, hint), hint, "it")


REFUSED: list[tuple[Any, Any, str]] = [
    (PromptRequest("s", ("text",)), PromptRequest, "expected an object, got a string at $.prompt[0]"),
    (PromptRequest("s", "text"), PromptRequest, "expected an array, got a string at $.prompt"),
    (PromptRequest("s", (Point(1, 2),)), PromptRequest, "required property 'type' is missing at $.prompt[0]"),
    (
        PromptRequest("s", (ImageContent("AA==", None),)),
        PromptRequest,
        "expected a string, got null at $.prompt[0].mimeType",
    ),
    (PromptRequest(UNSET, ()), PromptRequest, "required property 'sessionId' is missing at $"),
    (NewSessionRequest("/c", None), NewSessionRequest, "expected an array, got null at $.mcpServers"),
    (NewSessionRequest(Path("/c"), ()), NewSessionRequest, f"got a value of type {type(Path()).__name__} at $.cwd"),
    (
        NewSessionRequest("/c", (McpServerStdio("n", "c", ("a", 1), ()),)),
        NewSessionRequest,
        "expected a string, got the number 1 at $.mcpServers[0].args[1]",
    ),
    # What an agent would have to repair is no better.
    (Sheet("s", (), {}, color=5), Sheet, "expected a string, got the number 5 at $.color"),
    (Sheet("s", (5,), {}), Sheet, "expected an object, got the number 5 at $.figures[0]"),
    (Sheet("", (), {}), Sheet, "expected a string of at least 1 characters, got 0 at $.sheetId"),
    (Sheet("s", (), {}, meta=[]), Sheet, "expected an object, got an array at $._meta"),
    (ElicitationAcceptAction({"a": None}), CreateElicitationResponse, "got null at $.content.a"),
    (CancelRequestNotification(True), CancelRequestNotification, "got true at $.requestId"),
]


@pytest.mark.parametrize(("value", "hint", "problem"), REFUSED)
def test_what_does_not_fit_is_not_sent(value: Any, hint: Any, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check(unstructure(value, hint), hint, "session/prompt")
    assert str(caught.value).startswith("session/prompt: ")
    assert str(caught.value).endswith(problem)


@pytest.mark.parametrize("value", [None, [], "text", 5])
def test_what_is_no_object_is_not_sent(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^it: expected an object, got .* at \$$"):
        check(value, Sheet, "it")


def test_a_refusal_says_nothing_of_what_went_before() -> None:
    with pytest.raises(InvalidInput) as caught:
        check({}, Sheet, "it")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_evolve_and_check_go_together() -> None:
    request = PromptRequest("s", (TextContent("x"),))
    with pytest.raises(InvalidInput, match=r"\$\.sessionId"):
        check(unstructure(evolve(request, session_id=1)), PromptRequest, "it")
    check(unstructure(request), PromptRequest, "it")


def test_an_empty_model_is_an_object() -> None:
    assert unstructure(Model()) == {}
    assert structure({"a": 1}, Model) == Model(extra={"a": 1})
