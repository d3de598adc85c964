"""An address that answers whether the queries of a session go on, for a liveness probe."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from advisor.errors import UsageError


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
            self._server = ThreadingHTTPServer(("", port), Answer)
        except (OSError, OverflowError) as error:
            raise UsageError(f"health={port}", str(error), "give a free port") from None
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, name="advisor-health", daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
