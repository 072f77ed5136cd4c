"""moto's server with the guard, which moto's own command line does not have.

`python -m local.moto_server HOST PORT`. moto lets pages of every origin read its replies.
"""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.datastructures import EnvironHeaders
from werkzeug.serving import run_simple
from werkzeug.wrappers import Response

from local.foreign import Guard, refusal

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def guarded(app: "WSGIApplication") -> "WSGIApplication":
    """Return `app` with the guard before it."""
    guard = Guard()

    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        # HTTP_HOST already has the host of an absolute request target.
        fact = refusal(environ["REQUEST_METHOD"], "/", EnvironHeaders(environ), guard)
        if fact is None:
            return app(environ, start_response)
        return Response(fact, status=403)(environ, start_response)

    return answer


def serve(host: str, port: str) -> None:
    """Serve until the process is ended."""
    app = DomainDispatcherApplication(create_backend_app)
    run_simple(host, int(port), guarded(app), threaded=True, request_handler=MotoRequestHandler)


if __name__ == "__main__":
    serve(*sys.argv[1:])
