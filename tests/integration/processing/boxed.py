"""Reads a mesh and a CAD model in a box. Run as `python -m … NAME` for `test_boxed`.

Prints as JSON the results by file, the log, and whether attacks on the parent succeed.
"""

import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

from backend.processing.jail.parent import Jail
from local import box
from tests.unit.processing import cad, samples

CONTENTS = {"cube.obj": samples.cube_obj(), "cube.step": cad.cube_step()}


class NoFiles:
    """An asset without other files."""

    def sizes(self) -> dict[str, int]:
        return {}

    def fetch(self, path: str, destination: Path) -> None:
        raise FileNotFoundError(path, destination)


class LogMessages(logging.Handler):
    """The messages that were logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


def main(name: str, unconfined: str) -> None:
    """Enter the box, unless its name is empty, and read the files."""
    if name:
        box.enter(name)
    log = LogMessages()
    logging.basicConfig(level=logging.INFO, handlers=[log])
    jail = Jail(unconfined=bool(unconfined))
    actual: dict[str, Any] = {}
    for _ in range(2):
        for path, data in CONTENTS.items():
            with tempfile.TemporaryDirectory() as temporary:
                content = Path(temporary) / "content"
                content.write_bytes(data)
                outcome = jail.inspect(path, content, NoFiles(), Path(temporary))
            result = outcome.result
            actual[path] = {
                "refused": result.refused,
                "triangles": result.facts.get("triangles"),
                "glb": outcome.glb is not None,
            }
    jail.close()
    sys.stdout.write(json.dumps({"found": actual, "log": log.lines}))


if __name__ == "__main__":
    main(*sys.argv[1:])
