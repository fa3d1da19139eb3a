"""No word that the protocol does not have is left in an anonymous recording, wherever the schema lets one stand."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_host.recording import RecordedLine, encode_line, parse_line
from acp_host.recording.anonymise import anonymise
from acp_host.recording.vocabulary import EXTENSION_WORD_NAMES, EXTENSIONS, known_names
from acp_host.wire._shape import (
    AnyShape,
    ArrayShape,
    ChoiceShape,
    MapShape,
    ModelShape,
    Shape,
    StrShape,
    UnionShape,
    fields_of,
    shape_of,
)
from acp_host.wire._unions import TaggedUnion
from acp_host.wire.methods import Method, MethodTable
from tests.conformance.versions import VERSIONS

INVISIBLE = "".join(chr(0xE0000 + ord(letter)) for letter in "zebra")
WORDS = [
    *("zebra", "Zebra", "ZEBRA", "ze-zebra_77", "_zebra/zebra", "zebra zebra", "\x1b]0;zebra\x07", INVISIBLE),
    *("zebra@zebra.com", "mailto:zebra@zebra.zebra", "https://u:zebra@www.zebra.zebra:9/zebra?zebra#zebra"),
    *("/home/j.zebra", "/home/zebra/a.py", "C:\\Users\\zebra", "file:///home/j.zebra", "data:zebra/zebra;base64,QUJD"),
    *("zebra/zebra", "text/zebra", "text/plain; charset=zebra", "2020-01-01T00:00 zebra", "1.2-zebra"),
]
NAMES = [*sorted(known_names()), *WORDS, *[*EXTENSIONS, "_meta"] * 20, *sorted(EXTENSION_WORD_NAMES) * 3]
OF_PROGRAMS = frozenset(("agentInfo", "clientInfo", "agentCapabilities", "clientCapabilities", "capabilities", "info"))
SENT = [(version.table, method) for version in VERSIONS for method in version.table.methods]


class Filled:
    """Makes values of shapes in which every text is one of the words."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def value(self, shape: Shape, depth: int = 6) -> Any:
        if not depth:
            return None
        match shape:
            case StrShape():
                return self._random.choice(WORDS)
            case ModelShape(cls):
                return self._model(cls, depth)
            case UnionShape(union) if isinstance(union, TaggedUnion):
                tag = self._random.choice([*union.variants, *WORDS])
                known = union.variants.get(tag)
                return {union.tag: tag, **(self._model(known, depth) if known else self._any_object())}
            case UnionShape(union):
                return self._model(self._random.choice(list(union.by_property.values())), depth)
            case ArrayShape(item):
                return [self.value(item, depth - 1)]
            case MapShape(item):
                return {self._random.choice(WORDS): self.value(item, depth - 1)}
            case ChoiceShape(options):
                return self.value(self._random.choice(options), depth)
            case AnyShape():
                return self.anything()
        return self._random.choice([1, True, "zebra"])

    def anything(self, depth: int = 2) -> Any:
        if depth and self._random.random() < 0.7:
            return self._any_object(depth)
        return self._random.choice(WORDS)

    def _any_object(self, depth: int = 2) -> dict[str, Any]:
        return {self._random.choice(NAMES): self.anything(depth - 1) for _ in range(4)}

    def _model(self, cls: Any, depth: int) -> dict[str, Any]:
        made = {
            field.wire: self.value(field.shape, depth - 1) for field in fields_of(cls) if field.wire not in OF_PROGRAMS
        }
        return {**made, self._random.choice(WORDS): self.anything()}


@pytest.mark.parametrize(("table", "method"), SENT, ids=lambda part: part.name if isinstance(part, Method) else "")
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_no_word_is_left_in_any_message(table: MethodTable, method: Method, random: Random) -> None:
    filled = Filled(random)
    version = {"protocolVersion": 2 if table is VERSIONS[-1].table else 1}
    conversation = [("in", {"id": 0, "result": version})]
    for asks, answers in (("out", "in"), ("in", "out")):
        params = filled.value(shape_of(method.params_type))
        conversation.append((asks, {"id": 1, "method": method.name, "params": params}))
        if method.result is not None:
            conversation.append((answers, {"id": 1, "result": filled.value(shape_of(method.result_type))}))
        error = {"code": random.choice(WORDS), "message": random.choice(WORDS), "data": filled.anything()}
        conversation.append((answers, {"id": random.choice(WORDS), "error": error, "zebra": "zebra"}))
    made = [made.message for made in anonymise(RecordedLine(direction=to, message=said) for to, said in conversation)]

    text = json.dumps(made, ensure_ascii=False)
    assert "zebra" not in text.lower()
    assert INVISIBLE not in text


def test_what_programs_can_do_has_names_and_no_words():
    abilities = {"_meta": {"zebraMode": {"folder": "/home/zebra", "user": "zebra"}, "/home/zebra": True}}
    hello = {"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": abilities}}
    lines = [RecordedLine(direction="out", message=hello), RecordedLine(direction="in", message={"method": "_zebra/x"})]

    shown = json.dumps([made.message for made in anonymise(lines)])
    assert shown.count("zebra") == 2  # the ability itself, and the method
    assert "zebra" not in json.dumps([made.message for made in anonymise(lines, hide_programs=True)])


@pytest.mark.parametrize(
    "line",
    [
        {"dir": "meta", "t": 0, "note": "zebra begins"},
        {"dir": "meta", "t": 0, "note": "zebra begins", "event": "start", "at": "zebra", "python": "zebra"},
        {"dir": "meta", "t": 0, "note": "the recording begins", "event": "start", "platform": "Linux-6.1-zebra-x86_64"},
        {"dir": "meta", "t": 0, "note": "1 messages not recorded: zebra", "event": "not_recorded", "of": "zebra"},
        {"dir": "meta", "t": 0, "event": "zebra", "zebra": 1},
        {"dir": "in", "t": 0, "msg": {}, "zebra": 1},
        {"dir": "in", "t": 0, "raw": "zebra", "cut": "zebra"},
    ],
)
def test_no_word_is_left_beside_the_messages(line: dict[str, Any]) -> None:
    [made] = anonymise([parse_line(json.dumps(line).encode())])

    assert b"zebra" not in encode_line(made)
