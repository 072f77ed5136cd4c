"""HTTP servers in the runner's event loop, on sockets that are bound before anything starts."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Generator

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from local.engines.ports import LOOPBACK, is_free
from local.errors import LocalError
from local.foreign import Guard, refusal

_DEFAULT_PORT = 8080
_TRIED = 100
# Connections that wait while the one event loop is busy: an import with 64 transfers opens many at
# once.
_BACKLOG = 512


class _Server(uvicorn.Server):
    """A server that leaves the handling of signals to the runner."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def guarded(app: ASGIApp, guard: Guard) -> ASGIApp:
    """Return `app` without the requests that the guard refuses."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        target: bytes = scope["raw_path"] + b"?" + scope["query_string"]
        headers = ((n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"])
        fact = refusal(scope["method"], target.decode("latin-1"), headers, guard)
        await (app if fact is None else JSONResponse({"message": fact}, 403))(scope, receive, send)

    return answer


class HttpServer:
    """One application on one port, or on several."""

    def __init__(self, *bound: socket.socket) -> None:
        """Store bound sockets; connections wait until `start`."""
        self._sockets = bound
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None
        self.ports = [int(listener.getsockname()[1]) for listener in bound]
        self.port = self.ports[0]
        self.address = f"{LOOPBACK}:{self.port}"
        self.url = f"http://{self.address}"

    async def start(self, app: ASGIApp, guard: Guard | None = None) -> None:
        """Serve `app` until `stop`, behind a guard."""
        config = uvicorn.Config(
            guarded(app, guard or Guard()),
            # the only implementation that passes the request target to the guard as sent
            http="h11",
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            # Otherwise a client on this machine could choose its own source address, and pass the
            # check of `allowedIpRanges`.
            proxy_headers=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=3,
            backlog=_BACKLOG,
        )
        self._server = _Server(config)
        self._task = asyncio.create_task(
            self._server.serve(sockets=list(self._sockets)), name=f"http-{self.port}"
        )
        while not self._server.started:
            await asyncio.sleep(0.005)
            if self._task.done():
                await self._task

    async def stop(self) -> None:
        """Wait a moment for running requests, then close."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await self._task
        for listener in self._sockets:
            listener.close()


def bind(port: int | None) -> socket.socket:
    """Return a socket on `port` (0: any free one), or on the first free port from 8080.

    Raises:
        LocalError: `port` is in use or not permitted, or a hundred ports are in use.
    """
    if port is not None:
        return _bound(port)
    for number in range(_DEFAULT_PORT, _DEFAULT_PORT + _TRIED):
        if is_free(number):
            return _bound(number)
    raise LocalError(f"every port from {_DEFAULT_PORT} on of {LOOPBACK} is in use")


def bind_any() -> socket.socket:
    """Return a socket on a port that the system chooses."""
    return _bound(0)


def _bound(port: int) -> socket.socket:
    # The protocol is named because asyncio disables Nagle's algorithm only then: otherwise each
    # reply would wait 40 ms for a delayed acknowledgement of the other side.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((LOOPBACK, port))
        # Listen at once: two sockets that do not listen yet may share a port.
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        taken = error.errno == errno.EADDRINUSE
        fact = "is in use" if taken else f"cannot be listened on: {error.strerror}"
        raise LocalError(f"port {port} of {LOOPBACK} {fact}") from error
    return bound
