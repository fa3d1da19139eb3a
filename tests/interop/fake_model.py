"""A fake language model on loopback, which does what the prompt tells it: :class:`FakeModel`.

It speaks as much of OpenAI's chat completions API (streamed and not), and of Google's ``generateContent``, as coding
agents need for whole turns, tool calls included, so that a real agent can be tested without a network, a login or a
model. The user's prompt is the script: its
lines that start with ``!`` are played in order, one for each call of the model ::

    !say TEXT            answer with the text
    !write PATH TEXT     call the agent's tool that writes a file: the text and a newline
    !read PATH           call the tool that reads a file
    !edit PATH OLD -> NEW  call the tool that replaces text in a file
    !run COMMAND         call the tool that runs a shell command
    !plan STEP; STEP     call the tool that keeps a list of tasks
    !slow N              answer with N words, one each tenth of a second
    !fail STATUS         answer with an HTTP error
    !think TEXT          reason with this text before the next line is played; no call of its own

Once all lines are played the answer is a short closing text. The server keeps no state between calls: how far the
script got is read from the conversation in the request. Tools are chosen from those that the request offers, and their
arguments are made to fit their JSON schema, so nothing here knows the agents by name.

``python -m tests.interop.fake_model [PORT]`` serves it for agents that are tried by hand.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.interop import gemini_format

__all__ = ["CLOSING_TEXT", "Answer", "FakeModel", "answer_for"]

CLOSING_TEXT = "The script is played to its end."
PAUSE = 0.1
"""Seconds between two words of a slow answer."""

TOOL_NAMES = {
    "write": {"write", "write_file", "write_text_file", "create"},
    "read": {"read", "read_file", "read_text_file", "view"},
    "edit": {"edit", "replace", "edit_file", "patch"},
    "run": {"bash", "shell", "run_shell_command", "execute", "terminal"},
    "plan": {"todowrite", "todo_write"},
}
LINE = re.compile(r"^\s*!(\w+)(?:[ \t]+(.*?))?\s*$", re.MULTILINE)


@dataclass
class Answer:
    """What the model says to one call.

    Attributes:
        text: the answer's text.
        thought: reasoning that comes before it.
        tool: name of the tool to call, and
        arguments: the arguments of that call.
        pause: seconds between two pieces of the text.
        status: HTTP status; anything but 200 is an error without an answer.
    """

    text: str = ""
    thought: str = ""
    tool: str | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    pause: float = 0.0
    status: int = 200


def answer_for(request: dict[str, Any]) -> Answer:
    """Return what the script in the request's conversation says to do next."""
    messages = request.get("messages", [])
    tools = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in request.get("tools") or ()}
    start = next((i for i in reversed(range(len(messages))) if script_of(messages[i])), None)
    # Without tools it is no turn of the conversation but a side task, such as finding a title.
    if start is None or not tools:
        return Answer("A scripted conversation")
    played = sum(1 for message in messages[start:] if message["role"] == "assistant" and message.get("tool_calls"))
    steps = script_of(messages[start])
    if played >= len(steps):
        return Answer(CLOSING_TEXT)
    thought, action, argument = steps[played]
    answer = play(action, argument, tools)
    answer.thought = thought
    return answer


def script_of(message: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the (thought, action, argument) steps that a user's message holds; none for other messages."""
    if message["role"] != "user":
        return []
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(block.get("text", "") for block in content)
    steps, thought = [], ""
    for action, argument in LINE.findall(content):
        if action == "think":
            thought = argument
        else:
            steps.append((thought, action, argument))
            thought = ""
    return steps


def play(action: str, argument: str, tools: dict[str, dict[str, Any]]) -> Answer:
    match action:
        case "say":
            return Answer(argument)
        case "slow":
            return Answer("".join(f"word{n} " for n in range(int(argument))), pause=PAUSE)
        case "fail":
            return Answer(status=int(argument))
        case _ if action in TOOL_NAMES:
            name = next((name for name in tools if name in TOOL_NAMES[action]), None)
            if name is None:
                return Answer(f"There is no tool to {action} among {', '.join(tools)}")
            arguments = fit(tools[name], values_for(action, argument))
            return Answer(f"I shall {action}.", tool=name, arguments=arguments)
        case _:
            return Answer(f"There is no such line as !{action}")


def values_for(action: str, argument: str) -> dict[str, Any]:
    """Return the values of a tool call, by the names that tools give them, in lower case and without underscores."""
    if action == "plan":
        steps = enumerate(filter(None, map(str.strip, argument.split(";"))))
        common = {"status": "pending", "priority": "medium"}
        return {"todos": [common | {"content": step, "id": str(number)} for number, step in steps]}
    if action == "run":
        return {"command": argument, "description": "a scripted command"}
    path, _, rest = argument.partition(" ")
    old, _, new = rest.partition(" -> ")
    return {
        **dict.fromkeys(("path", "filepath", "absolutepath"), path),
        **dict.fromkeys(("content", "filetext"), f"{rest}\n"),
        **dict.fromkeys(("oldstring", "oldstr"), old),
        **dict.fromkeys(("newstring", "newstr"), new),
    }


def fit(schema: dict[str, Any], values: Any) -> Any:
    """Shape ``values`` as the schema wants them; what is required and has no value gets a placeholder."""
    kind = str(schema.get("type")).lower()
    if kind == "object" and isinstance(values, dict):
        return {
            name: fit(part, values.get(name.lower().replace("_", "")))
            for name, part in schema.get("properties", {}).items()
            if name.lower().replace("_", "") in values or name in schema.get("required", ())
        }
    if kind == "array" and isinstance(values, list):
        return [fit(schema.get("items", {}), item) for item in values]
    if values is not None:
        return values
    if "enum" in schema:
        return schema["enum"][0]
    return {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}.get(kind, "placeholder")


class FakeModel:
    """Serves the model while it is entered, on a thread of its own.

    Attributes:
        requests: the bodies of all calls so far, in order of arrival.
        abandoned: set once a caller has hung up before its answer was complete.
    """

    def __init__(self, port: int = 0) -> None:
        self.requests: list[dict[str, Any]] = []
        self.abandoned = threading.Event()
        self._server = Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="fake model")

    @property
    def url(self) -> str:
        """What agents of OpenAI's format call the base URL, without a slash at its end."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The URL of the server, without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._server.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self._server.faults and value is None:
            raise self._server.faults[0]


class Server(ThreadingHTTPServer):
    daemon_threads = True  # agents keep connections open; closing the server does not wait for them

    def __init__(self, address: tuple[str, int], model: FakeModel) -> None:
        super().__init__(address, Handler)
        self.model = model
        self.stopping = threading.Event()
        self.faults: list[BaseException] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        fault = sys.exception()
        if fault is not None and not isinstance(fault, ConnectionError):
            self.faults.append(fault)


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what was asked is in ``FakeModel.requests``."""

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self.send_json(200, {"object": "list", "data": [{"id": "fake-model", "object": "model"}]})
        else:
            self.send_json(404, {"error": {"message": f"there is nothing at {self.path}"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        gemini = gemini_format.is_gemini(self.path)
        if not (gemini or self.path.endswith("/chat/completions")):
            self.send_json(404, {"error": {"message": f"there is nothing at {self.path}"}})
            return
        model = self.server.model
        request = gemini_format.as_chat(body) if gemini else body
        model.requests.append(request)
        answer = answer_for(request)
        try:
            if answer.status != 200:
                self.send_json(answer.status, {"error": {"message": "a scripted failure", "type": "scripted"}})
            elif gemini:
                self.answer_in_gemini_format(answer)
            elif body.get("stream"):
                self.stream(chunks(answer), answer.pause, end=b"data: [DONE]\n\n")
            else:
                self.send_json(200, completion(answer))
        except ConnectionError:
            model.abandoned.set()
            self.close_connection = True

    def send_json(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_in_gemini_format(self, answer: Answer) -> None:
        stream = ":streamGenerateContent" in self.path
        texts = pieces(answer.text) if stream else [answer.text]
        parts = gemini_format.responses(answer.thought, texts, answer.tool, answer.arguments, new_call_id())
        if stream:
            self.stream(parts, answer.pause)
        else:
            whole = list(parts)
            contents = [part for each in whole for part in each["candidates"][0]["content"]["parts"]]
            whole[-1]["candidates"][0]["content"]["parts"] = contents
            self.send_json(200, whole[-1])

    def stream(self, events: Iterator[dict[str, Any]], pause: float, end: bytes = b"") -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(b"data: %s\n\n" % json.dumps(event).encode())
            if pause and self.server.stopping.wait(pause):
                break
        self.wfile.write(end)
        self.close_connection = True


USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def envelope(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-fake",
        "object": kind,
        "created": int(time.time()),
        "model": "fake-model",
        "choices": choices,
    }


def new_call_id() -> str:
    # Ids must differ from call to call, or an agent takes the second call of a conversation for the first.
    return f"call_{time.monotonic_ns():x}"


def call_of(answer: Answer) -> dict[str, Any]:
    function = {"name": answer.tool, "arguments": json.dumps(answer.arguments)}
    return {"id": new_call_id(), "type": "function", "function": function}


def completion(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if answer.tool:
        message["tool_calls"] = [call_of(answer)]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.tool else "stop"}
    return envelope("chat.completion", [choice]) | {"usage": USAGE}


def chunks(answer: Answer) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return envelope("chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": finish_reason}])

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(answer.thought):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(answer.text):
        yield chunk({"content": piece})
    if answer.tool:
        call = call_of(answer)
        function = call["function"]
        yield chunk({"tool_calls": [call | {"index": 0, "function": function | {"arguments": ""}}]})
        for piece in pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if answer.tool else "stop")
    yield envelope("chat.completion.chunk", []) | {"usage": USAGE}


def pieces(text: str) -> list[str]:
    """Cut a text behind its blanks, as tokens would be."""
    return re.findall(r"\S*\s+|\S+$", text)


if __name__ == "__main__":
    with FakeModel(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as served, contextlib.suppress(KeyboardInterrupt):
        print(served.url, flush=True)
        threading.Event().wait()
