"""Adds a header to replies with the search documents that the request has changed.

`Route.writes_documents` declares which fields of the request or reply identify the documents.
A reply has no token if a job continues the work, or if whole folders are changed.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from aws_lambda_powertools import Logger
from pydantic import BaseModel

from backend.core.clock import utc_now
from backend.core.errors import UnavailableError
from backend.core.sync_tokens import WRITTEN_HEADER, Written, WrittenDocument, sync_token
from backend.http.call import Call
from backend.spec.routes.model import SyncTarget

_LATER = "reply.jobId|reply.largeFileAsynchronousHandling"
"""Fields of a reply that show that a job continues the work."""
_logger = Logger(child=True)


class Exchange(NamedTuple):
    """A request that was carried out, and its reply. `changed` also identifies documents."""

    call: Call
    body: BaseModel | None
    reply: BaseModel
    changed: BaseModel | None = None

    def named(self, where: str) -> tuple[str, ...]:
        """Return the texts at a place. Of places joined by `|`, the first with any text counts."""
        for place in where.split("|"):
            source, _, rest = place.partition(".")
            if source == "path":
                texts = (self.call.path.get(rest, ""),)
            else:
                texts = tuple(_texts(getattr(self, source), rest.split(".")))
            if any(texts):
                return texts
        return ()


def sync_header(exchange: Exchange) -> dict[str, str]:
    """Return the header with the sync token; empty if the documents are not all known."""
    call = exchange.call
    documents: dict[WrittenDocument, None] = {}
    for target in call.route.writes_documents:
        if not target.at_once and exchange.named(_LATER):
            return {}
        written_here = tuple(_documents(target, exchange))
        if not written_here:
            return {}
        documents |= dict.fromkeys(written_here)
    records = any(target.records for target in call.route.writes_documents)
    written = Written(tuple(documents), records, utc_now())
    try:
        token = sync_token(call.tokens, call.caller, written)
    except UnavailableError as error:  # the write is done; its reply must not fail
        _logger.warning("a reply has no sync token", extra={"reason": error.message})
        return {}
    return {} if token is None else {WRITTEN_HEADER: token}


def _documents(target: SyncTarget, exchange: Exchange) -> Iterator[WrittenDocument]:
    database_id = next(iter(exchange.named(target.database)), "")
    asset_id = next(iter(exchange.named(target.asset)), "")
    if not database_id or not asset_id:
        return
    if target.file is None:
        yield WrittenDocument(database_id, asset_id)
        return
    paths = [_path(sent, asset_id, target) for sent in exchange.named(target.file)]
    if exchange.named("body.isPrefix") or any(path.endswith("/") for path in paths):
        return
    for path in paths:
        yield WrittenDocument(database_id, asset_id, path)


def _path(sent: str, asset_id: str, target: SyncTarget) -> str:
    path = sent.removeprefix(asset_id) if target.below_asset else sent
    return path if path.startswith("/") else "/" + path


def _texts(value: Any, steps: list[str]) -> Iterator[str]:
    """Yield the texts at a path of JSON names; `*` is each element of a list."""
    if not steps:
        if value is not None and value is not False:
            yield str(value)
    elif steps[0] == "*":
        for element in cast("list[Any]", value or ()):
            yield from _texts(element, steps[1:])
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if steps[0] in {name, field.alias}:
                yield from _texts(getattr(value, name), steps[1:])
    elif isinstance(value, Mapping):
        yield from _texts(cast("Mapping[str, Any]", value).get(steps[0]), steps[1:])
