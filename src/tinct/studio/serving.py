"""Serving the studio to this machine, and to nobody else."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from tinct.errors import ParameterError
from tinct.exact.sampler import token as new_token
from tinct.studio.opening import Opening, Tickets

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = "127.0.0.1"


class _Handler(WSGIRequestHandler):
    """Requests without a log, which would hold the token, and without a banner."""

    timeout = 60
    server_version = "tinct"
    sys_version = ""
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 # werkzeug's signature
        """Say nothing."""

    def version_string(self) -> str:
        """What the Server header says."""
        return "tinct"


class Studio:
    """A studio that listens on a port of this machine.

    Args:
        port: The port, or 0 for any that is free.
        ledger: A ledger to look at on the Budget page.
    """

    def __init__(self, port: int = 0, ledger: str | None = None) -> None:
        if not 0 <= port <= 65535:
            raise ParameterError(f"port must be a whole number from 0 to 65535, got {port}")
        self._token = new_token()
        self._server = _listen(port)
        from tinct.studio.application import build

        self._tickets = Tickets()
        self._server.app = build(self._token, self._server.port, ledger, self._tickets)

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        return f"http://{HOST}:{self._server.port}/?token={self._token}"

    def opening(self) -> Opening:
        """A way to open the page in the browser that shows the token to nobody."""
        return Opening(f"http://{HOST}:{self._server.port}/", self._tickets)

    def serve(self, ready: Callable[[str], None] | None = None) -> None:
        """Answer requests until interrupted; ``ready`` is called with the address once it can be opened."""
        try:
            if ready is not None:
                ready(self.url)
            self._server.serve_forever(poll_interval=0.1)
        finally:
            self._server.server_close()

    def start(self) -> threading.Thread:
        """Answer requests in the background, until ``stop``."""
        thread = threading.Thread(target=self.serve, daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """Stop answering."""
        self._server.shutdown()


def _listen(port: int) -> BaseWSGIServer:
    def not_yet(*_: Any) -> list[bytes]:
        return []

    try:
        listening = socket.create_server((HOST, port))  # werkzeug would print lines of its own if it failed
    except OSError:
        raise ParameterError(f"port {port} is taken or not allowed: choose another, or 0 for any") from None
    with listening:
        return make_server(HOST, port, not_yet, threaded=True, request_handler=_Handler, fd=listening.fileno())
