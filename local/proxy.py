"""A proxy before an engine: counts the requests of functions, and injects faults for tests.

Requests pass unchanged, so their signatures remain valid. Only requests to DynamoDB are changed:
they also request the consumed capacity. Bodies are read completely, because the proxy is for tests
and measurements only.
"""

import asyncio
import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, cast
from urllib.parse import parse_qsl

import httpx
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from local.foreign import Guard
from local.servers import HttpServer, bind_any

_HOP_HEADERS = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "date"}
)
_PARTS_OF_S3 = ("uploads", "uploadId", "partNumber", "versions", "versioning", "delete", "tagging")


class Fault(BaseModel):
    """A fault for matching requests, injected `times` times (without a limit by default).

    `status`: the proxy replies with that status, and the engine receives nothing. `reset`: the
    connection is closed without a reply, before the engine has carried out the request, or after it
    (`after`). `delay`: seconds before the request is passed on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Literal["dynamodb", "s3", "opensearch", "sqs"]
    operation: str = ""
    times: int | None = None
    status: int | None = None
    body: str = ""
    reset: bool = False
    after: bool = False
    delay: float = 0


_FAULTS = TypeAdapter(list[Fault])


@dataclass
class _Count:
    requests: int = 0
    errors: int = 0
    bytes_in: int = 0
    capacity: float = 0.0

    def add(self, other: "_Count") -> None:
        self.requests += other.requests
        self.errors += other.errors
        self.bytes_in += other.bytes_in
        self.capacity += other.capacity

    def report(self) -> dict[str, JsonValue]:
        return {
            "requests": self.requests,
            "errors": self.errors,
            "bytes": self.bytes_in,
            "capacityUnits": self.capacity,
        }


_Operation = tuple[str, str, str]
"""The engine, the operation, and the function that sent the request."""


@dataclass
class _Armed:
    fault: Fault
    left: int | None


@dataclass
class _Ledger:
    """The common state of all proxies: the counters and the pending faults."""

    counts: dict[_Operation, _Count] = field(default_factory=dict[_Operation, _Count])
    armed: list[_Armed] = field(default_factory=list[_Armed])

    def count(self, operation: _Operation) -> _Count:
        return self.counts.setdefault(operation, _Count())

    def fault(self, engine: str, operation: str) -> Fault | None:
        """Return the first fault that applies, and count one use of it."""
        for armed in self.armed:
            fault = armed.fault
            if fault.engine == engine and fault.operation in operation and armed.left != 0:
                if armed.left is not None:
                    armed.left -= 1
                return fault
        return None


class _Proxy:
    """The application before one engine (ASGI)."""

    def __init__(self, engine: str, target: str, ledger: _Ledger) -> None:
        self._engine = engine
        self._target = target
        self._ledger = ledger
        self._client = httpx.AsyncClient(timeout=120, limits=httpx.Limits(max_connections=None))

    async def close(self) -> None:
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        body = await request.body()
        operation = operation_of(self._engine, request.method, _raw_target(scope), request.headers)
        fault = self._ledger.fault(self._engine, operation)
        count = self._ledger.count((self._engine, operation, caller_of(request.headers)))
        count.requests += 1
        count.bytes_in += len(body)
        if fault is not None:
            await asyncio.sleep(fault.delay)
            if fault.status is not None:
                count.errors += 1
                failed = Response(fault.body, fault.status, media_type="application/json")
                await failed(scope, receive, send)
                return
            if fault.reset and not fault.after:
                count.errors += 1
                _end_connection()
        answer = await self._forward(request, scope, body)
        if answer.status_code >= 400:
            count.errors += 1
        if self._engine == "dynamodb":
            count.capacity += consumed(answer.content)
        if fault is not None and fault.reset:
            _end_connection()
        # To HEAD, the size of the object, which is not sent.
        size = {"content-length": answer.headers.get("content-length", "0")}
        headers = size if request.method == "HEAD" else None
        response = Response(answer.content, status_code=answer.status_code, headers=headers)
        for name, value in answer.headers.multi_items():
            if name.lower() not in _HOP_HEADERS | {"content-encoding"}:
                response.headers.append(name, value)
        await response(scope, receive, send)

    async def _forward(self, request: Request, scope: Scope, body: bytes) -> httpx.Response:
        if self._engine == "dynamodb":
            with suppress(ValueError):
                sent = json.loads(body)
                if isinstance(sent, dict):
                    sent["ReturnConsumedCapacity"] = "TOTAL"
                    body = json.dumps(sent).encode()
        headers = [
            (name, value)
            for name, value in request.headers.items()
            if name not in {"content-length", "transfer-encoding", "connection"}
        ]
        return await self._client.request(
            request.method,
            self._target + _raw_target(scope),
            headers=headers,
            content=body,
        )


class Proxies:
    """The proxies of one runtime."""

    def __init__(self, web_origins: Callable[[], Collection[str]] = tuple) -> None:
        """Create no proxies yet, and count nothing.

        Pages of `web_origins` may use the proxy before S3.
        """
        self._web_origins = web_origins
        self._ledger = _Ledger()
        self._proxies: list[tuple[HttpServer, _Proxy]] = []

    async def before(self, engine: str, target: str) -> str:
        """Add a proxy before an engine and return its address."""
        server, proxy = HttpServer(bind_any()), _Proxy(engine, target, self._ledger)
        guard = Guard()
        if engine == "s3":
            guard = Guard(self._web_origins, open_to=_is_presigned_read, linked=True)
        await server.start(proxy, guard)
        self._proxies.append((server, proxy))
        return server.url

    def counts(self) -> dict[str, JsonValue]:
        """Return the counters, by engine and operation."""
        return self._sums(lambda operation: operation[:2])

    def counts_by_function(self) -> dict[str, JsonValue]:
        """Return the counters, by engine, operation and function (`caller_of`)."""
        return self._sums(lambda operation: operation)

    def _sums(self, key: Callable[[_Operation], tuple[str, ...]]) -> dict[str, JsonValue]:
        sums: dict[tuple[str, ...], _Count] = {}
        for operation, count in sorted(self._ledger.counts.items()):
            sums.setdefault(key(operation), _Count()).add(count)
        tree: dict[str, JsonValue] = {}
        for path, total in sums.items():
            place = tree
            for name in path[:-1]:
                place = cast("dict[str, JsonValue]", place.setdefault(name, {}))
            place[path[-1]] = total.report()
        return tree

    def reset(self) -> None:
        """Set all counters to zero."""
        self._ledger.counts.clear()

    def faults(self) -> JsonValue:
        """Return the pending faults."""
        return [
            {**armed.fault.model_dump(mode="json"), "times": armed.left}
            for armed in self._ledger.armed
            if armed.left != 0
        ]

    def inject(self, wanted: JsonValue) -> None:
        """Replace the pending faults.

        Raises:
            ValueError: they are malformed.
        """
        faults = _FAULTS.validate_python(wanted)
        self._ledger.armed = [_Armed(fault, fault.times) for fault in faults]

    async def stop(self) -> None:
        """Close all proxies."""
        for server, proxy in self._proxies:
            await server.stop()
            await proxy.close()


def _is_presigned_read(method: str, target: str) -> bool:
    """Return whether S3's own rules decide which pages may read an object (decision 23)."""
    names = {name.lower() for name, _ in parse_qsl(target.partition("?")[2])}
    return method in {"GET", "HEAD", "OPTIONS"} and "x-amz-signature" in names


def operation_of(engine: str, method: str, target: str, headers: Mapping[str, str]) -> str:
    """Return the name under which a request is counted."""
    if engine in ("dynamodb", "sqs"):
        return headers.get("x-amz-target", "unknown").rsplit(".", 1)[-1]
    path, _, query = target.partition("?")
    if engine == "opensearch":
        kind = next((part for part in path.split("/") if part.startswith("_")), "index")
        return f"{method} {kind}"
    names = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    parts = "".join(f"?{part}" for part in _PARTS_OF_S3 if part in names)
    place = "object" if path.strip("/").count("/") else "bucket"
    return f"{method} {place}{parts}"


def caller_of(headers: Mapping[str, str]) -> str:
    """Return the function that sent a request, as AWS's SDK names it.

    Other clients send no name.
    """
    parts = headers.get("user-agent", "").split()
    return next((part[4:] for part in parts if part.startswith("app/")), "")


def consumed(body: bytes) -> float:
    """Return the capacity units in a response of DynamoDB."""
    try:
        answer = json.loads(body)
    except ValueError:
        return 0.0
    reported = cast("dict[str, object]", answer).get("ConsumedCapacity") if answer else None
    entries = cast("list[object]", reported) if isinstance(reported, list) else [reported]
    return sum(
        float(cast("dict[str, float]", entry).get("CapacityUnits", 0.0))
        for entry in entries
        if isinstance(entry, dict)
    )


def _raw_target(scope: Scope) -> str:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    return raw.decode("latin-1") + (f"?{query.decode('latin-1')}" if query else "")


def _end_connection() -> None:
    """Close the connection without a reply: the server closes it when the application fails."""
    raise ConnectionAbortedError("fault injected on request")
