"""What stands in the place of other people's words: :class:`StandIns`.

A text keeps its length in characters, its line breaks, spaces, punctuation and escape sequences, and which of its
characters are wide; of letters and digits nothing else is left. What is compared with something else — an id, a name, a
part of a path — keeps its identity too: equal ones have equal stand-ins, and different ones different ones.

Whatever is a stand-in already comes out as it is, if it comes in the same order.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import unicodedata
from collections.abc import Callable
from urllib.parse import quote, unquote

from acp_host.recording.known_kinds import is_known_media_type, known_ending

__all__ = ["StandIns", "masked", "masked_base64", "masked_bytes"]

_ESCAPES = re.compile(r"\x1b\[[0-9;:<=>?]*[ -/]*[@-~]|\x1b[()][0-9A-Za-z]|\x1b[=>78DEMc]")
_MARKER = re.compile(
    r"^(?P<opens>\[context from )(?P<host>[^\n]*?)(?P<says>, not typed by the user · )(?P<id>[^\s\]]+)(?P<shut>\])"
    r"|^(?P<closes>\[end of context )(?P<end>[^\s\]]+)(?P<over>\])",
    re.MULTILINE,
)
"""The lines that mark a reminder in a text; see :mod:`acp_host.state.reminder_marker`."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:(?://)?")
_KEPT_SCHEMES = frozenset(("file", "http", "https", "ws", "wss", "data", "zed", "acp", "untitled", "vscode"))
_DRIVE = re.compile(r"/?[A-Za-z]:(?=[\\/]|$)")
_DATA_HEAD = re.compile(r"data:(?P<kind>[^,;]{0,100}(?:;charset=[\w-]{1,40})?);base64,")
_KEPT_COMPONENTS = frozenset(("", ".", "..", "~"))
_ASCII = {character: ord("0" if chr(character).isdigit() else "X" if chr(character).isupper() else "x")
          for character in range(128) if chr(character).isalnum()}  # fmt: skip


def masked(text: str) -> str:
    """Return a text of the same shape that says nothing."""
    return _between_escapes(text, _masked)


def masked_bytes(data: bytes) -> bytes:
    """Return bytes of a text, cut anywhere, of the same shape; a character has as many bytes as before."""
    return _between_escapes(data.decode("latin-1"), lambda text: text.translate(_BYTES)).encode("latin-1")


def _between_escapes(text: str, mask: Callable[[str], str]) -> str:
    pieces, end = [], 0
    for escape in _ESCAPES.finditer(text):
        pieces += [mask(text[end : escape.start()]), escape[0]]
        end = escape.end()
    return "".join([*pieces, mask(text[end:])])


def masked_base64(text: str) -> str:
    """Return base64 of the same length: of a text like :func:`masked_bytes`, else of zeros."""
    try:
        data = base64.b64decode(text, validate=True)
        data.decode()
        return base64.b64encode(masked_bytes(data)).decode()
    except (binascii.Error, ValueError):
        return re.sub(r"[A-Za-z0-9+/_-]", "A", text) if _is_base64(text) else masked(text)


class StandIns:
    """Remembers which stand-in stands for what.

    Args:
        is_kept: tells of an id or name whether it says nothing and stays, e.g. a word of the protocol.
    """

    def __init__(self, is_kept: Callable[[str], bool]) -> None:
        self._is_kept = is_kept
        self._ids: dict[str, str] = {}
        self._numbers: dict[int, int] = {}
        self._hosts: set[str] = set()

    def keep_host(self, name: str) -> None:
        """Keep a host's name where it marks a reminder."""
        self._hosts.add(name)

    def id(self, text: str) -> str:
        """Return the stand-in for an id: of the same length, but that it may be longer where there are too many."""
        if not text or self._is_kept(text):
            return text
        known = self._ids.get(text)
        if known is None:
            known = self._ids[text] = _numbered(masked(text), len(self._ids) + 1)
        return known

    def number(self, value: int | float, *, is_id: bool) -> int | float:
        """Return the stand-in for a number of the same size; where it is an id, another one for each."""
        if isinstance(value, float):
            return math.copysign(10.0 ** math.floor(math.log10(abs(value))), value) if math.isfinite(value) else 0.0
        made: int = 10 ** (len(str(abs(value))) - 1)
        if is_id:
            made += self._numbers.setdefault(value, len(self._numbers) + 1)
        return made if value > 0 else -made

    def known(self, text: str) -> str | None:
        """Return the stand-in of what is an id elsewhere, or ``None``."""
        return self._ids.get(text)

    def text(self, text: str) -> str:
        """Return the stand-in for free text; lines that mark a reminder still do."""
        if "context" not in text:
            return masked(text)
        pieces, end = [], 0
        for line in _MARKER.finditer(text):
            pieces += [masked(text[end : line.start()]), self._marker(line)]
            end = line.end()
        return "".join([*pieces, masked(text[end:])])

    def path(self, path: str) -> str:
        """Return the stand-in for a path: each of its names has one, and its extension stays."""
        drive = _DRIVE.match(path)
        head = drive[0] if drive else ""
        pieces = re.split(r"([\\/]+)", path[len(head) :])
        return head + "".join(piece if index % 2 else self._component(piece) for index, piece in enumerate(pieces))

    def uri(self, uri: str) -> str:
        """Return the stand-in for a URI: of what comes after its scheme, each part has one."""
        data = _DATA_HEAD.match(uri)
        if data:
            kind = data["kind"] if is_known_media_type(data["kind"]) else masked(data["kind"])
            return f"data:{kind};base64,{masked_base64(uri[data.end() :])}"
        scheme = _SCHEME.match(uri)
        if scheme is None:
            return self.path(uri)
        name = scheme[0].rstrip(":/")
        head = scheme[0] if name.lower() in _KEPT_SCHEMES else self.id(name) + scheme[0][len(name) :]
        rest, *query = re.split(r"([?#])", uri[scheme.end() :], maxsplit=1)
        path = quote(self.path(unquote(rest)), safe="/\\:@~!$&'()*+,;=[]") if "%" in rest else self.path(rest)
        return head + path + "".join(map(masked, query))

    def _component(self, name: str) -> str:
        if name in _KEPT_COMPONENTS:
            return name
        ending = known_ending(name)
        return self.id(name.removesuffix(ending)) + ending

    def _marker(self, line: re.Match[str]) -> str:
        if line["closes"]:
            return f"{line['closes']}{self.id(line['end'])}{line['over']}"
        host = line["host"] if line["host"] in self._hosts else masked(line["host"])
        return f"{line['opens']}{host}{line['says']}{self.id(line['id'])}{line['shut']}"


def _masked(text: str) -> str:
    if text.isascii():
        return text.translate(_ASCII)
    return "".join(map(_masked_character, text))


def _masked_character(character: str) -> str:
    if character.isascii():
        return character.translate(_ASCII)
    category = unicodedata.category(character)
    if "\U000e0020" <= character <= "\U000e007e":  # ASCII that nobody sees, as flags are made of
        return "\U000e0078"
    if category in ("Co", "Cn"):  # nobody's characters, or anybody's
        return "\ue000" if character <= "\uffff" else "\U000f0000"
    if category[0] in "ZPC":  # spaces, punctuation; controls, and halves of characters
        return character
    if category[0] == "M":
        return "\u0301"
    if character > "\uffff":
        return "😀" if category[0] == "S" else "𝑥"
    if unicodedata.east_asian_width(character) in "WF":
        return "文"
    if category[0] == "N":
        return "٠"
    return "•" if category[0] == "S" else "É" if category == "Lu" else "é"


def _numbered(shape: str, number: int) -> str:
    """Write a number into the last letters and digits of a masked text; decides alone which stand-in it is."""
    digits = str(number)
    places = [index for index, character in enumerate(shape) if character.isascii() and character.isalnum()]
    if len(places) < len(digits):
        return f"{shape}{digits}" if not places else shape[: places[-1]] + digits + shape[places[-1] + 1 :]
    characters = list(shape)
    for index, digit in zip(places[-len(digits) :], digits, strict=True):
        characters[index] = digit
    return "".join(characters)


def _is_base64(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9+/_\-\s]*+={0,2}\s*", text) is not None


_BYTES = {
    **_ASCII,
    # The bytes of longer characters become those of one character of each length.
    **dict.fromkeys(range(0x80, 0xC0), 0xA9),
    **dict.fromkeys(range(0xC0, 0xE0), 0xC3),
    **dict.fromkeys(range(0xE0, 0xF0), 0xE2),
    **dict.fromkeys(range(0xF0, 0xF8), 0xF0),
}
