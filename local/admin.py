"""The runner's own port, on the loopback address only, for engines and tests.

It receives the responses of custom resources and the notifications of the object store, and reports
the state of the runtime. Requests that change something require the runtime's token: in the path
from senders that cannot set headers, otherwise as `Authorization: Bearer …`. Web pages can send
neither.
"""

import hmac
import json
import os
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import httpx
import psutil
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from local import arns
from local.engine_room import EngineRoom
from local.engines.errors import EngineError
from local.errors import LocalError
from local.functions import Functions, TenantError
from local.plan import Object
from local.proxy import Proxies
from local.pumps.drained import Drain
from local.pumps.objects import ObjectPump
from local.pumps.supervisor import Supervisor
from local.states.corrections import ROLE_HEADER, STATUS_PATH, WAITING_PATH
from local.states.tasks import RefusedTaskError, Tasks

NOTIFICATIONS = "/notifications"
RESPONSES = "/responses"
USER_POOLS = "/user-pools"
TASKS = "/tasks"
INVOCATIONS = "/lambda"
_INVOKE = "/2015-03-31/functions/{function}/invocations"
_QUOTAS = "/2016-08-19/account-settings"
# The engine runs on this machine and replies within milliseconds.
_SECONDS = 5
# Lambda's default quota of concurrent executions. The runtime has no quota of its own: calls over
# the limit of processes wait.
_INSTANCES = 1000


@dataclass
class CustomResourceResponses:
    """The responses of functions to custom resources, by request id."""

    received: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def take(self, request_id: str) -> JsonValue:
        """Return the response to a request; None if there is none yet."""
        return self.received.pop(request_id, None)


@dataclass
class Board:
    """The objects that the admin port serves; the pumps are added after the resources."""

    functions: Functions
    engines: EngineRoom
    supervisor: Supervisor
    token: str
    # The caller's policy is checked before the call is sent to this address.
    calls_token: str = field(default_factory=lambda: secrets.token_hex(32))
    """The secret in the address at which functions call each other."""
    responses: CustomResourceResponses = field(default_factory=CustomResourceResponses)
    drain: Drain | None = None
    objects: ObjectPump | None = None
    proxies: Proxies | None = None
    tasks: Tasks | None = None

    def calls_url(self, base: str) -> str:
        """Return the address at which functions call each other."""
        return f"{base}/{self.calls_token}{INVOCATIONS}"


def admin_app(board: Board) -> Starlette:
    """Return the application of the admin port."""
    private = f"/{board.token}"
    bound: list[tuple[str, list[str], Callable[[Board, Request], Awaitable[Response]]]] = [
        ("/health", ["GET"], _health),
        ("/drained", ["GET"], _drained),
        ("/functions", ["GET"], _functions),
        ("/functions/{function}/invocations", ["POST"], _with_token(_invoked)),
        ("/engines/{name}/{action}", ["POST"], _with_token(_engine)),
        ("/requests", ["GET", "DELETE"], _with_token(_requests)),
        ("/faults", ["GET", "PUT", "DELETE"], _with_token(_faults)),
        (private + RESPONSES + "/{request}", ["PUT"], _store_response),
        (private + NOTIFICATIONS, ["POST"], _notified),
        (private + TASKS + _INVOKE, ["POST"], _task),
        (f"/{board.calls_token}{INVOCATIONS}{_INVOKE}", ["POST"], _invoked),
        (f"/{board.calls_token}{INVOCATIONS}{_QUOTAS}", ["GET"], _quotas),
        (private + TASKS + STATUS_PATH, ["POST"], _status_changed),
        (private + TASKS + WAITING_PATH, ["POST"], _waits),
        (private + TASKS, ["POST"], _task),
        (private + TASKS + "/{bucket}", ["GET"], _listing),
        (USER_POOLS + "/{pool}/.well-known/jwks.json", ["GET"], _pool_keys),
    ]
    routes: list[BaseRoute] = [
        Route(path, partial(endpoint, board), methods=methods) for path, methods, endpoint in bound
    ]
    return Starlette(routes=routes)


def _with_token(
    endpoint: Callable[[Board, Request], Awaitable[Response]],
) -> Callable[[Board, Request], Awaitable[Response]]:
    async def respond(board: Board, request: Request) -> Response:
        sent, wanted = request.headers.get("authorization", ""), f"Bearer {board.token}"
        if request.method != "GET" and not hmac.compare_digest(sent.encode(), wanted.encode()):
            return _error(401, "Authorization: not the adminToken of endpoint.json")
        return await endpoint(board, request)

    return respond


async def _health(board: Board, _request: Request) -> Response:
    engines = await board.engines.report()
    pumps = board.supervisor.report()
    healthy = all(
        isinstance(state, dict) and state["healthy"] is True for state in engines.values()
    ) and all(isinstance(state, dict) and state["failure"] is None for state in pumps.values())
    runner = psutil.Process(os.getpid()).memory_info().rss
    return JSONResponse(
        {
            "healthy": healthy and board.drain is not None,
            "engines": engines,
            "pumps": pumps,
            "streams": board.drain.lags() if board.drain else {},
            "functions": board.functions.report(),
            "runner": {"pid": os.getpid(), "memoryBytes": runner},
        }
    )


async def _drained(board: Board, _request: Request) -> Response:
    if board.drain is None:
        return JSONResponse({"drained": False, "starting": True})
    return JSONResponse(await board.drain.report())


async def _functions(board: Board, _request: Request) -> Response:
    return JSONResponse(board.functions.report())


async def _engine(board: Board, request: Request) -> Response:
    actions = {
        "start": board.engines.start,
        "stop": board.engines.stop,
        "kill": board.engines.kill,
    }
    action = actions.get(request.path_params["action"])
    if action is None:
        return _error(404, f"no action {request.path_params['action']}; start, stop or kill")
    try:
        await action(request.path_params["name"])
    except LocalError as error:
        return _error(404, str(error))
    except EngineError as error:
        return _error(500, str(error))
    return JSONResponse(await board.engines.report())


async def _requests(board: Board, request: Request) -> Response:
    if board.proxies is None:
        return _error(404, "requests are counted only with `up --record`")
    if request.method == "DELETE":
        board.proxies.reset()
        return JSONResponse({})
    if request.query_params.get("by") == "function":
        return JSONResponse(board.proxies.counts_by_function())
    return JSONResponse(board.proxies.counts())


async def _faults(board: Board, request: Request) -> Response:
    if board.proxies is None:
        return _error(404, "faults are possible only with `up --record`")
    if request.method == "GET":
        return JSONResponse(board.proxies.faults())
    wanted: JsonValue = []
    if request.method == "PUT":
        wanted = cast("JsonValue", await request.json())
    try:
        board.proxies.inject(wanted)
    except ValueError as error:
        return _error(400, str(error))
    return JSONResponse({})


async def _store_response(board: Board, request: Request) -> Response:
    board.responses.received[request.path_params["request"]] = await request.json()
    return Response(status_code=200)


async def _notified(board: Board, request: Request) -> Response:
    notification = cast("JsonValue", await request.json())
    if board.objects is not None:
        board.objects.hint(notification)
    return Response(status_code=200)


async def _task(board: Board, request: Request) -> Response:
    """Handle a task of a state machine.

    Calls of Lambda have a path, those of SQS and EventBridge a header.
    """
    if board.tasks is None:
        return _error(503, "the runtime starts")
    role = request.headers.get(ROLE_HEADER, "")
    function = request.path_params.get("function")
    body = cast("JsonValue", json.loads(await request.body() or b"{}"))
    try:
        if function is not None:
            return await board.tasks.invoke(function, body, role)
        target = request.headers.get("x-amz-target", "")
        return await board.tasks.call(target, cast("Object", body), role)
    except RefusedTaskError as refused:
        return refused.response()


async def _invoked(board: Board, request: Request) -> Response:
    """Handle the call of a function by another one, or by the token's holder.

    Wait for its result.
    """
    event = cast("JsonValue", json.loads(await request.body() or b"{}"))
    if not isinstance(event, dict):
        return _refused_call(400, "InvalidRequestContentException", "not an object")
    tenant = request.headers.get("x-amz-tenant-id")
    try:
        result = await board.functions.invoke(request.path_params["function"], event, tenant)
    except TenantError as error:
        return _refused_call(400, "InvalidParameterValueException", str(error))
    except LocalError as error:
        return _refused_call(404, "ResourceNotFoundException", str(error))
    failed = {"X-Amz-Function-Error": "Unhandled"} if result.error else {}
    return Response(result.payload, media_type="application/json", headers=failed)


async def _quotas(_board: Board, _request: Request) -> Response:
    """Handle Lambda's GetAccountSettings, which bootstrap calls."""
    limit = {"ConcurrentExecutions": _INSTANCES, "UnreservedConcurrentExecutions": _INSTANCES}
    return JSONResponse({"AccountLimit": limit})


def _refused_call(status: int, code: str, message: str) -> Response:
    body = {"Type": "User", "message": message}
    return JSONResponse(body, status, headers={"x-amzn-ErrorType": code})


async def _listing(board: Board, request: Request) -> Response:
    """Handle the task of a state machine that checks whether a prefix has objects."""
    if board.tasks is None:
        return _error(503, "the runtime starts")
    prefix, role = request.query_params["prefix"], request.headers.get(ROLE_HEADER, "")
    try:
        return await board.tasks.list_objects(request.path_params["bucket"], prefix, role)
    except RefusedTaskError as refused:
        return refused.response()


async def _status_changed(board: Board, request: Request) -> Response:
    if board.tasks is None:
        return _error(503, "the runtime starts")
    try:
        await board.tasks.executions.status_changed(await request.json())
    except (BotoCoreError, ClientError) as error:
        return _error(503, str(error))  # the engine sends the notification again
    return JSONResponse({})


async def _waits(board: Board, request: Request) -> Response:
    report = cast("Object", await request.json())
    if board.tasks is not None:
        board.tasks.executions.waits(str(report["executionArn"]), waits=bool(report["waits"]))
    return JSONResponse({})


async def _pool_keys(board: Board, request: Request) -> Response:
    """Return the keys of a user pool."""
    address = f"{board.engines.url('aws')}/{request.path_params['pool']}/.well-known/jwks.json"
    # moto returns the keys only to requests whose signature names the service.
    scope = f"nobody/20260101/{arns.REGION}/cognito-idp/aws4_request"
    headers = {"Authorization": f"AWS4-HMAC-SHA256 Credential={scope}"}
    try:
        async with httpx.AsyncClient(timeout=_SECONDS) as client:
            reply = await client.get(address, headers=headers)
    except httpx.HTTPError as error:
        return _error(503, f"the engine does not respond: {error}")
    return Response(reply.content, reply.status_code, media_type="application/json")


def _error(status: int, text: str) -> Response:
    return JSONResponse({"message": text}, status)
