"""Printing: results on standard output, everything else on standard error.

Texts from a server are printed without control characters, so that a name cannot control the
terminal. What the encoding of an output lacks is escaped in JSON and replaced in other texts.
"""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue
from rich.console import Console
from rich.table import Table
from rich.text import Text

from vitrine.wire import Wire

Item = TypeVar("Item", bound=Wire)
_SPECIAL = re.compile(r"[^\t\n\r -~]")


@dataclass(frozen=True)
class Output:
    out: Console
    err: Console
    as_json: bool

    def document(self, value: JsonValue) -> None:
        """Print JSON, if it was requested."""
        if self.as_json:
            self.json(json.dumps(value, ensure_ascii=False))

    def json(self, text: str) -> None:
        """Print JSON text; where it has lines, they remain."""
        # Not by Rich, which would expand tabs.
        self.out.file.write(f"{escape_json(text, _encoding_of(self.out))}\n")

    def line(self, text: str) -> None:
        """Print one line of result, with its tabs."""
        self.out.file.write("\t".join(map(plain, text.split("\t"))) + "\n")

    def flush(self) -> None:
        """Write buffered output now, so that a failure can still be reported.

        Raises:
            OSError: it cannot be written.
        """
        try:
            self.out.file.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.out.file.fileno())
            raise

    def say(self, text: str) -> None:
        """Print one line besides the result."""
        self.err.print(Text(plain(text)), soft_wrap=True)

    def error(self, message: str, *, code: str | None, request_id: str | None) -> None:
        if self.as_json:
            body = {"error": {"message": message, "code": code, "requestId": request_id}}
            text = escape_json(json.dumps(body, ensure_ascii=False), _encoding_of(self.err))
            self.err.print(Text(text), soft_wrap=True)
            return
        trace = f" (request {request_id})" if request_id else ""
        self.say(f"error: {message}{trace}")

    def reply(self, reply: Wire | Mapping[str, JsonValue], **cells: object) -> None:
        """Print a reply as JSON, or else a table with one row of these cells by their headings."""
        self.document(reply.wire() if isinstance(reply, Wire) else {**reply})
        self.rows([*cells], [[*cells.values()]])

    def items(
        self,
        listing: Iterable[Item],
        headings: Sequence[str],
        row: Callable[[Item], Sequence[object]],
    ) -> None:
        """Print a listing as JSON, or else as a table."""
        items = list(listing)
        self.document({"items": [item.wire() for item in items]})
        self.rows(headings, [row(item) for item in items])

    def rows(self, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print a table on a terminal, tab-separated lines elsewhere; nothing with `--json`."""
        if self.as_json:
            return
        cells = [[plain("" if cell is None else str(cell)) for cell in row] for row in rows]
        if not self.out.is_terminal:
            for row in cells:
                self.line("\t".join(row))
            return
        self.table(headings, cells)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table, on any output."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(*(Text(plain(cell)) for cell in row))
        self.out.print(table)


def replace_unencodable() -> None:
    """Let standard output print `?` for letters that its encoding lacks, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _encoding_of(console: Console) -> str:
    return getattr(console.file, "encoding", None) or "utf-8"


def escape_json(text: str, encoding: str = "utf-8") -> str:
    """Return JSON text with what is unprintable, or not in the encoding, as \\u0000."""

    def escape(match: re.Match[str]) -> str:
        mark = match[0]
        fits = mark.encode(encoding, "ignore") if mark.isprintable() else b""
        return mark if fits else json.dumps(mark)[1:-1]

    return _SPECIAL.sub(escape, text)


def plain(text: str) -> str:
    """Return the text with non-printable characters escaped."""
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii")
        for mark in text
    )


def size_text(size: int | None) -> str:
    """Return a size for people: 1.5 MiB."""
    if size is None:
        return ""
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
