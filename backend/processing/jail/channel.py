"""Messages between the processes of the jail: JSON, and descriptors of open files."""

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, cast

from backend.spec.inspection_outputs import INSPECTION_OUTPUTS

_HEADER = struct.Struct("<I")
# The header can announce 4 GiB, which a hostile child would let its parent allocate.
_LONGEST = 4 << 20
# Open files in one message: the input and the outputs. Further ones are closed by the kernel.
_DESCRIPTORS = 1 + len(INSPECTION_OUTPUTS)


class ChannelError(Exception):
    """The other process has ended, or sent an invalid message."""


def send(channel: socket.socket, message: object, descriptors: Sequence[int] = ()) -> None:
    """Send one message.

    Raises:
        ChannelError: the other process has ended.
    """
    body = json.dumps(message).encode()
    try:
        socket.send_fds(channel, [_HEADER.pack(len(body))], list(descriptors))
        channel.sendall(body)
    except OSError as error:
        raise ChannelError(f"cannot send: {error}") from error


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return the next message and the open descriptors that came with it.

    Raises:
        ChannelError: the other process has ended, or its message is not valid.
        TimeoutError: none came within the time-out of the channel.
    """
    descriptors: list[int] = []
    try:
        header = _header(channel, descriptors)
        return _message(_body(channel, _HEADER.unpack(header)[0])), descriptors
    except TimeoutError:
        close_all(descriptors)
        raise
    except (OSError, ChannelError) as error:
        close_all(descriptors)
        raise ChannelError(str(error)) from error


def _header(channel: socket.socket, descriptors: list[int]) -> bytes:
    """Return the length of the next message, and its descriptors."""
    header = b""
    while len(header) < _HEADER.size:
        missing = _HEADER.size - len(header)
        more, received, _, _ = socket.recv_fds(channel, missing, _DESCRIPTORS)
        descriptors += received
        if not more:
            raise ChannelError("the other process has ended")
        header += more
    return header


def close_all(descriptors: Sequence[int]) -> None:
    """Close descriptors that were received."""
    for descriptor in descriptors:
        os.close(descriptor)


def _body(channel: socket.socket, length: int) -> bytes:
    if length > _LONGEST:
        raise ChannelError("a message is too long")
    body = bytearray()
    while len(body) < length:
        more = channel.recv(min(length - len(body), 1 << 16))
        if not more:
            raise ChannelError("the other process has ended")
        body += more
    return bytes(body)


def _message(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise ChannelError("a message is not JSON") from None
    if not isinstance(message, dict):
        raise ChannelError("a message is not an object")
    return cast("dict[str, Any]", message)
