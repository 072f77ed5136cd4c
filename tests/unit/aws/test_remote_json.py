"""Documents of providers over HTTP: whole, small, and from nowhere else."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from backend.aws.remote_json import MAX_BYTES, HttpRemoteJson
from backend.core.errors import UnavailableError


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
    "/hang-up": _hang_up,
    "/break-off": _break_off,
}


class Provider(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        PATHS[self.path](self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_document_is_read_whole(url: str) -> None:
    assert HttpRemoteJson(loopback=True).read(f"{url}/good") == b"{}"
    assert len(HttpRemoteJson(loopback=True).read(f"{url}/full")) == MAX_BYTES


@pytest.mark.parametrize("path", ["large", "absent", "other", "away", "hang-up", "break-off"])
def test_an_incomplete_document_is_an_outage(url: str, path: str) -> None:
    with pytest.raises(UnavailableError):
        HttpRemoteJson(loopback=True).read(f"{url}/{path}")


def test_a_provider_that_is_not_on_this_machine_cannot_lead_to_it(url: str) -> None:
    with pytest.raises(UnavailableError, match="not requested"):
        HttpRemoteJson().read(f"{url}/good")


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://[oops/", "gopher://x/", ""])
def test_a_server_that_does_not_respond_is_an_outage(address: str) -> None:
    with pytest.raises(UnavailableError):
        HttpRemoteJson(loopback=True).read(address)
