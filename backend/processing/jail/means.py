"""Tests what the kernel allows for the confinement of readers, in processes that then exit."""

import json
import os
import socket
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backend.processing.jail.channel import send
from backend.processing.jail.confinement import Bounds, Means, confine


def announce(descriptor: int) -> None:
    """Send the means for readers that use no files, and for those that do, before any file."""
    with socket.socket(fileno=os.dup(descriptor)) as channel:
        folder = Path(tempfile.gettempdir())
        send(channel, {"alone": tested_means(None), "inFolder": tested_means(folder)})


def means_of(message: dict[str, Any], *, files: bool) -> Means:
    """Return the means of a reader from the message."""
    fields: dict[str, Any] = {**message["inFolder" if files else "alone"]}
    fields["texts"] = tuple(fields["texts"])
    return Means(**fields)


def tested_means(folder: Path | None) -> dict[str, Any]:
    """Return the fields of `Means` of a process that confines itself, to this folder if any."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        # Confine this process, and write how far that went. Never returns.
        try:
            os.write(writing, json.dumps(asdict(confine(Bounds(), folder))).encode())
        finally:
            sys.stdout = sys.stderr = None  # nothing is flushed twice
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        answer = file.read()
    _, status = os.waitpid(process, 0)
    if not answer:  # a system may end a process that makes a forbidden call
        code = os.waitstatus_to_exitcode(status)
        return asdict(Means(reason=f"a process that tries it ends with {code}"))
    return json.loads(answer)
