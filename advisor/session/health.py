"""An address that answers whether the queries of a session go on, for a liveness probe."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import msgspec

from advisor.errors import UsageError

MOST_AT_ONCE: Final = 100
"""Connections; each takes a thread and a file of the driver, of which Spark needs some, too."""

_AGAIN: Final = 0.5
"""Seconds until a connection that could not be accepted is tried again."""


class _Server(ThreadingHTTPServer):
    """Ends the oldest of MOST_AT_ONCE connections for a new one, and says nothing of a client that went away.

    A probe asks at once and is gone; a client that sends a byte now and then would hold its place for ever.
    """

    daemon_threads = True
    request_queue_size = MOST_AT_ONCE

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: deque[socket.socket] = deque()
        super().__init__(("", port), handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; where the driver has no file left for it, not again at once."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_AGAIN)
            raise

    def verify_request(self, request: Any, _: Any) -> bool:
        """Make room for one more."""
        if len(self._open) >= MOST_AT_ONCE:
            with suppress(OSError, IndexError):  # it ended by itself
                self._open.popleft().shutdown(socket.SHUT_RDWR)
        self._open.append(request)
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection, on a thread of its own."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with suppress(ValueError):  # it had to make room
                self._open.remove(request)

    def handle_error(self, *_: Any) -> None:
        """Nothing: the log of the driver is not the client's."""


class Health:
    """Answers every GET with 200 or 503 and a line of JSON, on a thread of its own."""

    def __init__(self, port: int, look: Callable[[], tuple[bool, dict[str, Any]]]) -> None:
        """`look` returns whether all is well, and what to say. UsageError for a port that is taken."""

        class Answer(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                try:
                    well, said = look()
                except Exception as error:
                    well, said = False, {"status": "unknown", "error": type(error).__name__}
                line = msgspec.json.encode(said) + b"\n"
                self.send_response(200 if well else 503)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(line)))
                self.end_headers()
                self.wfile.write(line)

            def log_message(self, *_: object) -> None:
                """Nothing: a probe comes every few seconds."""

        try:
            self._server = _Server(port, Answer)
        except (OSError, OverflowError, TypeError) as error:
            raise UsageError(f"health={port}", str(error), "give a free port") from None
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, name="advisor-health", daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
