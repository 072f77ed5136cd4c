"""The text of a reply: its JSON, as gzip for clients that accept it, and whether it can be sent."""

import base64
import re
from collections.abc import Mapping

from pydantic import BaseModel

from backend.core.paging import bytes_in_reply

COMPRESSED_CHARS = 4 * 1024
"""Length from which replies are compressed: 4 KiB of hits take 0.1 ms and leave a third."""
# A Lambda function may return 6 MB, including the headers.
MAX_REPLY_BYTES = 5_900_000
_NEVER = re.compile(r"q=0(\.0*)?")


def text_of(body: BaseModel) -> str:
    """Return the JSON of a reply."""
    return body.model_dump_json(by_alias=True, exclude_none=True)


def packed(text: str, headers: Mapping[str, str]) -> str | None:
    """Return a text of this length as base64 of gzip, if these headers of a request accept it."""
    accepted = headers.get("accept-encoding", "").lower().replace(" ", "").split(",")
    codings = [coding.partition(";") for coding in accepted]
    takes_gzip = any(
        name == "gzip" and not _NEVER.fullmatch(quality) for name, _, quality in codings
    )
    if len(text) < COMPRESSED_CHARS or not takes_gzip:
        return None
    import gzip  # noqa: PLC0415 - not every process needs it

    # mtime=0: equal replies have equal bytes.
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def fits(text: str, headers: Mapping[str, str]) -> bool:
    """Return whether a function can send the text of a compressible reply."""
    if bytes_in_reply(text) <= MAX_REPLY_BYTES:
        return True
    sent = packed(text, headers)
    return sent is not None and len(sent) <= MAX_REPLY_BYTES
