"""Implements the port `core.remote_json.RemoteJson` over HTTPS.

A URL comes from the settings or from the provider's discovery document. That document may not make
this function send requests into the deployment's own network.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.util import Url, parse_url

from backend.core.addresses import is_local, is_public
from backend.core.errors import UnavailableError
from backend.spec.versions import PRODUCT_VERSION

# A set of keys has some kilobytes; another host, which the provider names, may send any amount
# (decision 32).
MAX_BYTES = 256 * 1024
SECONDS = 3.0  # for one document: the authorizer needs at most two, and has ten seconds
_HEADERS = {"Accept": "application/json", "User-Agent": f"vitrine/{PRODUCT_VERSION}"}


def addresses_of(host: str) -> list[str]:
    """Return the addresses of a host name. IPv6 literals may have brackets."""
    addresses = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in addresses]


@dataclass(eq=False, repr=False)
class HttpRemoteJson:
    """Fetches documents of the provider whose address the settings have, without redirects."""

    issuer: str
    seconds: float = SECONDS
    resolve: Callable[[str], list[str]] = addresses_of

    def read(self, url: str) -> bytes:
        try:
            target = parse_url(url)
            self._require_allowed(target, url)
            return self._read(target)
        except (HTTPError, OSError, UnicodeError) as error:
            # The text of a library's error may name addresses: its kind is enough.
            raise UnavailableError(f"{url} does not respond: {type(error).__name__}") from error

    def _require_allowed(self, target: Url, url: str) -> None:
        if not target.host or target.auth is not None:
            raise UnavailableError(f"{url} is not requested: it must have a host and no user name")
        if target.scheme != "https" and not (is_local(url) and is_local(self.issuer)):
            raise UnavailableError(f"{url} is not requested: only https is supported")
        issuer = parse_url(self.issuer).host or ""
        # The operator chose the issuer's host. Another one may be private only where that one is.
        if target.host != issuer and self._is_private(target.host) and not self._is_private(issuer):
            raise UnavailableError(
                f"{url} is not requested: {target.host} is not on the public internet"
            )

    def _is_private(self, host: str) -> bool:
        return not all(map(is_public, self.resolve(host)))

    def _read(self, target: Url) -> bytes:
        end, body = monotonic() + self.seconds, b""
        with (
            urllib3.PoolManager(retries=False, timeout=self.seconds) as pool,
            pool.request(
                "GET", target.url, headers=_HEADERS, redirect=False, preload_content=False
            ) as response,
        ):
            if response.status != 200:
                raise UnavailableError(
                    f"{target.host} returned status {response.status}; redirects are not followed"
                )
            # Parts as they arrive: the library's time limit is for each one.
            while part := response.read1(MAX_BYTES + 1 - len(body), decode_content=False):
                body += part
                if len(body) > MAX_BYTES:
                    raise UnavailableError(f"{target.host} returned more than {MAX_BYTES} bytes")
                if monotonic() > end:
                    raise UnavailableError(f"{target.host} took more than {self.seconds} seconds")
        return body
