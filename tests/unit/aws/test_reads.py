"""Reads that are sent with less work, against a server that answers as it is told."""

import hashlib
import hmac
import json
import ssl
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from http.client import HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from zlib import crc32

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509 import (
    CertificateBuilder,
    DNSName,
    Name,
    NameAttribute,
    SubjectAlternativeName,
    random_serial_number,
)
from cryptography.x509.oid import NameOID

from backend.aws.clients import lighten
from backend.aws.reads import send_reads_directly

SECRET, TOKEN, REGION = "a secret", "a/token+=", "eu-central-1"
THREADS = 8


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    operation: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def direct(self) -> bool:
        """Whether botocore did not put it together."""
        return "amz-sdk-invocation-id" not in self.headers


Handler = BaseHTTPRequestHandler


def found(handler: Handler, key: str) -> None:
    """Answer with an item whose name is the key that was asked for."""
    reply(handler, {"Item": {"name": {"S": key}}})


def reply(
    handler: Handler,
    content: object,
    *,
    status: int = 200,
    missing: int = 0,
    **headers: str,
) -> None:
    body = json.dumps(content).encode()
    handler.send_response(status)
    given = {"x-amz-crc32": str(crc32(body)), "Content-Length": str(len(body) + missing)}
    for name, value in {**given, **{n.replace("_", "-"): v for n, v in headers.items()}}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


Answer = Callable[[Handler, str], None]


@dataclass
class Server:
    url: str
    certificate: Path | None
    asked: list[Asked] = field(default_factory=list[Asked])
    answers: list[Answer] = field(default_factory=list[Answer])
    """How the next requests are answered; all others with the item."""


def certificate_in(folder: Path) -> Path:
    """A certificate of this machine with its key, signed by itself."""
    key = generate_private_key(SECP256R1())
    name = Name([NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        CertificateBuilder(name, name, key.public_key(), random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(SubjectAlternativeName([DNSName("localhost")]), critical=False)
        .sign(key, SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = folder / "certificate.pem"
    file.write_bytes(secret + made.public_bytes(Encoding.PEM))
    return file


@pytest.fixture(params=["http"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Server]:
    class Handling(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers["content-length"]))
            operation = headers["x-amz-target"].rpartition(".")[2]
            made.asked.append(Asked(operation, headers, body, self.client_address[1]))
            key = json.loads(body).get("Key", {}).get("id", {}).get("S", "")
            answer = made.answers.pop(0) if made.answers else found
            answer(self, key)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Be silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handling) as listening:
        listening.daemon_threads = True
        certificate = None
        if request.param == "https":
            certificate = certificate_in(tmp_path)
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate)
            listening.socket = context.wrap_socket(listening.socket, server_side=True)
        made = Server(f"{request.param}://localhost:{listening.server_port}", certificate)
        Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield made
        listening.shutdown()


@pytest.fixture
def client(server: Server) -> Any:
    """A client that has a connection, since it has read once; the server has forgotten that."""
    config = Config(
        read_timeout=0.3,
        connect_timeout=5,
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=THREADS,
        user_agent="vitrine/1 app/dev-AssetsApi",
    )
    session = boto3.Session("an-id", SECRET, TOKEN, region_name=REGION)
    trusted = server.certificate and str(server.certificate)
    made: Any = session.client("dynamodb", endpoint_url=server.url, config=config, verify=trusted)
    lighten(made)
    assert read(made, "first") == "first"
    first = server.asked.pop()
    assert not first.direct
    assert first.headers["user-agent"].startswith(made.meta.config.user_agent)
    return made


def read(client: Any, key: str) -> str:
    return client.get_item(TableName="Any", Key={"id": {"S": key}})["Item"]["name"]["S"]


@pytest.mark.parametrize("server", ["http", "https"], indirect=True)
def test_a_read_is_sent_over_the_connection_that_is_there(server: Server, client: Any) -> None:
    assert [read(client, key) for key in "abc"] == ["a", "b", "c"]
    assert all(asked.direct for asked in server.asked)
    assert len({asked.connection for asked in server.asked}) == 1


def signature_of(asked: Asked) -> str:
    """The signature of a request as it came, by AWS's description of its fourth version."""
    scheme, _, rest = asked.headers["authorization"].partition(" ")
    assert scheme == "AWS4-HMAC-SHA256"
    parts = dict(part.split("=", 1) for part in rest.split(", "))
    names = parts["SignedHeaders"].split(";")
    assert {"host", "x-amz-date", "x-amz-security-token", "x-amz-target"} <= set(names)
    lines = [f"{name}:{asked.headers[name]}\n" for name in names]
    hashed = hashlib.sha256(asked.body).hexdigest()
    canonical = "\n".join(("POST", "/", "", "".join(lines), ";".join(names), hashed))
    moment = asked.headers["x-amz-date"]
    scope = f"{moment[:8]}/{REGION}/dynamodb/aws4_request"
    assert parts["Credential"] == f"an-id/{scope}"
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = "\n".join((scheme, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    assert hmac.digest(key, text.encode(), "sha256").hex() == parts["Signature"]
    return parts["Signature"]


def test_it_is_signed_as_it_is_sent(server: Server, client: Any) -> None:
    assert read(client, "ü") == "ü"
    [asked] = server.asked
    assert asked.direct
    assert len(signature_of(asked)) == 64
    assert asked.headers["x-amz-security-token"] == TOKEN
    assert asked.headers["user-agent"] == client.meta.config.user_agent


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("query", {"TableName": "Any", "KeyConditionExpression": "id = :id"}),
        ("scan", {"TableName": "Any"}),
        ("batch_get_item", {"RequestItems": {"Any": {"Keys": [{"id": {"S": "a"}}]}}}),
    ],
)
def test_so_is_every_kind_of_read(
    server: Server, client: Any, operation: str, parameters: dict[str, Any]
) -> None:
    getattr(client, operation)(**parameters)
    [asked] = server.asked
    assert asked.direct
    assert json.loads(asked.body) == parameters


def test_a_write_is_sent_by_botocore_alone(server: Server, client: Any) -> None:
    server.answers.append(lambda handler, _: reply(handler, {}, status=500))
    client.put_item(TableName="Any", Item={"id": {"S": "a"}})
    assert [asked.direct for asked in server.asked] == [False, False]


def test_bytes_are_left_to_botocore(server: Server, client: Any) -> None:
    client.get_item(TableName="Any", Key={"id": {"B": b"\xff"}})
    [asked] = server.asked
    assert not asked.direct
    assert json.loads(asked.body)["Key"] == {"id": {"B": "/w=="}}


def ends(handler: Handler, _: str) -> None:
    """Answer with nothing, and hang up."""
    handler.close_connection = True


def half(handler: Handler, key: str) -> None:
    reply(handler, {"Item": {"name": {"S": key}}}, missing=9)
    handler.close_connection = True


def babbles(handler: Handler, _: str) -> None:
    handler.wfile.write(b"?\r\n")
    handler.close_connection = True


NO_ANSWERS: dict[str, Answer] = {
    "an end": ends,
    "half an answer": half,
    "no reply of HTTP": babbles,
    "a wrong checksum": lambda handler, key: reply(handler, {}, x_amz_crc32="1"),
    "a checksum that is none": lambda handler, key: reply(handler, {}, x_amz_crc32="x"),
    "an error of the server": lambda handler, key: reply(handler, {}, status=500),
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_asked_for_again(server: Server, client: Any, name: str) -> None:
    server.answers.append(NO_ANSWERS[name])
    assert read(client, "a") == "a"
    assert [asked.direct for asked in server.asked] == [True, False]
    assert read(client, "b") == "b"
    assert server.asked[-1].direct


def test_an_answer_that_comes_too_late_is_nobody_elses(server: Server, client: Any) -> None:
    late = Event()

    def answer(handler: Handler, key: str) -> None:
        late.wait(5)
        found(handler, key)

    server.answers.append(answer)
    assert read(client, "a") == "a"
    late.set()
    assert [read(client, key) for key in "bc"] == ["b", "c"]
    assert [asked.direct for asked in server.asked] == [True, False, True, True]


def test_an_answer_that_was_not_read_is_nobody_elses(
    server: Server, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: HTTPResponse) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(HTTPResponse, "begin", interrupted)
        with pytest.raises(KeyboardInterrupt):
            read(client, "a")
    assert [read(client, key) for key in "bc"] == ["b", "c"]


def test_a_connection_is_closed_when_the_server_wishes_it(server: Server, client: Any) -> None:
    server.answers.append(found_and_closed)
    assert [read(client, key) for key in "abc"] == ["a", "b", "c"]
    assert [asked.direct for asked in server.asked] == [True, False, True]


def found_and_closed(handler: Handler, key: str) -> None:
    reply(handler, {"Item": {"name": {"S": key}}}, Connection="close")
    handler.close_connection = True


def test_errors_are_told_by_botocore(server: Server, client: Any) -> None:
    error = {"__type": "com.amazonaws#ResourceNotFoundException", "message": "there is none"}

    def refuses(handler: Handler, _: str) -> None:
        reply(handler, error, status=400)

    server.answers += [refuses] * 2
    with pytest.raises(ClientError, match="there is none") as caught:
        read(client, "a")
    assert caught.value.response.get("Error", {}).get("Code") == "ResourceNotFoundException"
    assert [asked.direct for asked in server.asked] == [True, False]


def test_an_outage_is_told_by_botocore(server: Server, client: Any) -> None:
    server.answers += [ends] * 3
    with pytest.raises(HTTPClientError):
        read(client, "a")
    assert [asked.direct for asked in server.asked] == [True, False, False]


def test_who_listens_may_refuse_a_read(server: Server, client: Any) -> None:
    told: list[tuple[str, Any]] = []

    def refuse(model: Any, params: Any, **_: object) -> None:
        told.append((model.name, params["TableName"]))
        raise LookupError("by a policy")

    client.meta.events.register("before-parameter-build", refuse)
    with pytest.raises(LookupError):
        read(client, "a")
    assert told[0] == ("GetItem", "Any")
    assert not server.asked


def test_readers_side_by_side_get_their_own_answers(server: Server, client: Any) -> None:
    keys = [str(number) for number in range(200)]
    with ThreadPoolExecutor(2 * THREADS) as readers:
        assert list(readers.map(partial(read, client), keys)) == keys
    assert any(asked.direct for asked in server.asked)


class _Unknown:
    """A signer of another kind."""

    def __init__(self, service: str, region: str) -> None:
        """Take what a signer is made of."""


@pytest.mark.parametrize("part", ["_request_signer", "_endpoint", "signer"])
def test_an_sdk_that_is_made_otherwise_is_left_as_it_is(server: Server, part: str) -> None:
    session = boto3.Session("an-id", SECRET, region_name=REGION)
    made: Any = session.client("dynamodb", endpoint_url=server.url)
    if part == "signer":
        made._request_signer.get_auth_instance = _Unknown
    else:
        delattr(made, part)
    usual = made._make_api_call
    send_reads_directly(made)
    assert made._make_api_call == usual
