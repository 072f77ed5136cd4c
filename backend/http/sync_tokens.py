"""Tells by a header which documents of the search indexes a request has changed.

A route declares where its request or its reply names them (`Route.touches`). What goes on as a job,
and what concerns whole folders, is not told: such a reply has no token.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from aws_lambda_powertools import Logger
from pydantic import BaseModel

from backend.core.clock import utc_now
from backend.core.errors import UnavailableError
from backend.core.sync_tokens import WRITTEN_HEADER, Written, WrittenDocument, sync_token
from backend.http.call import Call
from backend.spec.routes.model import Touched

_LATER = "reply.jobId|reply.largeFileAsynchronousHandling"
"""What a reply says where the work goes on."""
_logger = Logger(child=True)


class Exchange(NamedTuple):
    """A request that was carried out, and its reply; `told` is what else names documents."""

    call: Call
    body: BaseModel | None
    reply: BaseModel
    told: BaseModel | None = None

    def named(self, where: str) -> tuple[str, ...]:
        """The texts at a place; of places joined by `|` those of the first that has any."""
        for place in where.split("|"):
            source, _, rest = place.partition(".")
            if source == "path":
                found = (self.call.path.get(rest, ""),)
            else:
                found = tuple(_texts(getattr(self, source), rest.split(".")))
            if any(found):
                return found
        return ()


def sync_header(exchange: Exchange) -> dict[str, str]:
    """The header with the token of what was written; none where that is not known whole."""
    call = exchange.call
    documents: dict[WrittenDocument, None] = {}
    for touched in call.route.touches:
        if not touched.at_once and exchange.named(_LATER):
            return {}
        found = tuple(_documents(touched, exchange))
        if not found:
            return {}
        documents |= dict.fromkeys(found)
    records = any(touched.records for touched in call.route.touches)
    written = Written(tuple(documents), records, utc_now())
    try:
        token = sync_token(call.tokens, call.caller, written)
    except UnavailableError as error:  # the write is done; its reply must not fail
        _logger.warning("a reply has no sync token", extra={"reason": error.message})
        return {}
    return {} if token is None else {WRITTEN_HEADER: token}


def _documents(touched: Touched, exchange: Exchange) -> Iterator[WrittenDocument]:
    database_id = next(iter(exchange.named(touched.database)), "")
    asset_id = next(iter(exchange.named(touched.asset)), "")
    if not database_id or not asset_id:
        return
    if touched.file is None:
        yield WrittenDocument(database_id, asset_id)
        return
    paths = [_path(sent, asset_id, touched) for sent in exchange.named(touched.file)]
    if exchange.named("body.isPrefix") or any(path.endswith("/") for path in paths):
        return
    for path in paths:
        yield WrittenDocument(database_id, asset_id, path)


def _path(sent: str, asset_id: str, touched: Touched) -> str:
    path = sent.removeprefix(asset_id) if touched.below_asset else sent
    return path if path.startswith("/") else "/" + path


def _texts(value: Any, steps: list[str]) -> Iterator[str]:
    """The texts under names as they are on the wire; `*` is each element of a list."""
    if not steps:
        if value is not None and value is not False:
            yield str(value)
    elif steps[0] == "*":
        for each in cast("list[Any]", value or ()):
            yield from _texts(each, steps[1:])
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if steps[0] in {name, field.alias}:
                yield from _texts(getattr(value, name), steps[1:])
    elif isinstance(value, Mapping):
        yield from _texts(cast("Mapping[str, Any]", value).get(steps[0]), steps[1:])
