"""What is done for an agent, with files, terminals and forms; what users write; recordings and pages."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from acp_host.errors import AcpError, InvalidInput, InvalidParams
from acp_host.printable import block, one_line, printable
from acp_host.recording.anonymise import anonymise
from acp_host.recording.format import encode_line, parse_line, read_recording
from acp_host.redaction import redact, redact_text
from acp_host.services import command_line
from acp_host.services._confined import Roots, confine
from acp_host.services._output import OutputBuffer
from acp_host.services._place import SpecialFileError
from acp_host.services.addressed_file import path_of_address
from acp_host.services.files.edits import apply_edits, text_edits
from acp_host.services.files.notebook_format import NotebookFormat
from acp_host.services.form_answers import check_answer
from acp_host.services.form_reader import read_form
from acp_host.services.named_in_call import NamedInCall
from acp_host.services.page_address import read_address
from acp_host.services.permission_toml import read_policy, write_policy
from acp_host.state.reminder_marker import MARKER
from acp_host.state.terminal_output import TerminalOutput
from acp_host.ui.changed_lines import changed_lines, patched_lines
from acp_host.ui.feed.command_forms import COMMANDS, read_command
from acp_host.wire import codec
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.elicitation import ElicitationFormMode
from acp_host.wire.permission_question import AskedCall
from acp_host.wire.tool_calls import Diff
from acp_host.wire.v2.diffs import Diff as PatchedFiles
from acp_host.wire.v2.diffs import DiffPatch, FileAdded, FileMoved
from tests.fuzz.seeds import FIXTURES, compact, pieces, recorded_lines
from tests.fuzz.target import Target


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _halves(data: bytes) -> tuple[str, str]:
    head, _, tail = data.partition(b"\0")
    return _text(head), _text(tail)


# --- files ----------------------------------------------------------------------------------------------------------


@functools.cache
def _roots() -> tuple[Roots, str]:
    top = os.path.realpath(tempfile.mkdtemp(prefix="acp_host-fuzz-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    root = Path(top, "root")
    (root / "a" / "b").mkdir(parents=True)
    (Path(top) / "outside").mkdir()
    for path in ("root/a/f", "outside/secret"):
        Path(top, path).write_text("text")
    links = {"in": "a/b", "out": "../outside", "up": "..", "loop": "loop", "abs": "/", "a/b/back": "../../../outside"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    return confine([root]), str(root)


def paths(data: bytes) -> None:
    """No path leads out of the roots, whatever links are on its way."""
    roots, root = _roots()
    named = data.decode("utf-8", "replace")
    for path in (named, f"{root}/{named}"):
        with contextlib.suppress(InvalidParams, OSError), roots.place(path) as place:
            assert place.path.startswith(f"{root}/")
            with contextlib.suppress(SpecialFileError):
                content, _ = place.read(100)
                assert place.path == f"{root}/a/f", content


def edits(data: bytes) -> None:
    """The edits between two texts make one of the other."""
    old, new = _halves(data)
    assert apply_edits(old, text_edits(old, new)) == new


@functools.cache
def _notebooks() -> tuple[NotebookFormat, str]:
    form = NotebookFormat()
    cells = [
        {"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# Title"},
        {"cell_type": "code", "id": "c", "metadata": {}, "source": "1", "execution_count": 1, "outputs": []},
    ]
    return form, form.write({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def notebooks(data: bytes) -> None:
    """What an agent writes for a notebook is refused, or becomes a valid notebook."""
    form, current = _notebooks()
    try:
        adopted = form.adopt(current, data.decode("utf-8", "replace"))
    except (ValueError, InvalidInput):
        return
    assert form.write(form.read(adopted)) == adopted


def _notebook_seeds() -> Iterator[bytes]:
    document = json.loads(_notebooks()[1])
    yield compact(document)
    document["cells"].append({"cell_type": "code", "metadata": {}, "source": ["a\n", "b"], "outputs": []})
    yield compact(document)


def diffs(data: bytes) -> None:
    """Every diff can be shown, and nothing in what is shown steers a terminal."""
    old, new = _halves(data)
    patch = PatchedFiles((FileMoved(old, new), FileAdded(new)), DiffPatch("git_patch", old))
    for lines in (changed_lines(Diff("/w/f", new, old)), patched_lines(patch)):
        assert all(printable(line.text) == line.text for line in lines)


# --- terminals and texts ----------------------------------------------------------------------------------------------


def terminals(data: bytes) -> None:
    """Output is kept within its limit, whole characters only, however it was cut."""
    limit = data[0] if data else 0
    buffer, shown = OutputBuffer(limit), TerminalOutput()
    step = 1 + limit % 7
    printed = ""
    for start in range(0, len(data), step):
        printed += buffer.feed(data[start : start + step])
    printed += buffer.feed(b"", final=True)
    assert printed == data.decode("utf-8", "replace")
    kept = buffer.text()
    assert printed.endswith(kept)
    assert len(kept.encode()) <= limit
    shown.append(printed)
    assert "".join(shown.segments()) == printed


def texts(data: bytes) -> None:
    """What is shown of a text steers nothing and is bounded; a marker is found where it is, and nothing else is."""
    text = _text(data)
    safe = printable(text)
    assert printable(safe) == safe
    assert "\x1b" not in safe
    assert len(one_line(text, 20)) <= 20
    assert len(block(text, 30, 2).split("\n")) <= 2
    redact_text(text)
    assert "".join(piece.text for piece in MARKER.split(text) if piece.reminder_id is None) in text or "[" in text
    wrapped = MARKER.wrap(text, "rmd-1", "Editor")
    assert [piece.reminder_id for piece in MARKER.split(wrapped)] == ["rmd-1"]


def command_lines(data: bytes) -> None:
    """Every command line can be taken apart."""
    line = _text(data)
    command_line.needs_shell(line)
    command_line.program_of(line)
    pieces = command_line.pieces_of(line)
    assert all(piece in line for piece in pieces)
    command_line.paths_in(line)


def addresses(data: bytes) -> None:
    """An address is refused, or what is opened is ASCII and what is shown names the same host."""
    text = _text(data)
    with contextlib.suppress(InvalidInput):
        address = read_address(text)
        assert address.url.isascii()
        assert address.url.startswith(("http://", "https://"))
        assert read_address(address.url).host == address.host
    with contextlib.suppress(InvalidInput):
        assert "\0" not in path_of_address(text)


# --- forms, policies, recordings, pages -------------------------------------------------------------------------------


def forms(data: bytes) -> None:
    """A form is refused, or can be shown; an answer of its defaults can be checked."""
    try:
        value = codec.read(data, lambda _: None)
        request, _ = structure_tolerant(value, ElicitationFormMode)
        form = read_form(request)
    except (AcpError, codec.Noise, codec.Unreadable):
        return
    values = {field.name: field.default for field in form.fields if field.default is not None}
    review = check_answer(form, values, patterns=False)
    assert len(review.lines) == len(form.fields)


def _form_seeds() -> Iterator[bytes]:
    for path in sorted((FIXTURES / "forms").glob("*.json")):
        yield compact(json.loads(path.read_text(encoding="utf-8"))["params"])


def policies(data: bytes) -> None:
    """A policy is refused with one error, or is the same when it is written and read again."""
    try:
        policy = read_policy(data.decode("utf-8", "replace"), "policy")
    except InvalidInput:
        return
    assert read_policy(write_policy(policy), "policy") == policy


def _policy_seeds() -> Iterator[bytes]:
    yield b'default = "ask"\n\n[[rules]]\nkind = "edit"\npath = "src/**"\nanswer = "allow_once"\n'
    yield b'[[rules]]\nkind = ["read", "search"]\nanswer = "allow_always"\n'
    yield b'[[rules]]\ncommand = "git *"\nanswer = "ask"\n'


def recordings(data: bytes) -> None:
    """Every file can be read as a recording; a line that is written again says the same."""
    for line in read_recording(io.BytesIO(data)):
        if line.raw is None and line.message is not None:
            again = parse_line(encode_line(line).removesuffix(b"\n"))
            assert encode_line(again) == encode_line(line)


def _recording_seeds() -> Iterator[bytes]:
    for path in sorted((FIXTURES / "recordings").glob("*.jsonl")):
        yield from pieces(path.read_bytes().splitlines()[:200])


def anonymised(data: bytes) -> None:
    """Words can be taken out of whatever is in a recording."""
    for line in anonymise(read_recording(io.BytesIO(data))):
        encode_line(line)


def named_files(data: bytes) -> None:
    """What a call names can be found in whatever it is described with."""
    try:
        value = codec.read(data, lambda _: None)
    except (codec.Noise, codec.Unreadable):
        return
    named = NamedInCall()
    named.take_call(AskedCall("c", raw_input=value))
    assert all(isinstance(path, str) for path in named.paths)


def _named_seeds() -> Iterator[bytes]:
    yield compact({"command": ["sh", "-c", "rm ../x"], "cwd": "/w", "paths": ["a", {"path": "~/b"}]})
    patch = "*** Add File: /w/a \n+x\n*** Move to: b\n--- a/x\t1\n+++ b/y\n@@\n"
    yield compact({"patch": patch, "input": '{"file_path": "/etc/x"}', "changes": {"/w/c": {"type": "add"}}})


def secrets(data: bytes) -> None:
    """Any JSON can be redacted; redacting it again changes nothing."""
    try:
        value = codec.read(data, lambda _: None)
    except (codec.Noise, codec.Unreadable):
        return
    once = redact(value)
    assert redact(once) == once


def commands(data: bytes) -> None:
    """What a page sends is a command in its form, or one error."""
    _, command, fault = read_command(data)
    assert bool(command) != (fault is not None)


def _command_seeds() -> Iterator[bytes]:
    for name, form in COMMANDS.items():
        schema = form.schema()
        yield compact({"id": 1, "command": name, **{key: "x" for key in schema.get("required", ()) if key != "id"}})


def _text_seeds() -> Iterator[bytes]:
    yield from (line[:400] for line in recorded_lines())
    yield b"old\ntext\n\0new\ntext\n"
    yield "\x1b[31mred\x1b[0m \u202e\r\n[context from Editor, not typed by the user · rmd-1]\nx".encode()
    yield b"sh -c 'rm -rf ../x' && FOO=1 git push > /etc/passwd"
    yield b"https://user@xn--e1afmkfd.example:8443/a?b#c"
    yield b"file:///w/a%20b"


def _path_seeds() -> Iterator[bytes]:
    yield from (b"a/f", b"in/../f", b"out/secret", b"up/outside/secret", b"loop", b"abs/etc/passwd", b"a/b/back/secret")


# What guides each target: the modules it is about, and nothing that they only use.
_PATHS = ("acp_host.services._confined", "acp_host.services._place")
_OUTPUT = ("acp_host.services._output", "acp_host.state.terminal_output", "acp_host.state.text")
_TEXTS = ("acp_host.printable", "acp_host.redaction", "acp_host.state.reminder_marker")
_COMMAND_LINES = ("acp_host.services.command_line",)
_ADDRESSES = ("acp_host.services.page_address", "acp_host.services.addressed_file")
_FORMS = ("acp_host.services.form_reader", "acp_host.services.form_answers", "acp_host.services._field_rules")
_POLICIES = (
    "acp_host.services.permission_toml",
    "acp_host.services.policy_words",
    "acp_host.services.permission_rules",
)

TARGETS = (
    Target("paths", paths, _path_seeds, is_json=False, code=_PATHS, longest=200),
    Target("edits", edits, _text_seeds, is_json=False, code=("acp_host.services.files.edits",), longest=400),
    Target("notebooks", notebooks, _notebook_seeds, code=("acp_host.services.files",)),
    Target("diffs", diffs, _text_seeds, is_json=False, code=("acp_host.ui.changed_lines",), longest=400),
    Target("terminals", terminals, _text_seeds, is_json=False, code=_OUTPUT, longest=400),
    Target("texts", texts, _text_seeds, is_json=False, code=_TEXTS, longest=400),
    Target("command-lines", command_lines, _text_seeds, is_json=False, code=_COMMAND_LINES, longest=200),
    Target("addresses", addresses, _text_seeds, is_json=False, code=_ADDRESSES, longest=300),
    Target("forms", forms, _form_seeds, code=_FORMS, longest=1_200),
    Target("policies", policies, _policy_seeds, is_json=False, code=_POLICIES, longest=600),
    Target("recordings", recordings, _recording_seeds, code=("acp_host.recording",)),
    Target("anonymised", anonymised, _recording_seeds, code=("acp_host.recording",)),
    Target("named-files", named_files, _named_seeds, code=("acp_host.services.named_in_call",), longest=400),
    Target("secrets", secrets, recorded_lines, code=("acp_host.redaction",), longest=400),
    Target("commands", commands, _command_seeds, code=("acp_host.ui.feed",)),
)
