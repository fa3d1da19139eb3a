"""Google's ``generateContent`` format, as far as the fake model needs it: read into the other one, and written from it.

:mod:`tests.interop.fake_model` decides what is answered, by conversations in OpenAI's form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["as_chat", "is_gemini", "responses"]

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def is_gemini(path: str) -> bool:
    """Tell whether a request is for this format, by its path."""
    return path.partition("?")[0].endswith((":generateContent", ":streamGenerateContent"))


def as_chat(body: dict[str, Any]) -> dict[str, Any]:
    """Return the messages and tools of a request as chat completions have them."""
    declared = [each for tool in body.get("tools") or () for each in tool.get("functionDeclarations") or ()]
    return {
        "messages": [as_message(content) for content in body.get("contents", ())],
        "tools": [
            {"function": {"name": each["name"], "parameters": each.get("parametersJsonSchema") or each["parameters"]}}
            for each in declared
        ],
    }


def as_message(content: dict[str, Any]) -> dict[str, Any]:
    parts = content.get("parts", ())
    text = "\n".join(part.get("text", "") for part in parts)
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    role = "assistant" if content.get("role") == "model" else "user"
    return {"role": role, "content": text} | ({"tool_calls": calls} if calls else {})


def responses(
    thought: str, pieces: list[str], tool: str | None, arguments: dict[str, Any], call_id: str
) -> Iterator[dict[str, Any]]:
    """Yield the pieces of an answer, the last of which says that it is whole."""

    def response(*parts: dict[str, Any], **members: Any) -> dict[str, Any]:
        candidate = {"index": 0, "content": {"role": "model", "parts": list(parts)}, **members}
        return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "fake-model"}

    if thought:
        yield response({"text": f"**{thought}**", "thought": True})
    for piece in pieces:
        yield response({"text": piece})
    call = {"functionCall": {"id": call_id, "name": tool, "args": arguments}} if tool else {"text": ""}
    yield response(call, finishReason="STOP")
