"""An S3 server on the loopback that takes its time: `python lab/bucket_server.py DELAY_MS`.

Prints its port, then serves until its standard input is closed. Each request is answered DELAY_MS later than need be.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


def delayed(application: Any, seconds: float) -> Any:
    """The application, each request so many seconds later."""

    def answer(environment: Any, start: Any) -> Any:
        time.sleep(seconds)
        return application(environment, start)

    return answer


def main(delay_ms: float) -> None:
    """Serve until standard input is closed."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application = delayed(DomainDispatcherApplication(create_backend_app), delay_ms / 1000)
    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main(float(sys.argv[1]))
