"""What is in a frame, as lines: a text frame of a WebSocket, an event, or the body of an answer: :func:`as_lines`.

A frame is one message, and a message is one line everywhere else in this library. But some agents print their JSON over
several lines, and some put several messages into one frame.
"""

from __future__ import annotations

import orjson

__all__ = ["as_lines"]


def as_lines(frame: bytes) -> bytes:
    """Return the messages of a frame, each as a line that ends in a newline; nothing for a frame without content.

    JSON over several lines becomes one, since a line break outside of its strings is but space, and none can be inside.
    Anything else keeps its line breaks, so that each line is looked at as a message of its own.
    """
    frame = frame.strip()
    if not frame:
        return b""
    if (b"\n" in frame or b"\r" in frame) and _is_json(frame):
        frame = frame.replace(b"\r", b" ").replace(b"\n", b" ")
    return frame + b"\n"


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True
