"""Holds every message of a conversation against the schema: :class:`Linter`.

Owns what is said about a message; who looks at it, and what then happens, is :mod:`acp_host.host.lint_transport`'s and
the command's business. It reads with the same types as the host, but repairs nothing, and minds words that the host
keeps.

=================================  ===================================================================================
what is held against the schema    what is let pass
=================================  ===================================================================================
JSON-RPC: members, ids, answers    a response that comes after its request was withdrawn
which side sends which method      methods that begin with ``_``, and those of Harn
parameters and results             further members, ``_meta``
words of closed vocabularies       words of open ones, words that begin with ``_``, Harn's kinds of update
=================================  ===================================================================================

Cost: one decoding of the message and one walk over it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from attrs import frozen

from acp_host.errors import DecodeError
from acp_host.translate.harn.kinds import KINDS
from acp_host.translate.harn.notifications import NOTIFICATIONS
from acp_host.translate.reminders import REMINDER_UPDATES
from acp_host.wire import jsonrpc
from acp_host.wire import methods as v1_methods
from acp_host.wire._model import UNSET
from acp_host.wire._shape import (
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
from acp_host.wire._tolerant import TolerantDecoder, child_path
from acp_host.wire._unions import TaggedUnion
from acp_host.wire.methods import Method, MethodKind, MethodTable
from acp_host.wire.v2 import methods as v2_methods

__all__ = ["CLOSED", "Finding", "Linter", "Side"]

Side = Literal["in", "out"]
"""Who has sent a message: ``in`` the agent, ``out`` the host, as in a recording."""

CLOSED: Mapping[int, frozenset[str]] = {
    1: frozenset(
        {
            *("ElicitationSchemaType", "PermissionOptionKind", "PlanEntryPriority", "PlanEntryStatus", "Role"),
            *("StopReason", "StringFormat", "ToolCallStatus", "ToolKind"),
            *("AuthMethod", "ContentBlock", "McpServer", "PlanUpdateContent", "RequestPermissionOutcome"),
            *("SessionConfigOption", "SessionUpdate", "ToolCallContent"),
        }
    ),
    2: frozenset({"ElicitationSchemaType"}),
}
"""Version → the vocabularies and unions that have no other members, by their names in the schema."""

_TABLES: Mapping[int, MethodTable] = {1: v1_methods.TABLE, 2: v2_methods.TABLE}
_HARN_METHODS = frozenset(
    {
        *NOTIFICATIONS,
        *("session/inject", "session/revoke_inject", "session/replace_inject", "session/pending_injections"),
        *("session/remind", "session/inject_reminder", "session/revoke_reminder", "session/inject_host_event"),
        *("session/attach", "session/detach", "session/takeover", "session/heartbeat", "session/live_clients"),
        *("session/truncate", "session/rollback", "session/redo", "session/suspend", "session/stop"),
        *("session/await_resumption", "session/set_budget", "session/cancel_tool_call", "session/restore_tool_call"),
        *("session/fs_mode", "session/fs_commit_staged", "session/fs_discard_staged", "session/plan_document/mutate"),
        *("skills/list", "skills/fetch", "skills/update", "skill/match", "agent/resume"),
        *("host/tools/list", "host/capabilities", "host/call"),
    }
)
"""Methods of Harn that do not begin with ``_``."""
_KNOWN_KINDS = KINDS | REMINDER_UPDATES
"""Kinds of update of extensions that this host reads."""
_FORMER_METHODS = frozenset({"session/set_model"})
"""Methods of earlier drafts that agents still have."""
_MAX_PENDING = 10_000
"""Requests of one side that are remembered while they have no answer."""
_LONGEST_WORD = 80
"""How much of a word a finding shows, in characters."""


@frozen
class Finding:
    """One thing about a message that is not as the schema has it.

    Attributes:
        side: who sent the message.
        problem: what is wrong, for people.
        path: JSON path of the value in the message.
        method: wire method of the message, or of the request that it answers; ``None`` if that is not known.
    """

    side: Side
    problem: str
    path: str = "$"
    method: str | None = None


class Linter:
    """The rules, and what has to be remembered of a conversation for them.

    Attributes:
        version: the version of the protocol that messages are held against: the one that was asked for, then the one
            that was agreed.
    """

    def __init__(self) -> None:
        self.version = 1
        self.reset()

    def reset(self) -> None:
        """Forget what waits for an answer: another process or connection begins."""
        self._pending: dict[Side, dict[tuple[type, Any], str]] = {"in": {}, "out": {}}
        self._over: dict[Side, deque[tuple[type, Any]]] = {"in": deque(maxlen=100), "out": deque(maxlen=100)}

    def check(self, side: Side, message: Any) -> list[Finding]:
        """Return what is wrong with the next message of a side, given as decoded; never raises."""
        if not isinstance(message, dict):
            text = "a batch: ACP has none" if isinstance(message, list) else "not a JSON object"
            return [Finding(side, text)]
        try:
            return list(self._check(side, message))
        except RecursionError:
            return [Finding(side, "nested too deeply to be read", method=_name(message.get("method")))]

    def _check(self, side: Side, message: dict[str, Any]) -> Iterator[Finding]:
        if message.get("jsonrpc") != "2.0":
            yield Finding(side, 'jsonrpc is not "2.0"', "$.jsonrpc", _name(message.get("method")))
        match jsonrpc.classify({**message, "jsonrpc": "2.0"}):
            case jsonrpc.Invalid() as invalid:
                yield Finding(side, invalid.reason, method=invalid.method)
            case jsonrpc.Request(id=request_id, method=method, params=params):
                yield from self._begin(side, request_id, method)
                yield from self._call(side, MethodKind.REQUEST, method, params)
            case jsonrpc.Notification(method=method, params=params):
                yield from self._call(side, MethodKind.NOTIFICATION, method, params)
            case jsonrpc.Response(id=response_id, result=result):
                yield from self._result(side, response_id, result)
            case jsonrpc.ErrorResponse(id=failed_id):
                if failed_id not in (None, UNSET):  # an error about what could not be read names no request
                    yield from self._end(side, failed_id)[1]

    # --- JSON-RPC ---------------------------------------------------------------------------------------------------

    def _begin(self, side: Side, request_id: Any, method: str) -> Iterator[Finding]:
        pending, key = self._pending[side], (type(request_id), request_id)
        if key in pending:
            yield Finding(side, f"the id {_short(request_id)} is that of a request without an answer", "$.id", method)
        elif len(pending) >= _MAX_PENDING:
            del pending[next(iter(pending))]
        pending[key] = method

    def _end(self, side: Side, request_id: Any) -> tuple[str | None, list[Finding]]:
        """Return the method of the request that a response is for, or what is wrong if there is none."""
        asked: Side = "out" if side == "in" else "in"
        key = (type(request_id), request_id)
        method = self._pending[asked].pop(key, None)
        if method is not None:
            self._over[asked].append(key)
            return method, []
        text = "was answered before" if key in self._over[asked] else "was never asked"
        return None, [Finding(side, f"an answer to {_short(request_id)}, which {text}", "$.id")]

    def _result(self, side: Side, request_id: Any, result: Any) -> Iterator[Finding]:
        method, findings = self._end(side, request_id)
        yield from findings
        if method is None:
            return
        if side == "in" and method == "initialize":
            self.version = _version_in(result)
        entry = self._method("out" if side == "in" else "in", method, MethodKind.REQUEST)
        if entry is None:
            return
        hint = entry.result_type
        yield from self._value(side, method, {} if result is None else result, hint, "$.result")

    # --- ACP --------------------------------------------------------------------------------------------------------

    def _method(self, side: Side, name: str, kind: MethodKind) -> Method | None:
        """Return the method that this side sends under a name."""
        table = _TABLES[self.version]
        return table.client_method(name, kind) if side == "in" else table.agent_method(name, kind)

    def _call(self, side: Side, kind: MethodKind, name: str, params: Any) -> Iterator[Finding]:
        if side == "out" and name == "initialize":
            self.version = _version_in(params)  # in the words of the version that is asked for
        entry = self._method(side, name, kind)
        if entry is not None:
            value = {} if params is UNSET or params is None else params
            yield from self._value(side, name, value, entry.params_type, "$.params")
            return
        if name.startswith("_") or name in _HARN_METHODS or name in _FORMER_METHODS:
            return
        other = MethodKind.NOTIFICATION if kind is MethodKind.REQUEST else MethodKind.REQUEST
        if self._method(side, name, other) is not None:
            problem = f"{_short(name)} is a {other.value}, sent as a {kind.value}"
        elif self._method("out" if side == "in" else "in", name, kind) is not None:
            problem = f"{_short(name)} is for the other side to send"
        else:
            problem = "no method of ACP; those of extensions begin with _"
        yield Finding(side, problem, "$.method", name)

    def _value(self, side: Side, method: str, value: Any, hint: Any, path: str) -> Iterator[Finding]:
        shape = shape_of(hint)
        reader = TolerantDecoder()
        try:
            reader.decode(value, shape, path)
        except DecodeError as error:
            yield Finding(side, error.problem, error.path, method)
            return
        for repair in reader.repairs:
            yield Finding(side, repair.message.split(";")[0], repair.path or path, method)
        for problem, where in _unlisted(value, shape, path, self.version):
            yield Finding(side, problem, where, method)


def _version_in(value: Any) -> int:
    version = value.get("protocolVersion") if isinstance(value, dict) else None
    return version if type(version) is int and version in _TABLES else 1


def _name(method: Any) -> str | None:
    return method if isinstance(method, str) else None


def _short(value: Any) -> str:
    """Return what an agent has made for a sentence, however long it is."""
    return repr(value) if isinstance(value, int | float | None) else repr(str(value)[:_LONGEST_WORD])


def _unlisted(value: Any, shape: Shape, path: str, version: int) -> Iterator[tuple[str, str]]:
    """Yield the words of a value that the schema does not list where it lists all, each with its path."""
    match shape:
        case StrShape(vocabulary=type() as words) if isinstance(value, str):
            if words.__name__ in CLOSED[version] and value not in set(words) and not value.startswith("_"):
                yield f"{_short(value)} is none of {', '.join(words)}", path
        case ModelShape(cls) if isinstance(value, dict):
            yield from _unlisted_members(value, cls, path, version)
        case UnionShape(TaggedUnion() as union) if isinstance(value, dict):
            yield from _unlisted_variant(value, union, path, version)
        case ArrayShape(item) if isinstance(value, list):
            for index, member in enumerate(value):
                yield from _unlisted(member, item, child_path(path, index), version)
        case MapShape(inner) if isinstance(value, dict):
            for name, member in value.items():
                yield from _unlisted(member, inner, child_path(path, name), version)
        case ChoiceShape(options):
            found = [list(_unlisted(value, option, path, version)) for option in options]
            yield from min(found, key=len)


def _unlisted_members(value: dict[str, Any], cls: Any, path: str, version: int) -> Iterator[tuple[str, str]]:
    for field in fields_of(cls):
        if value.get(field.wire) is not None:
            yield from _unlisted(value[field.wire], field.shape, child_path(path, field.wire), version)


def _unlisted_variant(value: dict[str, Any], union: TaggedUnion, path: str, version: int) -> Iterator[tuple[str, str]]:
    kind = value.get(union.tag)
    cls = union.default if union.tag not in value else union.variants.get(kind) if isinstance(kind, str) else None
    if cls is not None:
        yield from _unlisted_members(value, cls, path, version)
    elif (
        union.name in CLOSED[version]
        and isinstance(kind, str)
        and not kind.startswith("_")
        and kind not in _KNOWN_KINDS
    ):
        yield f"{_short(kind)} is no {union.name} of the schema", child_path(path, union.tag)
