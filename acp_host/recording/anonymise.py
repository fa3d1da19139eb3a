"""Takes other people's words out of a recording: :class:`Anonymiser`, :func:`anonymise`. Pure.

The wire types say what a text is: a word of the protocol stays, an id, a path or a URI gets a stand-in, and everything
else is free text. What the types do not describe counts as free text as well, and so do its names of members, but for
those that the protocol or an extension that this library knows has given. Numbers stay where the schema has them.

What comes out is folded into the same structure, and comes out the same when it goes through once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson
from attrs import evolve

from acp_host.recording.format import END_OF_STREAM, MetaEvent, RecordedDirection, RecordedLine
from acp_host.recording.known_kinds import is_known_media_type
from acp_host.recording.remarks import OWN_NAMES, is_own_detail, is_own_note, is_version, platform_without_words
from acp_host.recording.stand_ins import StandIns, masked, masked_base64
from acp_host.recording.vocabulary import (
    CONTENTS,
    ERROR_WORDS,
    EXTENSION_WORD_NAMES,
    EXTENSIONS,
    extension_words,
    is_protocol_word,
    known_names,
)
from acp_host.redaction import HIDDEN
from acp_host.wire import initialize
from acp_host.wire import methods as v1_methods
from acp_host.wire._shape import (
    AnyShape,
    ArrayShape,
    BoolShape,
    ChoiceShape,
    FloatShape,
    IntShape,
    MapShape,
    ModelShape,
    Shape,
    StrShape,
    UnionShape,
    fields_of,
    shape_of,
)
from acp_host.wire._unions import TaggedUnion
from acp_host.wire.initialize import Implementation
from acp_host.wire.session_models import SessionModelState
from acp_host.wire.v2 import initialize as v2_initialize
from acp_host.wire.v2 import methods as v2_methods

__all__ = ["Anonymiser", "anonymise"]

_FREE = AnyShape()
_TABLES = (v1_methods.TABLE, v2_methods.TABLE)
_OF_HARN = ("_harn/", "harn/", "harn.")
_DEEPEST = 200
_TOO_DEEP = "[nested too deeply]"
_LARGEST_NUMBER = 10_000
"""What is larger, and not the schema's, may be a number by which somebody is known."""

_TOKEN = re.compile(r"[\w$@/.:+-]{1,64}", re.ASCII)
_METHOD = re.compile(r"(?=.{1,64}\Z)[_$]?[/.-]?[A-Za-z][\w-]*(?:[/.][A-Za-z][\w-]*)*", re.ASCII)
_CAPABILITY = re.compile(r"[_$A-Za-z][\w.-]{0,63}", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?")
_URI = re.compile(r"[a-z]{2,20}://\S+")
_LOCAL_PATH = re.compile(r"(?:/|~/|[A-Za-z]:[\\/])[^\n\r\t\"'`<>|*?]{1,1000}")
_ERROR_PART = re.compile(r"(?P<word>[A-Za-z']+(?![\w/-]|[.:]\w))|(?P<other>[\w:./'-]+)")

_ID_NAME = re.compile(r"(?:.*[a-z])?(?:Ids?|_ids?)|ids?")
_PATHS = frozenset(("path", "paths", "oldPath", "newPath", "cwd", "additionalDirectories"))
_URIS = frozenset(("uri", "url", "baseUrl", "link", "src"))
_COMMANDS = frozenset(("command", "args"))
_WORDS = {
    "currency": re.compile(r"[A-Z]{3}"),
    "signal": re.compile(
        r"(?:SIG)?(?:ABRT|ALRM|BUS|FPE|HUP|ILL|INT|KILL|PIPE|QUIT|SEGV|STOP|TERM|TRAP|USR1|USR2|XCPU)"
    ),
    "sizes": re.compile(r"any|\d{1,5}x\d{1,5}"),
}
_TIMES = frozenset(("updatedAt", "lastModified"))
_IDENTITIES = frozenset(
    ("const", "currentValue", "cursor", "default", "enum", "group", "name", "nextCursor", "required", "value")
)
"""Names of the schema's members, ids aside, whose texts are compared with others."""
_MAPS_BY_NAME = frozenset(("ElicitationSchema.properties", "ElicitationAcceptAction.content"))

_HANDSHAKES = (
    initialize.InitializeRequest,
    initialize.InitializeResponse,
    v2_initialize.InitializeRequest,
    v2_initialize.InitializeResponse,
)
_BESIDE_THE_SCHEMA = {"models": SessionModelState}
"""Members that agents of an older draft have."""


def anonymise(lines: Iterable[RecordedLine], *, hide_programs: bool = False) -> Iterator[RecordedLine]:
    """Yield the lines of a recording without other people's words; see :class:`Anonymiser`."""
    anonymiser = Anonymiser(hide_programs=hide_programs)
    for line in lines:
        yield anonymiser.line(line)


class Anonymiser:
    """Takes other people's words out of the lines of one recording, in order.

    Args:
        hide_programs: take away names and versions of agent and host as well, which a bug report needs.
    """

    def __init__(self, *, hide_programs: bool = False) -> None:
        self._hide_programs = hide_programs
        self._stand_ins = StandIns(is_protocol_word)
        self._spoken = v1_methods.TABLE
        self._asked: dict[tuple[str, Any], Any] = {}

    def line(self, line: RecordedLine) -> RecordedLine:
        """Return a line without other people's words."""
        if line.problem is not None:
            return evolve(line, raw=masked(line.raw or ""), problem=masked(line.problem))
        if line.direction == RecordedDirection.META:
            return self._meta(line)
        cut = line.details.get("cut")
        details = {"cut": cut} if isinstance(cut, int) else {}
        if line.raw is not None:
            return evolve(line, raw=self._raw(line.raw), details=details)
        return evolve(line, message=self._message(line.message, line.direction), details=details)

    # --- lines ------------------------------------------------------------------------------------------------------

    def _meta(self, line: RecordedLine) -> RecordedLine:
        if line.begins_connection:
            self._asked.clear()
            self._spoken = v1_methods.TABLE
        details = {
            name if name in OWN_NAMES else self._name(name): self._detail(value, name)
            for name, value in line.details.items()
        }
        event = line.event if line.event is None or line.event in tuple(MetaEvent) else self._stand_ins.id(line.event)
        note = line.note if line.note is None or is_own_note(line.note) else masked(line.note)
        return evolve(line, event=event, note=note, details=details)

    def _detail(self, value: Any, name: str) -> Any:
        if isinstance(value, str) and is_own_detail(name, value):
            return value
        return (
            platform_without_words(value)
            if name == "platform" and isinstance(value, str)
            else self._free(value, name, _DEEPEST)
        )

    def _raw(self, raw: str) -> str:
        if raw == END_OF_STREAM:
            return raw
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return self._stand_ins.text(raw)
        return orjson.dumps(self._free(value, "", _DEEPEST)).decode()

    def _message(self, message: Any, direction: str) -> Any:
        if not isinstance(message, dict):
            return self._free(message, "", _DEEPEST)
        shapes = self._shapes(message, direction)
        made = {}
        for name, value in message.items():
            if name in shapes:
                made[name] = self._value(value, shapes[name], name, _DEEPEST)
            elif name == "id":
                made[name] = self._stand_ins.id(value) if isinstance(value, str) else value
            elif name == "jsonrpc" and value == "2.0":
                made[name] = value
            elif name == "method" and isinstance(value, str):
                made[name] = self._method(value)
            elif name == "error":
                made[name] = self._error(value)
            else:
                made[self._name(name)] = self._free(value, name, _DEEPEST, extension=_is_of_harn(message))
        self._learn(message, direction)
        return made

    def _method(self, name: str) -> str:
        """Return the name of a method; that of an extension is a name that a program has given."""
        if any(table.agent_method(name) or table.client_method(name) for table in _TABLES) or name in extension_words():
            return name
        kept = _METHOD.fullmatch(name) and (not self._hide_programs or name.startswith(_OF_HARN))
        return name if kept else self._stand_ins.id(name)

    def _shapes(self, message: Mapping[str, Any], direction: str) -> dict[str, Shape]:
        """Return the shapes of a message's parameters or result, as far as the schema has them."""
        method, request_id = message.get("method"), message.get("id")
        if isinstance(method, str):
            to_agent = direction == RecordedDirection.OUT
            known = self._spoken.agent_method(method) if to_agent else self._spoken.client_method(method)
            if isinstance(request_id, str | int):
                self._asked[direction, request_id] = known
            return {} if known is None else {"params": shape_of(known.params_type)}
        other = RecordedDirection.IN if direction == RecordedDirection.OUT else RecordedDirection.OUT
        known = self._asked.pop((other, request_id), None) if isinstance(request_id, str | int) else None
        return {} if known is None or known.result is None else {"result": shape_of(known.result_type)}

    def _learn(self, message: Mapping[str, Any], direction: str) -> None:
        """Learn from the handshake which version is spoken, and what hosts call themselves in marks of reminders."""
        result, params = message.get("result"), message.get("params")
        if isinstance(result, dict) and "protocolVersion" in result:
            self._spoken = v2_methods.TABLE if result["protocolVersion"] == 2 else v1_methods.TABLE
        info = params.get("clientInfo") if isinstance(params, dict) else None
        if isinstance(info, dict) and not self._hide_programs:
            for name in ("title", "name"):
                if isinstance(info.get(name), str):
                    self._stand_ins.keep_host(info[name])

    def _error(self, error: Any) -> Any:
        if not isinstance(error, dict):
            return self._free(error, "error", _DEEPEST)
        made = {}
        for name, value in error.items():
            if name == "message" and isinstance(value, str):
                made[name] = self._error_text(value)
            else:
                made[self._name(name)] = (
                    value if name == "code" and _is_number(value) else self._error_data(value, name)
                )
        return made

    def _error_data(self, data: Any, name: str) -> Any:
        if isinstance(data, str) and name not in _URIS and self._stand_ins.known(data) is None:
            return self._error_text(data)
        if isinstance(data, dict):
            return {self._name(key): self._error_data(value, key) for key, value in data.items()}
        return self._free(data, name, _DEEPEST)

    def _error_text(self, text: str) -> str:
        def part(match: re.Match[str]) -> str:
            word = match["word"]
            if word is not None and word.lower() in ERROR_WORDS:
                return word
            known = self._stand_ins.known(match[0])
            return masked(match[0]) if known is None else known

        pieces, end = [], 0
        for match in _ERROR_PART.finditer(text):
            pieces += [masked(text[end : match.start()]), part(match)]
            end = match.end()
        return "".join([*pieces, masked(text[end:])])

    # --- values -----------------------------------------------------------------------------------------------------

    def _value(self, value: Any, shape: Shape, name: str, depth: int, owner: str = "") -> Any:
        """Return a value of a shape; one that does not have its shape is free."""
        if not depth:
            return _TOO_DEEP
        match shape:
            case ModelShape(cls) if isinstance(value, dict):
                return self._model(value, cls, depth)
            case UnionShape(union) if isinstance(value, dict):
                return self._union(value, union, name, depth)
            case ArrayShape(item) if isinstance(value, list):
                return [self._value(member, item, name, depth - 1, owner) for member in value]
            case MapShape(item) if isinstance(value, dict):
                return self._map(value, item, name, depth, owner)
            case ChoiceShape(options):
                fitting = next((option for option in options if _fits(value, option)), _FREE)
                return self._value(value, fitting, name, depth, owner)
            case StrShape(vocabulary=vocabulary) if isinstance(value, str):
                return self._text(value, name, owner) if vocabulary is None else self._word(value)
            case IntShape() | FloatShape() | BoolShape() if not isinstance(value, str | dict | list):
                return value
        return self._free(value, name, depth)

    def _map(self, value: dict[str, Any], item: Shape, name: str, depth: int, owner: str) -> dict[str, Any]:
        if f"{owner}.{name}" in _MAPS_BY_NAME:  # a form's fields, and what was chosen
            return {
                self._stand_ins.id(key): self._value(member, item, "value", depth - 1) for key, member in value.items()
            }
        return {self._name(key): self._value(member, item, name, depth - 1) for key, member in value.items()}

    def _model(self, value: dict[str, Any], cls: Any, depth: int) -> dict[str, Any]:
        fields = {field.wire: field for field in fields_of(cls)}
        made = {}
        for name, member in value.items():
            field = fields.get(name)
            if field is None and name in _BESIDE_THE_SCHEMA:
                made[name] = self._value(member, shape_of(_BESIDE_THE_SCHEMA[name]), name, depth - 1)
            elif field is None:
                made[self._name(name)] = self._free(member, name, depth - 1)
            elif issubclass(cls, _HANDSHAKES) and name.lower().endswith("capabilities"):
                made[name] = self._capability(member, depth - 1)
            elif issubclass(cls, Implementation) and isinstance(member, str) and not self._hide_programs:
                made[name] = member
            else:
                made[name] = self._value(member, field.shape, name, depth - 1, cls.__name__)
        return made

    def _union(self, value: dict[str, Any], union: Any, name: str, depth: int) -> dict[str, Any]:
        if not isinstance(union, TaggedUnion):
            found = next((cls for telling, cls in union.by_property.items() if telling in value), None)
            made: dict[str, Any] = self._model(value, found, depth) if found else self._free(value, name, depth)
            return made
        tag = value.get(union.tag)
        cls = union.variants.get(tag) if isinstance(tag, str) else union.default if tag is None else None
        rest = {member: item for member, item in value.items() if member != union.tag}
        made = self._free(rest, name, depth, extension=True) if cls is None else self._model(rest, cls, depth)
        if union.tag not in value:
            return made
        kept = (
            tag if cls is not None else self._word(tag) if isinstance(tag, str) else self._free(tag, union.tag, depth)
        )
        return {union.tag: kept, **made}

    def _word(self, word: str) -> str:
        """Return a word of the protocol or of an extension; of any other, the stand-in."""
        return word if word in extension_words() or word == HIDDEN else self._stand_ins.id(word)

    def _capability(self, value: Any, depth: int) -> Any:
        """Return what a program says that it can do: its names are of programs, and no user's."""
        if not depth:
            return _TOO_DEEP
        if isinstance(value, dict):
            return {
                name
                if name in known_names() or self._is_capability(name)
                else self._stand_ins.id(name): self._capability(item, depth - 1)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._capability(item, depth - 1) for item in value]
        if isinstance(value, str) and not is_version(value):
            return self._word(value)
        return value

    def _is_capability(self, name: str) -> bool:
        return not self._hide_programs and _CAPABILITY.fullmatch(name) is not None

    def _text(self, text: str, name: str, owner: str) -> str:
        """Return the stand-in for a text that the schema describes by its place alone."""
        if text == HIDDEN:
            return text
        if name in ("type", "method"):
            return self._word(text)
        if name in _WORDS and _WORDS[name].fullmatch(text):
            return text
        if name in _TIMES and _TIME.fullmatch(text):
            return text
        if name in ("data", "blob"):
            return masked_base64(text)
        if name == "pattern":  # a part of it may be no pattern
            return ".*"
        if name in _IDENTITIES and owner not in ("EnvVariable", "HttpHeader"):
            is_shown = name == "name" and not _TOKEN.fullmatch(text)
            return self._stand_ins.text(text) if is_shown else self._stand_ins.id(text)
        placed = self._placed(text, name)
        if placed is None:
            placed = self._by_looks(text) if name in _COMMANDS else self._stand_ins.text(text)
        return placed

    def _free(self, value: Any, name: str, depth: int, *, extension: bool = False) -> Any:
        """Return a value that the schema does not describe."""
        if not depth:
            return _TOO_DEEP
        if isinstance(value, dict):
            made = {}
            for key, member in value.items():
                inside = (extension or key in EXTENSIONS) and key not in CONTENTS
                made[self._name(key)] = self._free(member, key, depth - 1, extension=inside)
            return made
        if isinstance(value, list):
            return [self._free(item, name, depth - 1, extension=extension) for item in value]
        if isinstance(value, str):
            if value == HIDDEN or is_protocol_word(value):
                return value
            if extension and name in EXTENSION_WORD_NAMES and value in extension_words():
                return value
            return self._stand_ins.known(value) or self._placed(value, name) or self._by_looks(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > _LARGEST_NUMBER:
            return self._stand_ins.number(value, is_id=_ID_NAME.fullmatch(name) is not None)
        return value

    def _placed(self, text: str, name: str) -> str | None:
        """Return the stand-in for a text by the name of its place, or ``None`` if that does not say what it is."""
        if _ID_NAME.fullmatch(name) and name in known_names():
            return self._stand_ins.id(text)
        if name == "mimeType":
            return text if is_known_media_type(text) else self._stand_ins.id(text)
        if name in _URIS:
            return self._stand_ins.uri(text)
        return self._stand_ins.path(text) if name in _PATHS else None

    def _by_looks(self, text: str) -> str:
        if _URI.fullmatch(text):
            return self._stand_ins.uri(text)
        return self._stand_ins.path(text) if _LOCAL_PATH.fullmatch(text) else self._stand_ins.text(text)

    def _name(self, name: str) -> str:
        return name if name in known_names() else self._stand_ins.id(name)


def _is_of_harn(message: Mapping[str, Any]) -> bool:
    method = message.get("method")
    return isinstance(method, str) and method.startswith(_OF_HARN)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _fits(value: Any, shape: Shape) -> bool:
    match shape:
        case ModelShape() | UnionShape() | MapShape():
            return isinstance(value, dict)
        case ArrayShape():
            return isinstance(value, list)
        case StrShape():
            return isinstance(value, str)
        case BoolShape():
            return isinstance(value, bool)
        case IntShape() | FloatShape():
            return isinstance(value, int | float) and not isinstance(value, bool)
    return True
