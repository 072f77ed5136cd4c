"""Fetches a document from a URL that the product did not choose itself, from public addresses only.

The host name is resolved first, all its addresses must be public, and the connection goes to the
checked address, so a name that resolves to another address a moment later has no effect. TLS still
verifies the name. Redirects are not followed, proxies of the environment are ignored, and time and
size are limited. For small documents, such as the keys of an identity provider.
"""

import socket
import ssl
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Event, Timer
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from backend.core.addresses import is_loopback, is_public
from backend.core.errors import InvalidInputError, UnavailableError
from backend.spec.versions import PRODUCT_VERSION
from backend.values import frozen

Resolve = Callable[[str, int], list[str]]
_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))


class ForbiddenUrlError(InvalidInputError):
    """The URL is not allowed; the message gives the reason."""

    code = "ForbiddenUrl"


class FetchFailedError(UnavailableError):
    """The connection failed, or the response was not a 200, too large or too slow."""


class Limits(NamedTuple):
    """Limits of a download. `seconds` covers everything after name resolution and connecting."""

    seconds: float = 3.0
    size: int = 512 * 1024


_LIMITS = Limits()


def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host name, or the address itself in normal form.

    Raises:
        FetchFailedError: the name has no address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchFailedError(f"{host} cannot be resolved to an address") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@frozen
class Fetcher:
    """Fetches documents.

    `loopback` also allows `http` and `https` to this machine, for local runtimes.
    """

    loopback: bool = False
    limits: Limits = _LIMITS
    resolve: Resolve = addresses_of
    context: Callable[[], ssl.SSLContext] = ssl.create_default_context

    def fetch(self, url: str) -> bytes:
        """Return the body of a successful GET.

        Raises:
            FetchFailedError: the server returned no document; a later attempt may succeed.
            ForbiddenUrlError: the URL is not https, or leads to an address that is not public.
        """
        parts = _parts(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
        address = self._address(parts, port)
        host = parts.hostname or ""
        connection: HTTPConnection
        if parts.scheme == "https":
            connection = _CheckedHttps(host, port, address, self.limits.seconds, self.context())
        else:
            connection = _CheckedHttp(host, port, address, self.limits.seconds)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            return self._body(connection, target)
        except (OSError, HTTPException, ValueError) as error:
            # ValueError: reading continues after the time-out, when the connection is already
            # closed.
            raise FetchFailedError(f"{host} does not respond: {type(error).__name__}") from error
        finally:
            connection.close()

    def _address(self, parts: SplitResult, port: int) -> str:
        """Return the address to connect to, if all addresses of the name are allowed."""
        host = parts.hostname or ""
        found = self.resolve(host, port)
        if not found:
            raise FetchFailedError(f"{host} cannot be resolved to an address")
        if self.loopback and all(is_loopback(address) for address in found):
            return found[0]
        if parts.scheme != "https":
            raise ForbiddenUrlError(f"{host}: only https is supported")
        if not all(is_public(address) for address in found):
            raise ForbiddenUrlError(f"{host} is not on the public internet")
        return found[0]

    def _body(self, connection: HTTPConnection, target: str) -> bytes:
        agent = f"vitrine/{PRODUCT_VERSION}"
        headers = {"Accept": "application/json", "User-Agent": agent, "Connection": "close"}
        is_over = Event()
        # A server that sends a byte now and then would never exceed the time-out of one read.
        timer = Timer(self.limits.seconds, _end, [connection, is_over])
        timer.daemon = True
        connection.connect()
        timer.start()
        try:
            if isinstance(connection, _CheckedHttps):
                connection.shake_hands()
            connection.request("GET", target, headers=headers)
            body = self._read(connection.getresponse())
        finally:
            timer.cancel()
        if is_over.is_set():  # a body without a length ends with the connection
            raise TimeoutError
        return body

    def _read(self, response: HTTPResponse) -> bytes:
        if response.status != 200:
            raise FetchFailedError(
                f"the response status was {response.status}; redirects are not followed"
            )
        body = response.read(self.limits.size + 1)
        if len(body) > self.limits.size:
            raise FetchFailedError(f"the response has more than {self.limits.size} bytes")
        if response.length:
            raise FetchFailedError("the response ended early")
        return body


class _CheckedHttp(HTTPConnection):
    """Connects to a checked address, and sends the name of the host to the server."""

    def __init__(self, host: str, port: int, address: str, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)


class _CheckedHttps(HTTPSConnection):
    def __init__(
        self, host: str, port: int, address: str, seconds: float, context: ssl.SSLContext
    ) -> None:
        super().__init__(host, port, timeout=seconds, context=context)
        self._address = address
        self._tls = context

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), self.timeout)
        self._secured = self._tls.wrap_socket(
            plain, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.sock = self._secured

    def shake_hands(self) -> None:
        """Verify the server's certificate; nothing was sent before."""
        self._secured.do_handshake()


def _end(connection: HTTPConnection, is_over: Event) -> None:
    """Close the connection, even while it is being read."""
    is_over.set()
    try:
        connection.sock.shutdown(socket.SHUT_RDWR)
    except (OSError, AttributeError):  # already closed
        return


def _parts(url: str) -> SplitResult:
    """Split a URL. It must name a host, and contain no password and no unusual characters."""
    if not _PRINTABLE.issuperset(url) or "\\" in url:
        raise ForbiddenUrlError("The URL contains invalid characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenUrlError(f"The URL is invalid: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise ForbiddenUrlError("The URL must begin with https:// and name a host")
    if "@" in parts.netloc:
        raise ForbiddenUrlError("The URL must not contain a user name")
    if "%" in parts.netloc:
        raise ForbiddenUrlError("The host of the URL must not be percent-encoded")
    return parts
