"""Sends a request to the API: credentials, retries, errors and pages.

Presigned storage URLs are never requested here, so the key is never sent to another host (see
vitrine.storage).
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import version
from threading import Lock
from typing import Final, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from vitrine.errors import (
    ConfigurationError,
    InvalidNameError,
    ProtocolError,
    UnreachableError,
    error_of,
)
from vitrine.quoting import quote_text
from vitrine.retry import Pauses, RetryPolicy, retry_after_seconds
from vitrine.wire import Body

Model = TypeVar("Model", bound=BaseModel)
Query = Mapping[str, str | int | bool | None]
Content = Body | Mapping[str, JsonValue]

USER_AGENT: Final = f"vitrine-client/{version('vitrine-client')}"
# The gateway responds within 30 seconds, at the latest with a timeout.
TIMEOUT: Final = httpx.Timeout(40.0, connect=5.0)

# Writes whose tokens a later search sends: headers have at most 10,240 bytes together.
_MOST_WRITES = 50
# Length of the sync tokens in one request. API Gateway limits all headers to 10,240 bytes.
_TOKEN_CHARS = 6_000
_SAFE_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_ROWS: TypeAdapter[list[JsonValue]] = TypeAdapter(list[JsonValue])


def path_of(*segments: str) -> str:
    """Return a URL path of segments, each quoted, so that an id cannot become two segments.

    Raises:
        InvalidNameError: a segment is `.` or `..`, which a URL resolves whatever its quoting, so
            that the request would name something else; or it is empty.
    """
    for segment in segments:
        if segment in {"", ".", ".."}:
            fact = f"must not be {quote_text(segment)}" if segment else "must not be empty"
            raise InvalidNameError(f"a name or a segment of a path {fact}")
    return "/" + "/".join(quote(segment, safe="") for segment in segments)


def authorization_of(api_key: str) -> str:
    """Return the header's value: API keys alone, anything else as a bearer token.

    Raises:
        ConfigurationError: it contains a character that no key or token has.
    """
    token = api_key.strip().removeprefix("Bearer ")
    # A line end would add a header to every request.
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigurationError("the API key contains invalid characters")
    return token if token.startswith("vams_") else f"Bearer {token}"


def parse(model: type[Model], response: httpx.Response) -> Model:
    """Parse the reply as a model.

    Raises:
        ProtocolError: the reply has another form.
    """
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        facts = "; ".join(
            f"{'.'.join(str(part) for part in fact['loc']) or 'body'}: {fact['msg']}"
            for fact in error.errors(include_input=False, include_url=False)
        )
        request = f"{response.request.method} {response.request.url.path}"
        raise ProtocolError(f"unexpected reply to {request}: {facts}") from error


class Writes:
    """The sync tokens of the last writes, for searches that wait for them."""

    def __init__(self) -> None:
        self._tokens: deque[str] = deque(maxlen=_MOST_WRITES)
        self._lock = Lock()

    def add(self, token: str) -> None:
        with self._lock:
            self._tokens.append(token)

    def record(self, response: httpx.Response) -> httpx.Response:
        """Return the response, after recording its token if it has one."""
        token = response.headers.get("X-Sync-Token")
        if token:
            self.add(token)
        return response

    def recent(self) -> tuple[str, ...]:
        """Return the newest tokens, as many as fit a header."""
        newest: list[str] = []
        with self._lock:
            tokens = tuple(self._tokens)
        for token in reversed(tokens):
            if sum(map(len, newest)) + len(token) > _TOKEN_CHARS:
                break
            newest.append(token)
        return tuple(newest)

    def remove(self, tokens: Collection[str]) -> None:
        """Remove tokens of writes that the indexes contain."""
        with self._lock:
            kept = [token for token in self._tokens if token not in tokens]
            self._tokens = deque(kept, maxlen=_MOST_WRITES)


class Transport:
    """Sends requests with the caller's credentials; safe to share between threads."""

    def __init__(
        self,
        api_url: str,
        api_key: str | None,
        *,
        http: httpx.BaseTransport | None = None,
        retry: RetryPolicy | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        if not api_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"the address must start with http:// or https://: {api_url}")
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        if api_key:
            headers["Authorization"] = authorization_of(api_key)
        self.api_url = api_url.rstrip("/")
        self.retry = retry or RetryPolicy()
        self._pauses = pauses or Pauses()
        # Shared by all threads: a search after an import waits for the writes of each.
        self.written = Writes()
        try:
            self._client = httpx.Client(
                base_url=self.api_url,
                headers=headers,
                timeout=TIMEOUT,
                # Only failures to connect, before anything was sent; the rest is the policy's.
                transport=http or httpx.HTTPTransport(retries=1),
                # Otherwise another host could get the credentials.
                follow_redirects=False,
            )
        except httpx.InvalidURL as error:
            raise ConfigurationError(f"{api_url} is not a valid URL: {error}") from error
        if not self._client.base_url.host:
            raise ConfigurationError(f"{api_url} is not a valid URL: it has no host")

    def close(self) -> None:
        self._client.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Content | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
        redirects: bool = False,
    ) -> httpx.Response:
        """Send a request and return the successful reply, or with `redirects` also a redirect.

        `repeatable` means that sending it twice does no harm; by default every method but POST.

        Raises:
            ApiError: the server rejected the request, after the attempts that the policy allows.
            UnreachableError: no response, after the same attempts.
        """
        fields = body.body() if isinstance(body, Body) else body
        request = self._client.build_request(
            method, path, params=_parameters(query), json=fields, headers=headers
        )
        # PUT and DELETE of this API have the same effect twice; POST may create a second object.
        again = method in _SAFE_METHODS if repeatable is None else repeatable
        attempt, began = 0, self._pauses.clock()
        while True:
            attempt += 1
            last = attempt >= self.retry.attempts
            try:
                response = self._client.send(request)
            except httpx.RequestError as error:
                if last or not self.retry.tries_error_again(error, repeatable=again):
                    raise UnreachableError(f"{self.api_url} does not respond: {error}") from error
                fact = f"{self.api_url} does not respond"
                self._pauses.wait(self.retry.delay(attempt), since=began, fact=fact)
                continue
            if response.is_success or (redirects and response.has_redirect_location):
                return self.written.record(response)
            error = error_of(response, retry_after=retry_after_seconds(response))
            if last or not self.retry.tries_status_again(
                error.status, error.code, repeatable=again
            ):
                raise error
            # The server knows how long its limit lasts, so its `Retry-After` comes first.
            delay = self.retry.delay(attempt, error.retry_after)
            fact = f"the server is busy (status {error.status})"
            self._pauses.wait(delay, since=began, fact=fact)

    def read(self, model: type[Model], path: str, *, query: Query | None = None) -> Model:
        """Send a GET and return a model."""
        return parse(model, self.send("GET", path, query=query))

    def write(
        self,
        model: type[Model],
        method: str,
        path: str,
        *,
        body: Content | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
    ) -> Model:
        """Send a write and return a model; `repeatable` as for `send`.

        A write with `If-Match` is not repeated after a broken connection.
        """
        if headers and "If-Match" in headers:
            # If a write whose connection broke was carried out, a second one would be refused as a
            # conflict with it.
            repeatable = False
        sent = self.send(method, path, body=body, headers=headers, repeatable=repeatable)
        return parse(model, sent)

    def pages(
        self,
        model: type[Model],
        path: str,
        *,
        items: str = "Items",
        within: str | None = None,
        query: Query | None = None,
        page_size: int | None = None,
    ) -> Iterator[Model]:
        """Yield every item of a listing, page after page, fetched as it is consumed.

        `within` names a field of the reply that contains the listing.

        Raises:
            ProtocolError: a page has another form, or a token is repeated.
        """
        seen: set[str] = set()
        token: str | None = None
        while True:
            # The token is bound to the query, so each page repeats it.
            parameters = {**(query or {}), "pageSize": page_size, "startingToken": token}
            response = self.send("GET", path, query=parameters)
            try:
                page = _OBJECT.validate_json(response.content)
                if within is not None:
                    page = _OBJECT.validate_python(page[within])
                rows = [model.model_validate(row) for row in _ROWS.validate_python(page[items])]
            except (KeyError, ValidationError) as error:
                raise ProtocolError(f"GET {path}: the reply has no valid list `{items}`") from error
            yield from rows
            following = page.get("NextToken")
            if not isinstance(following, str) or not following:
                return
            # A server that repeats a token would be listed for ever.
            if following in seen:
                raise ProtocolError(f"GET {path}: the server returned the same page token twice")
            seen.add(following)
            token = following


def _parameters(query: Query | None) -> dict[str, str]:
    """Return the query as text: without None, and with booleans as in JSON."""
    values = {name: value for name, value in (query or {}).items() if value is not None}
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
    }
