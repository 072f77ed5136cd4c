"""Documents of identity providers over HTTP: complete, small, and only from allowed addresses."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from backend.aws.remote_json import MAX_BYTES, HttpRemoteJson, addresses_of
from backend.core.errors import UnavailableError

ISSUER = "https://idp.example.org/realm"
INVALID = [
    "",
    "idp.example.org",
    "file:///etc/passwd",
    "ftp://idp.example.org/",
    "//idp.example.org/",
    "https://",
    "https:///keys",
    "https://user@idp.example.org/",
    "https://idp.example.org@127.0.0.1/",
    "https://idp.example.org%2f@127.0.0.1/",
    "https://idp.example.org:99999/",
    "https://idp.example.org:x/",
    "https://[::1/",
    "http://idp.example.org/",
    "http://169.254.169.254/latest/meta-data/",
]


def _say(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _lead_away(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "/good")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def _drip(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):  # the client closes the connection
        while True:
            handler.wfile.write(b" ")
            Event().wait(0.02)


def _hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def _break_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.close_connection = True


PATHS: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {
    "/good": lambda handler: _say(handler, b"{}"),
    "/full": lambda handler: _say(handler, b" " * MAX_BYTES),
    "/large": lambda handler: _say(handler, b" " * (MAX_BYTES + 1)),
    "/absent": lambda handler: _say(handler, b"{}", 404),
    "/other": lambda handler: _say(handler, b"{}", 203),
    "/away": _lead_away,
    "/drip": _drip,
    "/hang-up": _hang_up,
    "/break-off": _break_off,
}


class Provider(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        PATHS[self.path](self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Log nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_document_is_read_whole_in_time_or_it_is_an_outage(url: str) -> None:
    assert HttpRemoteJson(url).read(f"{url}/good") == b"{}"
    assert len(HttpRemoteJson(url).read(f"{url}/full")) == MAX_BYTES
    for path in ("large", "absent", "other", "away", "hang-up", "break-off"):
        with pytest.raises(UnavailableError):
            HttpRemoteJson(url).read(f"{url}/{path}")
    with pytest.raises(UnavailableError, match="seconds"):
        HttpRemoteJson(url, seconds=0.2).read(f"{url}/drip")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(UnavailableError, match="Timeout"):
            HttpRemoteJson(address, seconds=0.2).read(address)
    for address in ("http://127.0.0.1:1/", "http://[oops/", "gopher://x/", ""):
        with pytest.raises(UnavailableError):
            HttpRemoteJson("http://127.0.0.1:1").read(address)
    # A provider that is not on this machine cannot lead to it.
    with pytest.raises(UnavailableError, match="only https"):
        HttpRemoteJson(ISSUER).read(f"{url}/good")


def _leading(**names: str) -> Callable[[str], list[str]]:
    return lambda host: names[host.replace(".", "_")].split()


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The hosts to which connections are opened; none succeeds."""
    result: list[object] = []

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        result.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    return result


@pytest.mark.parametrize("addresses", ["10.0.0.1", "8.8.8.8 169.254.169.254", "::1"])
def test_keys_at_a_private_address_are_read_only_of_a_private_issuer(
    addresses: str, connected: list[object]
) -> None:
    names = {"keys_example_org": addresses, "idp_example_org": "8.8.8.8"}
    with pytest.raises(UnavailableError, match=r"keys\.example\.org is not on the public") as error:
        HttpRemoteJson(ISSUER, resolve=_leading(**names)).read("https://keys.example.org/k")
    assert not any(address in str(error.value) for address in addresses.split())
    assert connected == []
    private = _leading(**names | {"idp_example_org": "10.0.0.2"})
    with pytest.raises(UnavailableError, match="does not respond"):
        HttpRemoteJson(ISSUER, resolve=private).read("https://keys.example.org/k")
    with pytest.raises(UnavailableError, match="does not respond"):
        HttpRemoteJson(ISSUER, resolve=private).read(ISSUER)
    assert connected == ["keys.example.org", "idp.example.org"]


def test_loopback_in_another_spelling_is_private(connected: list[object]) -> None:
    def resolve(host: str) -> list[str]:
        return ["8.8.8.8"] if host == "idp.example.org" else addresses_of(host)

    for host in ("127.1", "0x7f.1", "2130706433", "0177.0.0.1", "[::1]", "localhost"):
        with pytest.raises(UnavailableError, match="not on the public"):
            HttpRemoteJson(ISSUER, resolve=resolve).read(f"https://{host}/")
    assert connected == []


def test_a_url_that_is_not_a_plain_one_of_https_is_not_requested(connected: list[object]) -> None:
    for issuer in (ISSUER, "http://127.0.0.1:1/realm"):
        for url in INVALID:
            with pytest.raises(UnavailableError, match=r"not requested|LocationParseError"):
                HttpRemoteJson(issuer, resolve=lambda _: ["8.8.8.8"]).read(url)
    assert connected == []
    # Unusual characters do not change the host.
    names = ("idp.example.org\\@127.0.0.1/", "idp%2eexample.org/", "idp.example.org/a\r\nX: y")
    for url in (f"https://{name}" for name in names):
        with pytest.raises(UnavailableError):
            HttpRemoteJson(ISSUER, resolve=lambda _: ["8.8.8.8"]).read(url)
    assert set(connected) <= {"idp.example.org"}


def test_a_certificate_of_an_unknown_issuer_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_self_signed(tmp_path / "own.pem", "idp.example.org"))
    connect = socket.create_connection
    with socket.create_server(("127.0.0.1", 0)) as server:

        def to_server(*_: object, **__: object) -> socket.socket:
            return connect(server.getsockname(), timeout=5)

        def serve() -> None:
            connection, _ = server.accept()
            with suppress(ssl.SSLError), connection:
                context.wrap_socket(connection, server_side=True)

        monkeypatch.setattr("urllib3.util.connection.create_connection", to_server)
        thread = Thread(target=serve)
        thread.start()
        with pytest.raises(UnavailableError, match="SSLError"):
            HttpRemoteJson(ISSUER).read(ISSUER)
        thread.join()


def _self_signed(path: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(private + certificate.public_bytes(pem))
    return path
