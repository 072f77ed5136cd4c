"""OpenSearch behind the port `core.search_engine.SearchEngine`.

Only this module imports opensearchpy.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

import boto3
from aws_lambda_powertools import Logger
from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth
from opensearchpy.exceptions import (
    AuthenticationException,
    AuthorizationException,
    NotFoundError,
    RequestError,
    TransportError,
)
from opensearchpy.exceptions import ConnectionError as SearchConnectionError

from backend.aws.clients import deadline
from backend.aws.document_refusals import refusal_of
from backend.aws.errors import DeniedError
from backend.aws.settings import Settings
from backend.core.errors import InvalidInputError, TooLargeError, UnavailableError
from backend.core.search_engine import (
    DocumentRemoval,
    DocumentResult,
    DocumentWrite,
    JsonObject,
    PointInTimeGoneError,
    StoredDocument,
    Stretch,
    TooManyPointsInTimeError,
)

_logger = Logger(child=True)
T = TypeVar("T")
_CONFLICT, _TOO_LARGE, _TOO_MANY, _SERVER_ERROR = 409, 413, 429, 500
_BULK_REPLY = {"filter_path": "error,items.*._index,items.*._id,items.*.status,items.*.error"}
# Less than the 24 seconds of a request; a search also ends before the request that waits for it.
_SECONDS = 20
# Only the reason contains the stored version that conflicts with a write. The id, which comes first
# in it, may contain any text, so the last match is used.
_CURRENT_VERSION = re.compile(r"current version \[(\d+)\]")


@dataclass(eq=False, repr=False)
class OpenSearchEngine:
    """A search cluster (see the port for what each method promises)."""

    client: OpenSearch

    def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
        lines: list[str] = []
        for write in writes:
            action = {
                "_index": write.index,
                "_id": write.id,
                "version": write.version,
                "version_type": "external",
            }
            lines.append(json.dumps({"index": action}, separators=(",", ":")))
            lines.append(write.body)
        body = "\n".join(lines) + "\n"
        reply = _response_of(lambda: self.client.bulk(body=body, params=_BULK_REPLY))
        return [_result(item["index"]) for item in reply["items"]]

    def remove(self, removals: Sequence[DocumentRemoval]) -> list[DocumentResult]:
        lines: list[str] = []
        for removal in removals:
            action = {
                "_index": removal.index,
                "_id": removal.id,
                "version": removal.version,
                "version_type": "external_gte",
            }
            lines.append(json.dumps({"delete": action}, separators=(",", ":")))
        body = "\n".join(lines) + "\n"
        reply = _response_of(lambda: self.client.bulk(body=body, params=_BULK_REPLY))
        return [_result(item["delete"]) for item in reply["items"]]

    def search(self, indexes: Sequence[str], body: JsonObject, *, copy: str = "") -> JsonObject:
        names, params = ",".join(indexes), _whole()
        if copy:
            params["preference"] = copy
        return _response_of(lambda: self.client.search(index=names, body=body, params=params))

    def open_point_in_time(self, indexes: Sequence[str], *, seconds: int) -> str:
        params = {"keep_alive": f"{seconds}s", "allow_partial_pit_creation": "false"}
        try:
            create = partial(self.client.create_pit, index=",".join(indexes), params=params)
            return _response_of(create)["pit_id"]
        except UnavailableError as error:
            cause = error.__cause__
            if isinstance(cause, TransportError) and "Point In Time contexts" in _reason(cause):
                raise TooManyPointsInTimeError from error
            raise

    def points_in_time(self) -> frozenset[str]:
        return frozenset(pit["pit_id"] for pit in _response_of(self.client.get_all_pits)["pits"])

    def search_at(self, point_in_time: str, body: JsonObject, *, seconds: int) -> JsonObject:
        pinned = {**body, "pit": {"id": point_in_time, "keep_alive": f"{seconds}s"}}
        try:
            return _response_of(lambda: self.client.search(body=pinned, params=_whole()))
        except NotFoundError as error:
            raise PointInTimeGoneError from error

    def close_point_in_time(self, point_in_time: str) -> None:
        try:
            _response_of(lambda: self.client.delete_pit(body={"pit_id": [point_in_time]}))
        except NotFoundError:
            return

    def stretch(self, index: str, wanted: Stretch) -> list[StoredDocument]:
        held: list[JsonObject] = [
            {"term": {f"{name}.keyword": value}} for name, value in wanted.equal.items()
        ]
        if wanted.up_to is not None:
            held.append({"range": {f"{wanted.order[0]}.keyword": {"lte": wanted.up_to}}})
        by: list[JsonObject] = [
            # documents without the field come first, before any position
            {f"{name}.keyword": {"order": "asc", "missing": "_first", "unmapped_type": "keyword"}}
            for name in wanted.order
        ]
        request: JsonObject = {
            "query": {"bool": {"filter": held, "must_not": [{"term": {"deleted": True}}]}},
            "size": wanted.limit,
            "sort": by,
            "_source": _NAMES,
            "track_total_hits": False,
        }
        hits = self.search(
            [index],
            (request if wanted.above is None else {**request, "search_after": list(wanted.above)}),
        )["hits"]["hits"]
        return [
            StoredDocument(hit["_id"], hit["_source"], tuple(v or "" for v in hit["sort"]))
            for hit in hits
        ]

    def mapping(self, index: str) -> JsonObject:
        reply = _response_of(lambda: self.client.indices.get_mapping(index=index))
        return reply[index]["mappings"]

    def analysis(self, index: str) -> JsonObject:
        reply = _response_of(lambda: self.client.indices.get_settings(index=index))
        return reply[index]["settings"]["index"].get("analysis", {})

    def create_index(self, name: str, *, mapping: JsonObject, settings: JsonObject) -> bool:
        body = {"mappings": mapping, "settings": settings}
        answered_too: Any = {"ignore": [400]}  # missing in the stubs
        reply = _response_of(lambda: self.client.indices.create(name, body=body, **answered_too))
        error = cast("JsonObject", reply.get("error") or {})
        if error.get("type") == "resource_already_exists_exception":
            return False
        if error:
            _logger.warning("OpenSearch refuses an index", extra={"reason": error.get("reason")})
            raise InvalidInputError(f"OpenSearch refuses the index {name}; the log has the reason")
        return True

    def drop_index(self, name: str) -> bool:
        answered_too: Any = {"ignore": [404]}
        reply = _response_of(lambda: self.client.indices.delete(name, **answered_too))
        return "error" not in reply

    def point_alias(self, alias: str, index: str) -> None:
        actions: list[Any] = [
            # Not `*`: on AWS that includes indexes of the service itself, and is denied.
            {"remove": {"index": f"{alias}-*", "alias": alias, "must_exist": False}},
            {"add": {"index": index, "alias": alias}},
        ]
        _response_of(lambda: self.client.indices.update_aliases(body={"actions": actions}))

    def tune_index(self, index: str, settings: JsonObject) -> str | None:
        return _refusal(lambda: self.client.indices.put_settings(index=index, body=settings))

    def limit_memory(self, limits: Mapping[str, str]) -> str | None:
        body = {"persistent": dict(limits)}
        return _refusal(lambda: self.client.cluster.put_settings(body=body))

    def refresh(self, indexes: Sequence[str]) -> None:
        _response_of(lambda: self.client.indices.refresh(index=",".join(indexes)))


def connect(settings: Settings) -> OpenSearchEngine:
    """Connect to the cluster of the deployment.

    Requests are signed with the function's credentials.
    """
    credentials = boto3.Session().get_credentials()
    signer = Urllib3AWSV4SignerAuth(credentials, settings.region, "es")
    client = OpenSearch(
        settings.search_url,
        http_auth=signer,
        timeout=_SECONDS,
        max_retries=0,  # the callers retry, with a smaller bulk request
        http_compress=False,
        pool_maxsize=8,
    )
    return OpenSearchEngine(client)


def _whole() -> dict[str, Any]:
    """Return the parameters of a search, which ends before the request that waits for it."""
    seconds = deadline.within(_SECONDS)
    return {
        # No reply is better than one that lacks the documents of a shard.
        "allow_partial_search_results": "false",
        "request_timeout": seconds,
        # OpenSearch does not notice that the client has gone.
        "cancel_after_time_interval": f"{round(seconds * 1000)}ms",
    }


_NAMES = ["str_databaseid", "str_assetid", "str_key", "hash"]


def _response_of(call: Callable[[], T]) -> Any:
    """Return OpenSearch's response; an outage or overload becomes UnavailableError."""
    try:
        return call()
    except SearchConnectionError as error:
        raise UnavailableError("OpenSearch does not respond") from error
    except TransportError as error:
        status, reason = error.status_code, _reason(error)
        if "maxClauseCount" in reason:  # status 400 or 500, depending on where it was detected
            fact = "the search has too many words or conditions"
            raise InvalidInputError.of("query", fact) from error
        if "determiniz" in reason.lower():
            fact = "a pattern with wildcards is too complex: use fewer wildcards, or a shorter text"
            raise InvalidInputError(fact) from error
        if isinstance(error, RequestError):
            raise InvalidInputError(_log_refusal(reason)) from error
        if isinstance(error, AuthorizationException):
            # Bootstrap reports the reason to the deployment; a request returns 500 without it.
            raise DeniedError(f"OpenSearch denies the request: {reason}") from error
        if status == _TOO_LARGE:
            raise TooLargeError("The request is too large for OpenSearch") from error
        if isinstance(status, int) and (status == _TOO_MANY or status >= _SERVER_ERROR):
            raise UnavailableError("OpenSearch is overloaded or starting") from error
        raise


def _refusal(call: Callable[[], object]) -> str | None:
    """Change settings; return a reason if they are rejected."""
    try:
        _response_of(call)
    except InvalidInputError as error:
        return error.message
    except AuthenticationException as error:
        # Amazon OpenSearch Service rejects settings that it does not support with 401.
        return _log_refusal(_reason(error))
    return None


def _log_refusal(reason: str) -> str:
    """Log the engine's reason, which names internal fields, and return ours for replies."""
    _logger.warning("OpenSearch refuses a request", extra={"reason": reason})
    return "The search engine does not accept this request; the log has its reason"


def _reason(error: TransportError) -> str:
    info = cast("JsonObject", error.info) if isinstance(error.info, dict) else {}
    causes = cast("list[JsonObject]", info.get("error", {}).get("root_cause", []))
    return str(causes[0].get("reason")) if causes else str(error.error)


def _result(item: JsonObject) -> DocumentResult:
    error = cast("JsonObject", item.get("error") or {})
    cause = cast("JsonObject", error.get("caused_by") or {})
    text = f"{error.get('reason', '')} {cause.get('reason', '')}".strip()
    status = item["status"]
    current = _CURRENT_VERSION.findall(text) if status == _CONFLICT else []
    version = int(current[-1]) if current else None
    fact = refusal_of(status, error) if error and status != _CONFLICT else ""
    if fact:
        extra = {"document": item["_id"], "status": status, "reason": text}
        _logger.warning("OpenSearch refuses a document", extra=extra)
    return DocumentResult(item["_index"], item["_id"], status, fact, version)
