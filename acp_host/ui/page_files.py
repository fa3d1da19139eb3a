"""The files of the page, and the headers that keep it to itself: :class:`PageFiles`.

All files are read at once, so that no request ever reaches the disk, and no path leads elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from websockets.datastructures import Headers
from websockets.http11 import Response

__all__ = ["HTML", "STATIC", "PageFiles", "page_headers", "plain_page"]

STATIC = Path(__file__).parent / "static"
"""Where the page is that comes with the library."""

HTML = "text/html; charset=utf-8"
_TYPES: Mapping[str, str] = {
    ".html": HTML,
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""What is served; other files are not."""
_NOT_BUILT = "The page has not been built: acp_host/ui/static has no index.html. The feed is at /feed."


def _policy(changed: Mapping[str, str]) -> str:
    """Return the Content-Security-Policy: nothing from elsewhere, and nothing inline."""
    rules = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "media-src": "data: blob:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        # No text becomes HTML but by the page's sanitiser.
        "require-trusted-types-for": "'script'",
        "trusted-types": "dompurify",
        **changed,
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def page_headers(kind: str, changed: Mapping[str, str] | None = None) -> tuple[tuple[str, str], ...]:
    """Return the headers that keep a page to itself.

    Args:
        kind: the type of the body.
        changed: rules of the Content-Security-Policy that are others here, by their names.
    """
    return (
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", _policy(changed or {})),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    )


class PageFiles:
    """The files of a page.

    Args:
        folder: where they are, ``index.html`` among them.
    """

    def __init__(self, folder: Path = STATIC) -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            kind = _TYPES.get(path.suffix)
            if kind is not None and path.is_file():
                self._files[f"/{path.relative_to(folder).as_posix()}"] = path.read_bytes(), kind

    def find(self, path: str) -> tuple[bytes, str] | None:
        """Return a file and its type by a path, where ``/`` is the page; ``None`` if there is no such file."""
        return self._files.get("/index.html" if path == "/" else path)

    def response(self, path: str, host: str) -> Response:
        """Return the answer to a request for a path.

        Args:
            path: of the request, without its query.
            host: what the page calls this server.
        """
        found = self.find(path)
        if found is None and path == "/":
            return plain_page(HTTPStatus.OK, _NOT_BUILT, host)
        if found is None:
            return plain_page(HTTPStatus.NOT_FOUND, "There is no such file.", host)
        body, kind = found
        return _response(HTTPStatus.OK, body, kind, host)


def plain_page(
    status: HTTPStatus, text: str, host: str, headers: tuple[tuple[str, str], ...] = (), head: str = ""
) -> Response:
    """Return a page with one sentence.

    Args:
        status: of the answer.
        text: the sentence; nothing of the request may be in it.
        host: what the page calls this server.
        headers: further headers.
        head: further elements of the page's head.
    """
    page = f'<!doctype html><html lang="en"><head><title>acp-host</title>{head}</head><body><p>{text}</p></body></html>'
    return _response(status, page.encode(), HTML, host, headers)


def _response(
    status: HTTPStatus, body: bytes, kind: str, host: str, more: tuple[tuple[str, str], ...] = ()
) -> Response:
    headers = Headers(
        [
            *page_headers(kind, {"connect-src": f"'self' ws://{host} wss://{host}"}),
            ("Content-Length", str(len(body))),
            ("X-Frame-Options", "DENY"),
            ("Connection", "close"),
            *more,
        ]
    )
    return Response(status.value, status.phrase, headers, body)
