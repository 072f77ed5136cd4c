"""Sends the reads of DynamoDB with less work than botocore does for a call of any kind.

botocore puts each request together by the service's model, asks its handlers of endpoints, retries
and errors, and walks the answer by the model again: more work than all else that a function does
for a `GET`. While all goes well a read needs none of it, since its parameters are the JSON that is
sent, and its answer is the JSON that `items` takes. So it is first sent like that, with botocore's
signature, over a connection that botocore has made and does not use just then. Where there
is none, or what comes back is no answer (an error, a time-out, an end, a wrong checksum), the call
is made in botocore's way: to read twice does no harm, so connecting, waiting, retrying and telling
what is wrong all stay the SDK's.
"""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from http.client import HTTPException, HTTPResponse
from queue import Empty, Full
from time import gmtime, strftime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zlib import crc32

from backend.aws.parsing import READS

if TYPE_CHECKING:
    from botocore.client import BaseClient

_PROTOCOL = "DynamoDB_20120810"
_OK = 200


def send_reads_directly(client: "BaseClient") -> None:
    """Let a DynamoDB client send its reads so from now on.

    Who listens to the client's events is told `before-parameter-build` of a read that is sent like
    this, and may refuse it; other events only of what is sent in botocore's way.
    """
    # Lambda's runtime brings an SDK of its own. One whose parts are others is left as it is.
    with suppress(AttributeError, TypeError):
        vars(client)["_make_api_call"] = _Calls(client)


class _Calls:
    """In the place of the method by which a client makes each of its calls."""

    def __init__(self, client: Any) -> None:
        self._usual = client._make_api_call
        self._meta = client.meta
        self._signer = client._request_signer.get_auth_instance
        pools = client._endpoint.http_session._manager
        self._idle = pools.connection_from_url(client.meta.endpoint_url).pool
        self._host = urlsplit(client.meta.endpoint_url).netloc
        self._request("GetItem", b"")  # shows whether the signer is one that is known

    def __call__(self, operation: str, parameters: Mapping[str, Any]) -> Any:
        answer = self._first_try(operation, parameters) if operation in READS else None
        return self._usual(operation, parameters) if answer is None else answer

    def _first_try(self, operation: str, parameters: Mapping[str, Any]) -> Any:
        """The answer, or None."""
        try:
            body = json.dumps(parameters).encode()
        except TypeError:  # it holds bytes, which botocore encodes
            return None
        try:
            with self._idle_connection() as connection:
                if connection is None:
                    return None
                self._meta.events.emit(
                    f"before-parameter-build.dynamodb.{operation}",
                    params=parameters,
                    model=self._meta.service_model.operation_model(operation),
                    context={},
                )
                return _answer(connection, self._request(operation, body))
        except (OSError, HTTPException):
            return None

    @contextmanager
    def _idle_connection(self) -> Generator[Any]:
        """An open connection of the client's that nobody else uses meanwhile, or None.

        It is closed where the block fails: what still comes over it is no answer to the next read.
        """
        try:
            connection = self._idle.get_nowait()
        except Empty:
            connection = None
        if connection is None or connection.sock is None:  # a place for one, or it was closed
            yield None
            return
        answered = False
        try:
            yield connection
            answered = True
        finally:
            if not answered:
                connection.close()
        try:
            self._idle.put_nowait(connection)
        except Full:  # meanwhile others made more than are kept
            connection.close()

    def _request(self, operation: str, body: bytes) -> bytes:
        """A request as it is sent, signed in AWS's fourth version."""
        signer = self._signer("dynamodb", self._meta.region_name)
        moment = strftime("%Y%m%dT%H%M%SZ", gmtime())
        token = signer.credentials.token
        signed = [  # by name
            f"host:{self._host}",
            f"x-amz-date:{moment}",
            *([f"x-amz-security-token:{token}"] if token else []),
            f"x-amz-target:{_PROTOCOL}.{operation}",
        ]
        names = ";".join(line.partition(":")[0] for line in signed)
        canonical = ("POST", "/", "", *signed, "", names, sha256(body).hexdigest())
        signing = SimpleNamespace(context={"timestamp": moment})
        text = signer.string_to_sign(signing, "\n".join(canonical))
        authorization = (
            f"Credential={signer.scope(signing)}",
            f"SignedHeaders={names}",
            f"Signature={signer.signature(text, signing)}",
        )
        head = (
            "POST / HTTP/1.1",
            *signed,
            f"authorization:AWS4-HMAC-SHA256 {', '.join(authorization)}",
            "content-type:application/x-amz-json-1.0",
            f"content-length:{len(body)}",
            f"user-agent:{self._meta.config.user_agent}",
        )
        return "\r\n".join((*head, "", "")).encode() + body


def _answer(connection: Any, request: bytes) -> Any:
    """What is answered to a request; None where that is not what was asked for.

    Raises:
        OSError: the connection has ended, or nothing came in time.
        HTTPException: what came is no reply, or not a whole one.
    """
    connection.sock.sendall(request)
    with HTTPResponse(connection.sock, method="POST") as response:
        response.begin()
        content = response.read()
    checksum = response.headers.get("x-amz-crc32")
    if response.status != _OK or checksum not in {None, str(crc32(content))}:
        return None
    return json.loads(content)
