"""Lambda's Runtime API, by which the function processes receive calls and return results.

Each process has a port of its own, which identifies its requests. A path would not suffice, because
the client reports a failed start to host and port only.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from local.function_process import InvocationResult, Worker, function_error
from local.functions import MAXIMUM_PAYLOAD, Functions

_API = "/2018-06-01/runtime"


def runtime_app(functions: Functions) -> Starlette:
    """Return the application that serves the processes of `functions`."""
    bound: list[tuple[str, str, Callable[[Request, Worker], Awaitable[Response]]]] = [
        ("/invocation/next", "GET", _next),
        ("/invocation/{request}/response", "POST", _response),
        ("/invocation/{request}/error", "POST", _error),
        ("/init/error", "POST", _init_error),
    ]
    routes: list[BaseRoute] = [
        Route(_API + path, _known(functions, endpoint), methods=[method])
        for path, method, endpoint in bound
    ]
    return Starlette(routes=routes)


def _known(
    functions: Functions, endpoint: Callable[[Request, Worker], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        worker = functions.worker(request.scope["server"][1])
        if worker is None:
            return _refused(410, "UnknownSandbox")
        return await endpoint(request, worker)

    return answer


async def _next(_request: Request, worker: Worker) -> Response:
    call = await worker.next_call()
    if call is None:
        return _refused(410, "SandboxEnded")
    return Response(
        call.payload,
        media_type="application/json",
        headers={
            "Lambda-Runtime-Aws-Request-Id": call.request_id,
            "Lambda-Runtime-Deadline-Ms": str(call.deadline_ms),
            "Lambda-Runtime-Invoked-Function-Arn": worker.function_arn,
            **({} if call.tenant is None else {"Lambda-Runtime-Aws-Tenant-Id": call.tenant}),
        },
    )


async def _response(request: Request, worker: Worker) -> Response:
    body = await request.body()
    result = InvocationResult(body)
    if len(body) > MAXIMUM_PAYLOAD:
        result = function_error(
            "Function.ResponseSizeTooLarge",
            f"Response payload size exceeded the maximum of {MAXIMUM_PAYLOAD} bytes",
        )
    return _accepted(worker.answer(request.path_params["request"], result))


async def _error(request: Request, worker: Worker) -> Response:
    result = InvocationResult(await request.body(), error="Unhandled")
    return _accepted(worker.answer(request.path_params["request"], result))


async def _init_error(request: Request, worker: Worker) -> Response:
    worker.record_start_error(InvocationResult(await request.body(), error="Unhandled"))
    return JSONResponse({"status": "OK"}, 202)


def _accepted(known: bool) -> Response:
    return JSONResponse({"status": "OK"}, 202) if known else _refused(400, "InvalidRequestID")


def _refused(status: int, kind: str) -> Response:
    return Response(
        json.dumps({"errorType": kind, "errorMessage": kind}),
        status_code=status,
        media_type="application/json",
    )
