"""Serves the page under `/ui/` beside the API, with headers that isolate it from other origins.

All other paths go to the API. The page consists of static files; unknown paths below `/ui/` are
addresses within the page and return its document.
"""

import gzip
import mimetypes
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from local.edge import SESSION_PATH, Edge
from local.links import Links
from web_page import Page, policy_of

_UI = "/ui/"
_ONCE = _UI + "once"
# The prefix of the page's asset addresses. Asset ids may contain dots; other addresses of the page
# do not.
_OF_ASSETS = "databases/"
# The body with a secret of `local.links`; more is refused before it is parsed.
_MOST_SECRET = 1000
_YEAR = "public, max-age=31536000, immutable"
_COMPRESSED = frozenset({".js", ".css", ".html", ".svg", ".json", ".wasm"})
# The policy names the provider's origins, which a new deployment may change.
_CONFIG_SECONDS = 60
_PROVIDER = (
    "externalOAuthIdpURL",
    "externalOAuthIdpTokenEndpoint",
    "externalOAuthIdpAuthorizationEndpoint",
    "externalOAuthIdpDiscoveryEndpoint",
)
_CONFIGURATION = TypeAdapter(dict[str, object])
_SECRET = TypeAdapter(dict[str, str])

mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("application/wasm", ".wasm")


@dataclass(frozen=True)
class Surroundings:
    """Parts of the deployment that the page uses.

    `buckets` are the origins of presigned URLs; `key` returns the administrator's key,
    `configuration` the configuration for clients.
    """

    edge: Edge
    buckets: tuple[str, ...]
    key: Callable[[], str]
    configuration: Callable[[], Awaitable[bytes]]

    @property
    def origin(self) -> str:
        return self.edge.origin


class Site:
    """The page, and the API for everything else (ASGI)."""

    def __init__(self, api: ASGIApp, page: Page, links: Links, around: Surroundings) -> None:
        """Store the files, the API and the parts that the page uses."""
        self._api = api
        self._page = page
        self._links = links
        self._around = around
        self._files: dict[Path, tuple[bytes, bytes]] = {}
        self._policy: tuple[float, str] = (0.0, "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        path: str = scope.get("path", "")
        if scope["type"] == "http" and (path == "/ui" or path.startswith(_UI)):
            response = await self._ui(Request(scope, receive), path, send)
        elif (
            scope["type"] == "http"
            and path == "/"
            and scope["method"] in {"GET", "HEAD"}
            and "text/html" in Headers(scope=scope).get("accept", "")
        ):
            response = RedirectResponse(_UI, 302)
        elif scope["type"] == "http":
            await self._forward(scope, receive, send)
            return
        else:
            await self._api(scope, receive, send)
            return
        if response is not None:
            await response(scope, receive, send)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a request to the API as the edge of a deployment would, and return the reply."""
        edge, headers = self._around.edge, Headers(scope=scope).items()
        viewer = (scope.get("client") or ("127.0.0.1",))[0]
        forwarded = edge.forwarded(scope["method"], scope["path"], headers, viewer)
        if forwarded is None:
            await _refused(401, "Unauthorized")(scope, receive, send)
            return

        async def send_renamed(message: Message) -> None:
            for name, value in Headers(raw=message.get("headers", [])).items():
                if name == "set-cookie":
                    MutableHeaders(raw=message["headers"])[name] = edge.renamed(value, headers)
            await send(message)

        sent = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in forwarded]
        await self._api({**scope, "headers": sent}, receive, send_renamed)

    async def _ui(self, request: Request, path: str, send: Send) -> Response | None:
        if path == _ONCE:
            return await self._exchange(request, send)
        if request.method not in {"GET", "HEAD"}:
            return JSONResponse({"message": "Method Not Allowed"}, 405, {"allow": "GET, HEAD"})
        if request.headers.get("host") != urlsplit(self._around.origin).netloc:
            # The tab's storage and the CORS rules of the buckets are those of one host name.
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{self._around.origin}{request.url.path}{query}", 307)
        if path == "/ui":
            return RedirectResponse(_UI, 308)
        if self._page.folder is None:
            return PlainTextResponse(
                f"{self._page.missing}. The API and the command line work without it.\n", 503
            )
        return await self._file(request, self._page.folder, path.removeprefix(_UI))

    async def _file(self, request: Request, folder: Path, name: str) -> Response:
        file = _found(folder, name)
        if file is None:
            return PlainTextResponse("Not Found\n", 404, await self._headers())
        headers = await self._headers()
        fixed = name.startswith("assets/")  # their names contain a hash of their content
        headers["cache-control"] = _YEAR if fixed else "no-cache"
        plain, packed = self._content(file)
        content = plain
        if packed and "gzip" in request.headers.get("accept-encoding", ""):
            content = packed
            headers["content-encoding"] = "gzip"
        headers["vary"] = "Accept-Encoding"
        if not fixed:
            headers["set-cookie"] = self._around.edge.trial_cookie
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return Response(content, 200, headers, kind)

    def _content(self, file: Path) -> tuple[bytes, bytes]:
        if file not in self._files:
            plain = file.read_bytes()
            packed = gzip.compress(plain, 9, mtime=0) if file.suffix in _COMPRESSED else b""
            self._files[file] = plain, packed
        return self._files[file]

    async def _headers(self) -> dict[str, str]:
        until, policy = self._policy
        if until < time.monotonic():
            policy = policy_of(self._around.buckets, await self._provider())
            self._policy = time.monotonic() + _CONFIG_SECONDS, policy
        return {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            "cross-origin-opener-policy": "same-origin-allow-popups",
        }

    async def _provider(self) -> set[str]:
        """Return the origins of the sign-in provider; empty while they are not known."""
        try:
            configuration = _CONFIGURATION.validate_json(await self._around.configuration())
        except ValidationError:
            return set()
        urls = (configuration.get(name) for name in _PROVIDER)
        return {origin for url in urls if isinstance(url, str) and (origin := _origin_of(url))}

    async def _exchange(self, request: Request, send: Send) -> Response | None:
        """Begin a session of the administrator for the secret of an unused link.

        The API has sent the reply if this returns None.
        """
        own = self._around.origin
        headers = request.headers
        if headers.get("host") != urlsplit(own).netloc or headers.get("origin") != own:
            return _refused(403, "Origin and Host must be those of the page")
        if request.method != "POST":
            return _refused(405, "Method Not Allowed")
        secret = await _secret_of(request)
        if secret is None:
            return _refused(400, "secret: must be a text")
        if not self._links.use(secret):
            return _refused(403, "The link was used before, or has expired")
        sent = [header for header in request.scope["headers"] if header[0] in {b"host", b"cookie"}]
        authorization = (b"authorization", self._around.key().encode("latin-1"))
        path = {"path": SESSION_PATH, "raw_path": SESSION_PATH.encode(), "query_string": b""}
        scope = {**request.scope, **path, "headers": [*sent, authorization]}

        async def no_body() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        await self._forward(scope, no_body, send)
        return None


def _origin_of(url: str) -> str | None:
    """Return the origin of a URL; None if it could change the policy."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    host = parts.hostname or ""
    plain = host and all(character.isalnum() or character in "-." for character in host)
    return f"{parts.scheme}://{host}{port}" if plain and parts.scheme in {"https", "http"} else None


def _found(folder: Path, name: str) -> Path | None:
    """Return the file of a path below `/ui/`: the page's document for its own addresses."""
    if "\0" not in name:
        # Resolved, so that no path leads out of the folder.
        file = (folder / (name or "index.html")).resolve()
        if file.is_relative_to(folder.resolve()) and file.is_file():
            return file
    is_file_name = "." in name.rsplit("/", 1)[-1] and not name.startswith(_OF_ASSETS)
    if is_file_name or name.startswith(("assets/", "decoders/")):
        return None
    return folder / "index.html"


async def _secret_of(request: Request) -> str | None:
    """Return the secret in the body; None if the body is not valid."""
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > _MOST_SECRET:
                return None
        return _SECRET.validate_json(body)["secret"]
    except (ClientDisconnect, KeyError, ValidationError):
        return None


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"message": message}, status, {"cache-control": "no-store"})
