"""Sync tokens: the search documents that a write changed, for a search that waits for them.

The token names documents without their content, so it costs the write nothing. It is sealed and
bound to its caller, so it cannot be used to learn about documents of others.
"""

import json
from datetime import datetime
from typing import NamedTuple

from backend.core.identity import Identity
from backend.core.page_tokens import PageTokens

WRITTEN_HEADER = "X-Sync-Token"
AFTER_HEADER = "X-After"
_FOREIGN = f"is not a token that you received in the header {WRITTEN_HEADER} of a write"
# OpenSearch returns 100 hits inside a facet, which is how a search reads their hashes.
MAX_DOCUMENTS = 100
# Maximum length of a token. API Gateway limits all headers together to 10,240 bytes.
MAX_CHARS = 4000


class WrittenDocument(NamedTuple):
    """The document of an asset, or of its file at a path, which begins with `/`."""

    database_id: str
    asset_id: str
    path: str | None = None


class Written(NamedTuple):
    """The documents of one write, and the time of its reply.

    `records` is true if metadata was written.
    """

    documents: tuple[WrittenDocument, ...]
    records: bool
    at: datetime


def sync_token(tokens: PageTokens, caller: Identity, written: Written) -> str | None:
    """Return the token of a write; None if it changed more documents than a header can name.

    Raises:
        UnavailableError: the key that seals it cannot be read.
    """
    if not 0 < len(written.documents) <= MAX_DOCUMENTS:
        return None
    position = {
        "documents": [list(document) for document in written.documents],
        "records": written.records,
        "at": written.at.isoformat(),
    }
    token = tokens.issue(position, scope=_scope(caller))
    return token if len(token) <= MAX_CHARS else None


def written_of(tokens: PageTokens, caller: Identity, header: str) -> Written:
    """Parse comma-separated tokens: all documents that they name, and the time of the first.

    Raises:
        InvalidInputError: a token was not issued to this caller.
    """
    documents: dict[WrittenDocument, None] = {}
    records, times = False, list[datetime]()
    for token in header.split(","):
        position = tokens.read(
            token.strip(), scope=_scope(caller), field=AFTER_HEADER, fact=_FOREIGN
        )
        documents |= dict.fromkeys(WrittenDocument(*document) for document in position["documents"])
        records = records or position["records"]
        times.append(datetime.fromisoformat(position["at"]))
    return Written(tuple(documents), records, min(times))


def _scope(caller: Identity) -> str:
    return json.dumps(["written", caller.user_id])
