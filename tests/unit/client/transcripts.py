"""Runs the commands of `commands.txt` and writes what happened below each of them.

A block begins with what is prepared: `+ NAME CONTENT` is a file, `- TEXT` is standard input, and
`< METHOD PATH STATUS REPLY` is the reply to the next such request; other requests receive the
example of the OpenAPI document, or the reply of `FakeServer`, which has the database `garage` with
the asset `pump` and its file `/a.glb`. `$` is the command. Below it follow the requests (`>`), the
lines on standard output (indented) and on standard error (`!`), and the exit code unless it is 0.
`python -m tests.unit.client.transcripts` rewrites the file: read the difference.
"""

import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import httpx

from tests.unit.client.fake_files import StoredFile, sha256
from tests.unit.client.fake_server import API, BUCKET, FakeServer
from tests.unit.client.shell import Shell

FILE = Path(__file__).with_name("commands.txt")
PREPARED = ("+", "-", "<", "#")
_SHOWN_HEADERS = ("If-Match", "Range", "X-Odd")
_LAYOUT = ("Usage: ", "Try '", "╭", "╰")
_VARYING = re.compile(r"x?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+\.\d(?= s$)", re.MULTILINE)


def blocks() -> Iterator[tuple[str, str]]:
    """Yield each block of the file after its command line."""
    for block in FILE.read_text(encoding="utf-8").strip().split("\n\n"):
        yield next(line for line in block.splitlines() if line.startswith("$ ")), block


def furnished_server() -> FakeServer:
    server = FakeServer()
    server.store_pump()
    server.files["pump", "/a.glb"] = StoredFile(b"bytes", "etag", sha256(b"bytes"))
    return server


def rerun(block: str, folder: Path, more: str = "") -> str:
    """Run the command of a block in an empty folder and return the block as it should be.

    `more` is added to its arguments.
    """
    server, answers = furnished_server(), ""
    prepared = [line for line in block.splitlines() if line.startswith((*PREPARED, "$"))]
    shell = Shell(server, folder)
    for line in prepared:
        kind, _, rest = line.partition(" ")
        if kind == "+":
            name, _, content = rest.partition(" ")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        elif kind == "-":
            answers += f"{rest}\n"
        elif kind == "<":
            method, path, status, content = (*rest.split(" ", 3), "")[:4]
            kind = {"{": "application/json", "<": "text/html"}.get(content[:1], "model/gltf")
            reply = httpx.Response(int(status), text=content, headers={"Content-Type": kind})
            server.fail(method, f"^{path}$", reply)
    server.requests.clear()
    command = prepared[-1].removeprefix("$ vitrine ")
    with chdir(folder), patch.dict(os.environ, {"COLUMNS": "200"}):
        shell.run(*shlex.split(f"{command} {more}"), typed=answers)
    # Of a frame around wrong usage, only its text.
    errors = [line.strip("│ ") for line in shell.err.splitlines() if not line.startswith(_LAYOUT)]
    lines = [
        *prepared,
        *map(_request_line, server.sent),
        *(f"| {line}".replace("\t", " | ") for line in shell.out.splitlines()),
        *(f"! {line}" for line in errors),
        *([f"= {shell.code}"] if shell.code else []),
    ]
    text = "\n".join(line.rstrip() for line in lines).replace(str(folder), "FOLDER")
    return _VARYING.sub(lambda match: match[0] if match[0] == BUCKET else "…", text)


def _request_line(request: httpx.Request) -> str:
    headers = [
        f"{name}: {request.headers[name]}" for name in _SHOWN_HEADERS if name in request.headers
    ]
    url = str(request.url).removeprefix(API)
    return " ".join(["> " + request.method, url, request.content.decode(), *headers]).rstrip()


def main() -> None:
    """Rewrite the file."""
    written: list[str] = []
    for _, block in blocks():
        with tempfile.TemporaryDirectory() as folder:
            written.append(rerun(block, Path(folder)))
    FILE.write_text("\n\n".join(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
