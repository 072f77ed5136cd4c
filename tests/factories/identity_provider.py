"""An identity provider on this machine: it publishes its keys over HTTP and signs tokens.

Tokens are signed by another library than the one that verifies them. Tokens that no library creates
are signed byte by byte.
"""

import base64
import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Literal

from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jwk, jwt
from joserfc.jwk import KeyParameters

Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey
CLIENT = "vitrine-client"


@cache
def key(kind: Literal["RSA", "EC", "OKP"] = "RSA", name: str = "first", size: Any = 2048) -> Key:
    """A key of a provider, the same for the same name, because creating one takes long."""
    parameters: KeyParameters = {"kid": name, "use": "sig"}
    if kind == "RSA":
        return jwk.RSAKey.generate_key(size, parameters)
    if kind == "EC":
        return jwk.ECKey.generate_key(size, parameters)
    return jwk.OKPKey.generate_key(size, parameters)


def encoded(part: bytes | str | dict[str, Any]) -> str:
    """A part of a token."""
    if isinstance(part, dict):
        part = json.dumps(part)
    raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: bytes | str | dict[str, Any], payload: Any, by: jwk.RSAKey) -> str:
    """Sign any content as RS256 does."""
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    text = f"{encoded(header)}.{encoded(payload)}"
    private = by.private_key
    assert isinstance(private, RSAPrivateKey)
    return f"{text}.{encoded(private.sign(text.encode(), PKCS1v15(), SHA256()))}"


@dataclass
class Provider:
    """The documents of the provider; `requested` are the paths of the requests."""

    url: str = ""
    keys: list[Key] = field(default_factory=lambda: [key()])
    requested: list[str] = field(default_factory=list[str])
    down: bool = False
    documents: dict[str, Any] = field(default_factory=dict[str, Any])
    """Returned instead of the correct document, by path: a value, or bytes unchanged."""

    def document(self, path: str) -> Any:
        if path in self.documents:
            return self.documents[path]
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
            }
        if path == "/keys":
            return {"keys": [item.as_dict(private=False) for item in self.keys]}
        return None

    def claims(self, at: float | None = None, **changes: Any) -> dict[str, Any]:
        """The claims of a token that is valid for an hour; a change to `...` omits a claim."""
        now = int(time.time() if at is None else at)
        claims = {
            "iss": self.url,
            "sub": "ann",
            "aud": CLIENT,
            "iat": now,
            "exp": now + 3600,
            "email": "ann@example.org",
            "email_verified": True,
        }
        return {name: value for name, value in (claims | changes).items() if value is not ...}

    def token(
        self,
        *,
        at: float | None = None,
        by: Key | None = None,
        algorithm: str = "RS256",
        **changes: Any,
    ) -> str:
        """A token as issued by the provider."""
        signing = by or self.keys[0]
        header = {"alg": algorithm, "kid": signing.kid, "typ": "JWT"}
        return jwt.encode(header, self.claims(at, **changes), signing, algorithms=[algorithm])


def address(port: int) -> str:
    """The address of a provider on this port."""
    return f"http://127.0.0.1:{port}"


@contextmanager
def identity_provider(port: int = 0) -> Generator[Provider]:
    """A provider that serves while the context is open, on a free port unless one is given."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.requested.append(self.path)
            document = provider.document(self.path)
            if document is None or provider.down:
                self.send_error(503 if provider.down else 404)
                return
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    provider.url = address(server.server_port)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
