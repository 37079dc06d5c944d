"""The HTTP server of `tidemark serve`: on the loopback interface, for reading only, and for nobody else's pages.

Who may ask is settled by where we listen. Another site's page in the same browser might still ask, through a name of its own that
leads to 127.0.0.1 (DNS rebinding), so a request must name this host. What is shown may come from anybody's history: templates
escape all of it, and a browser is told to run no script but a page's own two.
"""

from __future__ import annotations

import errno
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from tidemark.harness.report.environment import SCRIPT_POLICY
from tidemark.served.contents import UnreadableError
from tidemark.served.pages import Pages

HOST: Final = "127.0.0.1"
_NAMES: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json; charset=utf-8",
    ".jsonl": "text/plain; charset=utf-8",
    ".log": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".scenario": "text/plain; charset=utf-8",
}
"""What is shown of a folder; other files are not."""
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; "
    f"script-src {SCRIPT_POLICY}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
CHUNK: Final = 1 << 16


class NoPortError(OSError):
    """The port cannot be had; the message is a sentence."""


def server_of(root: Path, port: int) -> ThreadingHTTPServer:
    """A server of a folder, which listens already; `port` 0 takes a free one.

    Raises:
        NoPortError: somebody else has the port.
    """
    handler = type("Handler", (_Handler,), {"root": root.resolve(), "pages": Pages(root.resolve())})
    try:
        server = ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        why = "somebody else listens there" if error.errno == errno.EADDRINUSE else error.strerror
        raise NoPortError(f"cannot listen on port {port}: {why}; choose another with --port") from None
    server.daemon_threads = True
    return server


class _Handler(BaseHTTPRequestHandler):
    root: Path
    pages: Pages
    server_version = "Tidemark"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """The same without the body."""
        self._answer(body=False)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library gives it
        """Say nothing: what is asked for is nobody's business."""

    def _answer(self, *, body: bool) -> None:
        host = self.headers.get("Host", "").rsplit(":", 1)[0] if "]" not in self.headers.get("Host", "") else "[::1]"
        if host not in _NAMES:
            self._page(
                HTTPStatus.MISDIRECTED_REQUEST, self.pages.complaint("This is served to this machine alone."), body=body
            )
            return
        parts = urlsplit(self.path)
        what, _, rest = unquote(parts.path).lstrip("/").partition("/")
        try:
            found = self._found(what, rest, dict(parse_qsl(parts.query)))
            if isinstance(found, Path):
                self._file(found, body=body)
            else:
                self._page(HTTPStatus.OK, found, body=body)
        except UnreadableError as error:
            self._page(HTTPStatus.NOT_FOUND, self.pages.complaint(str(error)), body=body)
        except OSError as error:
            self._page(HTTPStatus.NOT_FOUND, self.pages.complaint(f"It cannot be read: {error.strerror}."), body=body)

    def _found(self, what: str, rest: str, asked: dict[str, str]) -> str | Path:
        """A page, or a file.

        Raises:
            UnreadableError: there is none. OSError: it cannot be read.
        """
        if not what:
            return self.pages.folder(asked)
        place = self._inside(rest)
        if what == "campaign" and place.is_dir():
            return self.pages.campaign(place, rest, asked)
        if what == "run" and place.is_dir():
            return self.pages.run(place, rest)
        if what == "file" and place.is_file() and place.suffix in _TYPES:
            return place
        raise UnreadableError("There is no such page.")

    def _inside(self, rest: str) -> Path:
        """A place below the root, links followed.

        Raises:
            UnreadableError: it is not below.
        """
        try:
            place = (self.root / rest).resolve()
        except (ValueError, OSError, RuntimeError):
            raise UnreadableError("There is no such page.") from None
        hidden = any(part.startswith(".") for part in Path(rest).parts)
        if hidden or not place.is_relative_to(self.root):
            raise UnreadableError("There is no such page.")
        return place

    def _page(self, status: HTTPStatus, text: str, *, body: bool) -> None:
        data = text.encode()
        self._head(status, "text/html; charset=utf-8", len(data))
        if body:
            self.wfile.write(data)

    def _file(self, path: Path, *, body: bool) -> None:
        with path.open("rb") as file:
            left = path.stat().st_size
            self._head(HTTPStatus.OK, _TYPES[path.suffix], left)
            while body and left and (chunk := file.read(min(CHUNK, left))):
                self.wfile.write(chunk)
                left -= len(chunk)

    def _head(self, status: HTTPStatus, kind: str, length: int) -> None:
        self.send_response(status)
        for name, value in (_HEADERS | {"Content-Type": kind, "Content-Length": str(length)}).items():
            self.send_header(name, value)
        self.end_headers()
