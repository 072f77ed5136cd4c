"""What the server fetches itself: from public addresses only, checked before it connects."""

import socket
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from backend.core.addresses import is_public
from backend.core.fetcher import Fetcher, FetchFailedError, ForbiddenUrlError, Limits, addresses_of

PRIVATE = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a9fe:a9fe::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "",
    "localhost",
    "1.2.3",
    "0x7f000001",
    "2130706433",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2606:4700:4700::1111"]
ISSUER = "https://idp.example.org/.well-known/jwks.json"


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_of_no_public_network_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_public_internet_is_taken(address: str) -> None:
    assert is_public(address)


def leads_to(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda _host, _port: list(addresses)


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["8.8.8.8", "169.254.169.254"], ["::1"]])
def test_a_name_one_of_whose_addresses_is_private_is_not_connected_to(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        pytest.fail("it was connected to")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(ForbiddenUrlError) as error:
        Fetcher(resolve=leads_to(*addresses)).fetch(ISSUER)
    assert "idp.example.org" in str(error.value)
    assert not any(address in str(error.value) for address in addresses)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "idp.example.org",
        "file:///etc/passwd",
        "ftp://idp.example.org/",
        "gopher://idp.example.org/",
        "//idp.example.org/",
        "https://",
        "https:///keys",
        "https://user@idp.example.org/",
        "https://idp.example.org@127.0.0.1/",
        "https://idp.example.org%2f@127.0.0.1/",
        "https://idp%2eexample.org/",
        "https://idp.example.org\\@127.0.0.1/",
        "https://idp.example.org/a b",
        "https://idp.example.org/\r\nX: y",
        "https://idp.example.org/\x00",
        "https://idp.ex\u00e4mple.org/",
        "https://idp.example.org:0/",
        "https://idp.example.org:99999/",
        "https://idp.example.org:x/",
        "https://[::1/",
        "http://idp.example.org/",
    ],
)
@pytest.mark.parametrize("loopback", [False, True])
def test_a_url_that_is_not_of_https_is_refused(url: str, loopback: bool) -> None:
    with pytest.raises(ForbiddenUrlError):
        Fetcher(loopback=loopback, resolve=leads_to("8.8.8.8")).fetch(url)


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "[::1]"])
def test_loopback_in_another_spelling_is_loopback_all_the_same(host: str) -> None:
    with pytest.raises(ForbiddenUrlError):
        Fetcher().fetch(f"https://{host}/")


def test_a_name_without_addresses_is_tried_again_by_whoever_asked() -> None:
    with pytest.raises(FetchFailedError):
        addresses_of("a" * 64 + ".example", 443)
    with pytest.raises(FetchFailedError):
        Fetcher(resolve=leads_to()).fetch(ISSUER)


def test_it_connects_to_the_address_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    connected: list[object] = []

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["8.8.8.8"] if len(asked) == 1 else ["127.0.0.1"]

    def connect(address: object, _seconds: object) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(FetchFailedError):
        Fetcher(resolve=resolve).fetch(ISSUER)
    assert (asked, connected) == (["idp.example.org"], [("8.8.8.8", 443)])


@contextmanager
def served(answer: bytes, *, keep_open: bool = False) -> Generator[str]:
    """A server on this machine that gives one answer; answers with its URL."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)
                done.wait(0 if not keep_open else 30)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/keys?v=1"
        finally:
            done.set()
            thread.join()


def ok(body: bytes, *, length: int | None = None) -> bytes:
    head = "HTTP/1.1 200 OK\r\n"
    head += "" if length is None else f"Content-Length: {length}\r\n"
    return head.encode() + b"\r\n" + body


def test_a_runtime_of_this_machine_may_fetch_from_it() -> None:
    with served(ok(b'{"keys": []}')) as url:
        assert Fetcher(loopback=True).fetch(url) == b'{"keys": []}'


def test_without_that_setting_nothing_is_fetched_from_this_machine() -> None:
    for scheme in ("http", "https"):
        with pytest.raises(ForbiddenUrlError):
            Fetcher().fetch(f"{scheme}://127.0.0.1:1/")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
        ok(b"x" * 101),
        ok(b"x" * 101, length=101),
        ok(b"x", length=50),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_an_answer_that_is_no_whole_small_document_is_none(answer: bytes) -> None:
    with served(answer) as url, pytest.raises(FetchFailedError):
        Fetcher(loopback=True, limits=Limits(seconds=20, size=100)).fetch(url)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n", ok(b"{"), ok(b"{", length=9)])
def test_a_server_that_keeps_it_waiting_is_left(answer: bytes) -> None:
    with served(answer, keep_open=True) as url, pytest.raises(FetchFailedError):
        Fetcher(loopback=True, limits=Limits(seconds=0.2)).fetch(url)


def test_tls_proves_the_name_and_not_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context()
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    named: list[object] = []
    wrap = context.wrap_socket

    def wrap_socket(plain: socket.socket, **more: object) -> ssl.SSLSocket:
        named.append(more["server_hostname"])
        return wrap(plain, server_hostname=str(named[0]), do_handshake_on_connect=False)

    monkeypatch.setattr(context, "wrap_socket", wrap_socket)
    with served(b"HTTP/1.1 400 I speak no TLS\r\n\r\n") as url:
        port = url.rpartition(":")[2].partition("/")[0]
        fetcher = Fetcher(loopback=True, resolve=leads_to("127.0.0.1"), context=lambda: context)
        with pytest.raises(FetchFailedError, match=r"^idp\.example\.org "):
            fetcher.fetch(f"https://idp.example.org:{port}/keys")
    assert named == ["idp.example.org"]
