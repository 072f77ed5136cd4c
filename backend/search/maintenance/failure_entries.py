"""The entries of the failure bucket: list, parse, update, remove.

There are two kinds. Handlers store *poison* (`failures.FailureStore`), one item per object. The
stream mappings write a *batch* that they gave up, in AWS's format
(https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html): details of the
failure, and in `payload` the whole event as text. The replays of an entry are counted in the object
itself, under `replays`, so that an entry and its history are one write.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from backend.core.guarded_objects import GuardedObjects
from backend.core.names import valid_text
from backend.core.objects import ObjectHead, Objects, ObjectVersion
from backend.core.paging import Page, PageRequest, fill
from backend.core.parallel import in_parallel
from backend.search.indexing.failures import JSON_TYPE
from backend.search.indexing.references import MalformedReferenceError, Reference, from_message
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from backend.values import frozen

Kind = Literal["poison", "batch"]
JsonObject = dict[str, Any]
BATCHES = "aws/lambda/"
"""The key prefix of batches, which no function's name begins with."""
_POISON_KEY = re.compile(r"[A-Za-z]\w{0,63}/\d{4}-\d\d-\d\d/[0-9a-f]{32}\.json", re.ASCII)
_BATCH_KEY = re.compile(r"aws/lambda/\w[\w-]*/\w[\w.:-]*/\d{4}/\d\d/\d\d/\w[\w.:-]*", re.ASCII)
# The members that a list shows are at the start of an entry; bodies may have megabytes.
_HEAD_BYTES = 16_384
_REASON_CHARS = 2000
_BLANKS = re.compile(r"[ \t\r\n]*")


class UnreadableFailureError(Exception):
    """An object of the failure bucket cannot be replayed; the message gives the reason."""


@frozen
class Replays:
    """The number of failed replays of an entry; `next_at` is when the schedule tries again."""

    attempts: int = 0
    last_at: str | None = None
    next_at: str | None = None
    reason: str | None = None


@frozen
class FailureSummary:
    """An entry as listed, as far as the beginning of the object contains its fields."""

    key: str
    kind: Kind
    size: int
    consumer: str | None
    name: str | None
    reason: str | None
    failed_at: str | None
    replays: Replays


@frozen
class StoredFailure:
    """A stored entry. `etag` is that of this text, or of an older one."""

    key: str
    etag: str
    text: str


@frozen
class PoisonEntry:
    """One item that a handler stored: the documents to rebuild, or else its body."""

    consumer: str
    references: frozenset[Reference]
    body: object


@frozen
class BatchEntry:
    """Stream records that a mapping gave up after its retries."""

    consumer: str
    records: Sequence[Mapping[str, Any]]


@dataclass(eq=False, repr=False)
class FailureEntries:
    """The entries of the failure bucket."""

    objects: Objects
    guarded: GuardedObjects
    bucket: str

    def page(self, request: PageRequest, *, consumer: str | None = None) -> Page[FailureSummary]:
        """List entries in key order, optionally those of one consumer."""
        return fill(
            lambda some: self._page(some, consumer),
            request,
            visible=lambda entry: consumer is None or entry.consumer == consumer,
            position_of=lambda entry: position_of(entry.key),
        )

    def batches(self, request: PageRequest) -> Page[FailureSummary]:
        """List only the batches that mappings gave up."""
        return self._list_summaries(BATCHES, request)

    def read(self, key: str) -> StoredFailure | None:
        """Return one entry; None if it does not exist."""
        head = self.objects.head(self.bucket, key) if kind_of(key) else None
        if not isinstance(head, ObjectHead):
            return None
        # If the entry is written between these two requests, its ETag is outdated, so later changes
        # and removals are refused.
        body = b"".join(self.objects.read_chunks(self.bucket, key))
        return StoredFailure(key, head.version.etag, body.decode(errors="replace"))

    def record(self, stored: StoredFailure, replays: Replays) -> bool:
        """Store the result of a replay in an entry.

        Return False if the entry was written meanwhile.

        A content that is not a JSON object is stored as text inside one.
        """
        try:
            document = _document(stored)
        except UnreadableFailureError:
            document = {"text": stored.text}
        document.pop("replays", None)
        facts = {
            "attempts": replays.attempts,
            "lastAt": replays.last_at,
            "nextAt": replays.next_at,
            "reason": replays.reason,
        }
        known = {name: value for name, value in facts.items() if value is not None}
        noted = {"replays": known, **document}
        return self.guarded.replace(
            self.bucket,
            stored.key,
            json.dumps(noted).encode(),
            etag=stored.etag,
            content_type=JSON_TYPE,
        )

    def remove(self, stored: StoredFailure) -> bool:
        """Remove an entry after its replay; return False if it was written meanwhile."""
        return self.guarded.delete(self.bucket, stored.key, etag=stored.etag)

    def _page(self, request: PageRequest, consumer: str | None) -> Page[FailureSummary]:
        if consumer is None:
            return self._list_summaries("", request)
        after = "" if request.after is None else str(request.after["key"])
        if after.startswith(BATCHES):
            return self._list_summaries(BATCHES, request)
        page = self._list_summaries(f"{consumer}/", request)
        return Page(page.items, page.after or position_of(BATCHES))

    def _list_summaries(self, prefix: str, request: PageRequest) -> Page[FailureSummary]:
        after = None if request.after is None else str(request.after["key"])
        listing = self.objects.list_objects(self.bucket, prefix, limit=request.limit, after=after)
        ours = [item for item in listing.objects if kind_of(item.key)]
        items = in_parallel(self._summary, ours)
        following = None if listing.next_key is None else position_of(listing.next_key)
        return Page(tuple(items), following)

    def _summary(self, listed: ObjectVersion) -> FailureSummary:
        start = self.objects.read_start(self.bucket, listed.key, length=_HEAD_BYTES)
        return summary_of(listed.key, listed.size, start.decode(errors="replace"))


def kind_of(key: str) -> Kind | None:
    """Return the kind of entry for a key; None if the key is not that of an entry."""
    if _POISON_KEY.fullmatch(key):
        return "poison"
    return "batch" if _BATCH_KEY.fullmatch(key) else None


def position_of(key: str) -> JsonObject:
    """Return the position of a list after a key."""
    return {"key": key}


def summary_of(key: str, size: int, start: str) -> FailureSummary:
    """Return the fields in the beginning of an entry; a malformed one has few."""
    head = parse_leading_members(start)
    kind = kind_of(key) or "poison"
    replays = replays_of(head)
    if kind == "batch":
        context = _mapping_or_empty(head.get("requestContext"))
        batch = _mapping_or_empty(head.get("DDBStreamBatchInfo"))
        return FailureSummary(
            key=key,
            kind=kind,
            size=size,
            consumer=consumer_of(_text(context.get("functionArn")) or ""),
            name=_text(batch.get("shardId")),
            reason=replays.reason or _text(context.get("condition")),
            failed_at=_text(head.get("timestamp")),
            replays=replays,
        )
    return FailureSummary(
        key=key,
        kind=kind,
        size=size,
        consumer=key.partition("/")[0],
        name=_text(head.get("name")),
        reason=replays.reason or _text(head.get("reason")),
        failed_at=_text(head.get("failedAt")),
        replays=replays,
    )


def parse_failure(stored: StoredFailure) -> PoisonEntry | BatchEntry:
    """Parse the entry in an object.

    Raises:
        UnreadableFailureError: the object is not JSON, or lacks what a replay needs.
    """
    document = _document(stored)
    if kind_of(stored.key) == "batch":
        return _batch(document)
    try:
        # An item without references is identified by its body.
        references = from_message(document) if "references" in document else set[Reference]()
    except MalformedReferenceError as error:
        raise UnreadableFailureError(str(error)) from error
    consumer = stored.key.partition("/")[0]
    return PoisonEntry(consumer, frozenset(references), document.get("body"))


def replays_of(document: Mapping[str, Any]) -> Replays:
    """Return the replays that are recorded in an entry."""
    noted = _mapping_or_empty(document.get("replays"))
    attempts = noted.get("attempts")
    return Replays(
        attempts if isinstance(attempts, int) else 0,
        _text(noted.get("lastAt")),
        _text(noted.get("nextAt")),
        _text(noted.get("reason")),
    )


def consumer_of(function_arn: str) -> str | None:
    """Return the declared consumer of a function's ARN; its name is part of the physical name."""
    physical = (function_arn.split(":") + [""] * 7)[6]
    parts = physical.split("-")
    return next((s.consumer for s in STREAM_SUBSCRIPTIONS if s.consumer in parts), None)


def parse_leading_members(text: str) -> JsonObject:
    """Parse the members at the beginning of a JSON object, up to the first incomplete one."""
    members: JsonObject = {}
    decoder = json.JSONDecoder()
    at = _after_blanks(text, 0)
    while text[at : at + 1] == ("," if members else "{"):
        try:
            name, at = decoder.raw_decode(text, _after_blanks(text, at + 1))
            at = _after_blanks(text, at)
            if not isinstance(name, str) or text[at : at + 1] != ":":
                return members
            value, at = decoder.raw_decode(text, _after_blanks(text, at + 1))
        except (ValueError, RecursionError):
            return members
        at = _after_blanks(text, at)
        if text[at : at + 1] not in {",", "}"}:
            return members  # a number may be incomplete
        members[name] = value
    return members


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _document(stored: StoredFailure) -> JsonObject:
    try:
        document: object = json.loads(stored.text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFailureError(f"the object is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise UnreadableFailureError("the object is JSON, but not an object of it")
    return cast("JsonObject", document)


def _batch(document: JsonObject) -> BatchEntry:
    arn = _text(_mapping_or_empty(document.get("requestContext")).get("functionArn")) or ""
    consumer = consumer_of(arn)
    if consumer is None:
        raise UnreadableFailureError(f"{arn or 'nothing'} is not a consumer of streams")
    payload = document.get("payload")
    try:
        event: object = json.loads(payload) if isinstance(payload, str) else payload
    except (ValueError, RecursionError) as error:
        raise UnreadableFailureError(f"its payload is not JSON: {error}") from error
    records = _mapping_or_empty(event).get("Records")
    if not isinstance(records, list) or not records:
        raise UnreadableFailureError("its payload contains no records")
    entries = cast("list[object]", records)
    if not all(isinstance(record, dict) for record in entries):
        raise UnreadableFailureError("its payload contains something that is not a record")
    return BatchEntry(consumer, cast("list[JsonObject]", entries))


def _mapping_or_empty(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return valid_text(value)[:_REASON_CHARS] if isinstance(value, str) else None
