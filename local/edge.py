"""The rule of CloudFront for requests to the API, for the local gateway (decision 85).

`infra/edge/viewer_request.js` is the same rule at CloudFront; tests hold both against one table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

# Of backend/spec/page.py, which this package does not import; the table compares them.
SESSION_PATH = "/auth/session"
_COOKIE, _HEADER, _ID = "__Host-vitrine", "x-vitrine-session", slice(5, 41)
_OURS = (_COOKIE, _COOKIE.removeprefix("__Host-"))
_PROOF, _VIEWER = "x-vitrine-edge", "x-vitrine-viewer-address"
PROOF_SECRET = "SECRET_PageEdgeKey"

Headers = Sequence[tuple[str, str]]
_REPLACED = frozenset({"cookie", _PROOF, _VIEWER})


@dataclass(frozen=True)
class Edge:
    """The edge of the gateway at `origin`; `key` proves to functions that it sent a request.

    Cookies ignore ports, so its cookie is named by the port. A browser that keeps no cookie with
    the prefix `__Host-` of an http address does not send `trial` back, and gets `plain`.
    """

    origin: str
    key: str

    @property
    def cookie(self) -> str:
        return f"{_COOKIE}-{urlsplit(self.origin).port}"

    @property
    def plain(self) -> str:
        return self.cookie.removeprefix("__Host-")

    @property
    def trial(self) -> str:
        return f"{self.cookie}-trial"

    @property
    def trial_cookie(self) -> str:
        return f"{self.trial}=1; Path=/; HttpOnly; Secure; SameSite=Strict"

    def forwarded(self, method: str, path: str, headers: Headers, viewer: str) -> Headers | None:
        """Return the headers of a request at the API; None if the request is refused with 401."""
        cookies = list(_cookies(headers))
        # Those of other local runtimes too: cookies ignore ports.
        others = [f"{name}={text}" for name, text in cookies if not name.startswith(_OURS)]
        kept = [
            *(header for header in headers if header[0] not in _REPLACED),
            *([("cookie", "; ".join(others))] if others else ()),
            (_PROOF, self.key),
            (_VIEWER, viewer),
        ]
        texts = [value for name, value in cookies if name == self.cookie]
        texts = texts or [value for name, value in cookies if name == self.plain]
        if not texts or (method == "POST" and path.removeprefix("/api") == SESSION_PATH):
            return kept
        if _values(headers, "authorization"):
            return None
        believed = _values(headers, _HEADER)
        is_own = (
            _values(headers, "host") == [urlsplit(self.origin).netloc]
            and set(_values(headers, "origin")) <= {self.origin}
            and set(_values(headers, "sec-fetch-site")) <= {"same-origin"}
        )
        if not believed or not is_own:
            return kept
        if [text[_ID] for text in texts] != believed:
            return None
        return [*kept, ("authorization", f"Bearer {texts[0]}")]

    def renamed(self, cookie: str, headers: Headers) -> str:
        """Return the `Set-Cookie` of a function with the name for the browser of a request."""
        name, _, rest = cookie.partition("=")
        if name != _COOKIE:
            return cookie
        sent = {name for name, _ in _cookies(headers)}
        if sent & {self.cookie, self.trial}:
            return f"{self.cookie}={rest}"
        return f"{self.plain}={rest}".replace("; Secure", "")


def _values(headers: Headers, name: str) -> list[str]:
    return [value for key, value in headers if key == name]


def _cookies(headers: Headers) -> Iterable[tuple[str, str]]:
    for value in _values(headers, "cookie"):
        for part in value.split(";"):
            name, _, text = part.strip().partition("=")
            yield name, text
