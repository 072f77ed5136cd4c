"""Chooses and checks TCP ports on the loopback address."""

import contextlib
import secrets
import socket

from local.engines.errors import EngineError

LOOPBACK = "127.0.0.1"

# Below the ports that Linux (from 32768) and macOS and Windows (from 49152) assign: an engine
# listens seconds after its port was chosen, and uses it again after a kill. The system could have
# assigned a port of its own range to another process by then.
_FIRST, _END = 10_000, 32_768
# Ports that other programs use, which are passed over.
_TRIES = 200


def free_ports(count: int) -> list[int]:
    """Return `count` different ports that are not in use and not assigned by the system.

    Raises:
        EngineError: no free port was found in this number of attempts.
    """
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        for _ in range(count + _TRIES):
            if len(ports) == count:
                break
            sought = _FIRST + secrets.randbelow(_END - _FIRST)
            # All are held until the end, so that no port is found twice.
            probe = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):  # in use, possibly by the ports found before
                probe.bind((LOOPBACK, sought))
                ports.append(sought)
    if len(ports) < count:
        raise EngineError(f"fewer than {count} ports between {_FIRST} and {_END} are free")
    return ports


def free_port() -> int:
    """Return a port that is not in use; see `free_ports`."""
    return free_ports(1)[0]


def is_free(port: int) -> bool:
    """Return whether `port` is free; connections of a stopped server do not count."""
    with socket.socket() as probe:
        # As the server that will use it: connections in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def chosen_port(port: int | None, *, name: str) -> int:
    """Return `port` if it is free, or a free port if none is given.

    Raises:
        EngineError: the given port is in use.
    """
    if port is None:
        return free_port()
    if not is_free(port):
        raise EngineError(f"{name}: port {port} on {LOOPBACK} is in use")
    return port
