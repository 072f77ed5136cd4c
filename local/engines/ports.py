"""Choosing and checking TCP ports on the loopback address."""

import contextlib
import socket

from local.engines.errors import EngineError

LOOPBACK = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Return `count` different ports that nobody listens on right now."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return [int(each.getsockname()[1]) for each in sockets]


def free_port() -> int:
    """Return a port that nobody listens on right now."""
    return free_ports(1)[0]


def is_free(port: int) -> bool:
    """Say whether `port` can be listened on (connections of a stopped server do not count)."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def chosen_port(port: int | None, *, name: str) -> int:
    """Return `port` when it is free, or a free one when none is asked for.

    Raises:
        EngineError: the asked port is in use.
    """
    if port is None:
        return free_port()
    if not is_free(port):
        raise EngineError(f"{name}: port {port} on {LOOPBACK} is in use")
    return port
