"""A web server of this process for tests: it answers what it is told, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import gzip
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]
RECORDED = Path(__file__).with_name("ui_4_3_0.json.gz")


def recorded() -> dict[str, Any]:
    """What tests/record/ui.py wrote: `answers` by path, and the `progress` of the same queries."""
    found: dict[str, Any] = json.loads(gzip.decompress(RECORDED.read_bytes()))
    return found


class Served:
    """A server's address, and what it was asked: (path, headers)."""

    def __init__(self, port: int, scheme: str = "http") -> None:
        self.address = f"{scheme}://127.0.0.1:{port}"
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextlib.contextmanager
def serving(
    answers: Mapping[str, str | bytes | Answer], otherwise: Answer | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[Served]:
    """Yield a server that answers these paths, without their first slash, and 404 to all others; with `tls` https."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append((self.path, {name.lower(): text for name, text in self.headers.items()}))
            found = answers.get(self.path.lstrip("/"), otherwise)
            if callable(found):
                found(self)
            elif found is None:
                self.send_error(404)
            else:
                body(self, found)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Served(server.server_address[1], "https" if tls else "http")
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def body(handler: BaseHTTPRequestHandler, content: str | bytes, status: int = 200, packed: str = "") -> None:
    """Answer with this content, which is said to be packed so."""
    raw = content.encode() if isinstance(content, str) else content
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(raw)))
    if packed:
        handler.send_header("Content-Encoding", packed)
    handler.end_headers()
    handler.wfile.write(raw)


def redirect(to: str) -> Answer:
    """Answer with a redirect."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer
