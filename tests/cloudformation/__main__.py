"""The stand-in as a server: `python -m tests.cloudformation HOST PORT ACCOUNT REGION [STATE]`.

moto serves all other services, and CloudFormation's requests for the toolkit's stack, which creates
the bucket of assets and the parameter with the toolkit's version. The account is the variable
`MOTO_ACCOUNT_ID`, which moto reads when it is imported.
"""

import io
import signal
import sys
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit
from xml.sax.saxutils import escape
from zipfile import ZipFile

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import run_simple
from werkzeug.wrappers import Request, Response

from local.assembly import Object
from tests.cloudformation.actions import Actions
from tests.cloudformation.building import Names, Place
from tests.cloudformation.runtime import LocalRuntime
from tests.cloudformation.stacks import Stacks
from tests.cloudformation.templates import RefusedError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

TOOLKIT = "CDKToolkit"
FAILING = "/stand-in/failing/"
ANSWERS = "/stand-in/answers/"
_FORM = "application/x-www-form-urlencoded"
_UNPROTECTING = {
    "DynamoDB_20120810.UpdateTable": ("TableName", "DeletionProtectionEnabled", False),
    "AWSCognitoIdentityProviderService.UpdateUserPool": (
        *("UserPoolId", "DeletionProtection"),
        "INACTIVE",
    ),
}
"""Requests that remove the protection of a resource: the fields with its name and its protection.
"""


class Account:
    """moto's other services, for this server itself."""

    def __init__(self, url: str, region: str) -> None:
        """Connect to the server of this process."""
        session = boto3.Session("access", "secret", region_name=region)
        path = Config(s3={"addressing_style": "path"})
        self._s3 = session.client("s3", endpoint_url=url, config=path)
        self._ssm: Any = session.client("ssm", endpoint_url=url)

    def template(self, address: str) -> str:
        """Return the text of an uploaded template.

        Raises:
            RefusedError: there is none.
        """
        host, path = urlsplit(address).netloc, urlsplit(address).path.lstrip("/")
        bucket, _, _ = host.partition(".s3.")
        if ".s3." not in host:
            bucket, _, path = path.partition("/")
        try:
            content = self._s3.get_object(Bucket=bucket, Key=path)["Body"].read()
        except ClientError as error:
            raise RefusedError(f"S3 error: {error} For more information check {address}") from error
        return str(content, "utf-8")

    def parameter(self, name: str) -> str | None:
        """Return the value of a parameter."""
        try:
            result: dict[str, Any] = self._ssm.get_parameter(Name=name)["Parameter"]
        except self._ssm.exceptions.ParameterNotFound:
            return None
        return str(result["Value"])

    def asset(self, bucket: str, key: str, target: Path) -> None:
        """Unpack a published asset.

        Raises:
            ClientError: it was not published.
        """
        content = self._s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        with ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(target)


class Server:
    """Handles requests for stacks, and passes all others to moto."""

    def __init__(
        self,
        stacks: Stacks,
        actions: Actions,
        answers: dict[str, Object],
        others: "WSGIApplication",
    ) -> None:
        """Use the stacks, the responses to custom resources, and moto's application."""
        self._stacks = stacks
        self._answers = answers
        self._actions = actions
        self._others = others

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Handle a request."""
        request = Request(environ)
        if request.path.startswith(FAILING):
            return self._fail(request)(environ, start_response)
        if request.path.startswith(ANSWERS):
            self._answers[request.path.removeprefix(ANSWERS)] = request.get_json(force=True)
            return Response(status=200)(environ, start_response)
        if request.mimetype == _FORM:
            body = request.get_data(cache=True, parse_form_data=False)
            environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(body), str(len(body))
            fields = Request({**environ, "wsgi.input": io.BytesIO(body)}).form.to_dict()
            ours = "/cloudformation/" in request.headers.get("Authorization", "")
            if ours and not _of_toolkit(fields):
                return self._answer(fields)(environ, start_response)
        elif request.headers.get("X-Amz-Target") in _UNPROTECTING:
            return self._unprotect(request)(environ, start_response)
        return self._others(environ, start_response)

    def _fail(self, request: Request) -> Response:
        """Make a resource fail with the given reason, or succeed again."""
        name = request.path.removeprefix(FAILING)
        if request.method == "PUT":
            self._stacks.failing[name] = request.get_data(as_text=True)
        else:
            self._stacks.failing.pop(name, None)
        return Response(status=204)

    def _unprotect(self, request: Request) -> Response:
        name, field, value = _UNPROTECTING[request.headers["X-Amz-Target"]]
        json: dict[str, Any] = request.get_json(force=True)
        if json.get(field) == value:
            self._stacks.unprotected.add(str(json[name]))
        return Response("{}", content_type="application/x-amz-json-1.0")

    def _answer(self, fields: dict[str, str]) -> Response:
        action, request = fields.get("Action", ""), str(uuid.uuid4())
        sys.stderr.write(f"{action} {fields.get('StackName')} {fields.get('ChangeSetName')}\n")
        try:
            result = _xml(self._actions.answer(action, fields))
        except RefusedError as error:
            error_xml = _xml({"Type": "Sender", "Code": error.code, "Message": str(error)})
            text = f"<Error>{error_xml}</Error><RequestId>{request}</RequestId>"
            return Response(
                f"<ErrorResponse>{text}</ErrorResponse>", status=400, mimetype="text/xml"
            )
        metadata = f"<ResponseMetadata><RequestId>{request}</RequestId></ResponseMetadata>"
        text = f"<{action}Result>{result}</{action}Result>{metadata}"
        return Response(f"<{action}Response>{text}</{action}Response>", mimetype="text/xml")


def _of_toolkit(fields: Mapping[str, str]) -> bool:
    name = fields.get("StackName", "")
    return name == TOOLKIT or f":stack/{TOOLKIT}/" in name


def _xml(value: object) -> str:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return "".join(f"<{name}>{_xml(field)}</{name}>" for name, field in fields.items())
    if isinstance(value, list):
        entries = cast("list[object]", value)
        return "".join(f"<member>{_xml(entry)}</member>" for entry in entries)
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(str(value))


def serve(host: str, port: str, place: Place, state: str = "") -> None:
    """Serve until the process is ended; with a state folder, in a local runtime."""
    url = f"http://{host}:{port}"
    account = Account(url, place.region)
    answers: dict[str, Object] = {}
    runtime = LocalRuntime(Path(state), account.asset, url + ANSWERS, answers) if state else None
    stacks = Stacks(runtime or Names(), account.parameter, place)
    moto = DomainDispatcherApplication(create_backend_app)
    server = Server(stacks, Actions(stacks, account.template), answers, moto)
    try:
        run_simple(host, int(port), server, threaded=True, request_handler=MotoRequestHandler)
    finally:
        if runtime is not None:
            runtime.stop()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM stops the runtime, too
    _, host, port, account_id, region, *folder = sys.argv
    serve(host, port, Place(account_id, region), *folder)
