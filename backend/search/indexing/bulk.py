"""Writes documents in bulk requests, each under its version, until OpenSearch has answered for all.

Writes that an overloaded or unavailable cluster did not accept are repeated in smaller requests.
The result distinguishes documents that were written, that are newer in the index, and that
OpenSearch rejects permanently.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from backend.core.clock import iso_seconds
from backend.core.errors import InvalidInputError, TooLargeError, UnavailableError
from backend.core.search_engine import DocumentResult, DocumentWrite, SearchEngine
from backend.search.indexing.projections import Document
from backend.spec.search_indexes import FIELD_SINCE, SOURCE_BYTES, TOMBSTONE_TIME

# OpenSearch Service accepts requests of 10 MB on its smallest instance types.
MAX_BYTES = 5_000_000
# The documents of a ticket are one request, or two while a reindex writes to both pairs. An
# overloaded cluster gets smaller ones.
MAX_DOCUMENTS = 1000
_SUCCESS = frozenset({200, 201})
_CONFLICT = 409  # a later ticket was written first, or an earlier attempt succeeded
# The document cannot be mapped (400), or is larger than the engine accepts (413): the same again
# would be refused, too.
_REFUSED = frozenset({400, 413})


@dataclass(slots=True)
class Outcome:
    """The result of writes: how many were stored, how many were outdated, and the rejected ones.

    `highest_stored` is the highest version of the conflicts.
    """

    written: int = 0
    overtaken: int = 0
    highest_stored: int = 0
    refused: list[tuple[DocumentWrite, str]] = field(
        default_factory=list[tuple[DocumentWrite, str]]
    )


@dataclass(eq=False, repr=False)
class BulkWriter:
    """Writes documents.

    `patience` is the number of seconds for which it retries without any progress.
    """

    engine: SearchEngine
    patience: float = 30.0

    def write(self, writes: Sequence[DocumentWrite]) -> Outcome:
        """Write all documents.

        Raises:
            UnavailableError: OpenSearch did not accept all of them in time; some may have been
                written.
        """
        work = _Work(self.engine, list(writes))
        for attempt in Retrying(
            retry=retry_if_exception_type(UnavailableError),
            wait=wait_random_exponential(multiplier=0.2, max=5),
            stop=stop_after_delay(self.patience),
            reraise=True,
        ):
            with attempt:
                while work.pending:
                    work.step()
        return work.outcome


@dataclass(slots=True)
class _Work:
    engine: SearchEngine
    pending: list[DocumentWrite]
    outcome: Outcome = field(default_factory=Outcome)
    limit: int = MAX_DOCUMENTS

    def step(self) -> None:
        """Send the next request and process its results; after a failure, use smaller requests."""
        chunk = self._next_chunk()
        try:
            results = self.engine.bulk(chunk)
        except UnavailableError:
            self.limit = max(1, len(chunk) // 2)
            raise
        except (InvalidInputError, TooLargeError) as error:
            if len(chunk) > 1:  # one of them makes the request fail: smaller requests find it
                self.limit = len(chunk) // 2
                return
            results = [DocumentResult(chunk[0].index, chunk[0].id, 400, error.message)]
        again: list[DocumentWrite] = []
        outcome, reason = self.outcome, ""
        for write, result in zip(chunk, results, strict=True):
            if result.status in _SUCCESS:
                outcome.written += 1
            elif result.status == _CONFLICT:
                outcome.overtaken += 1
                outcome.highest_stored = max(outcome.highest_stored, result.current_version or 0)
            elif result.status in _REFUSED:
                outcome.refused.append((write, result.reason))
            else:  # overload, a missing shard or index: not the document's fault
                again.append(write)
                reason = f"{result.status} {result.reason}"
        self.pending[: len(chunk)] = again
        if again:
            self.limit = max(1, len(chunk) // 2)
            raise UnavailableError(f"OpenSearch rejected {len(again)} documents: {reason}")

    def _next_chunk(self) -> list[DocumentWrite]:
        size = 0
        for number, write in enumerate(self.pending[: self.limit]):
            size += len(write.body.encode()) + len(write.id.encode())
            if size > MAX_BYTES and number:
                return self.pending[:number]
        return self.pending[: self.limit]


def write_of(
    document: Document, index_name: str, version: int, *, tombstone_at: datetime | None = None
) -> DocumentWrite:
    """Return the write of a document: its JSON text, with the hash of its content and its version.

    A tombstone also contains its time of creation (`tombstone_at`), for the sweep of old ones. The
    document's size is added if the mapping version of its indexes has the field.
    """
    content, digest = content_of(document)
    made = ""
    if tombstone_at is not None and document.body.get("deleted") is True:
        made = f'"{TOMBSTONE_TIME}":"{iso_seconds(tombstone_at)}",'
    body = f'{content[:-1]},{made}"hash":"{digest}","rev":{version}}}'
    if document.mapping_version >= FIELD_SINCE[SOURCE_BYTES]:
        body = with_size(body)
    return DocumentWrite(index_name, document.id, version, body)


def with_size(body: str) -> str:
    """Return a JSON object with its own size in bytes added as `source_bytes`."""
    opened = f'{body[:-1]},"{SOURCE_BYTES}":'
    rest = len(opened.encode()) + len("}")
    size = rest + len(str(rest))
    size = rest + len(str(size))  # one digit more may make the size one digit longer
    return f"{opened}{size}}}"


def content_of(document: Document) -> tuple[str, str]:
    """Return the text of a document without its version, and the hash that is indexed with it."""
    content = json.dumps(
        document.body, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return content, hashlib.sha256(content.encode()).hexdigest()
