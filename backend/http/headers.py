"""The headers of requests and replies, as the OpenAPI document tells them.

Those that every reply has (its type, how long it is kept, what a browser must not do) are not told.
"""

from collections.abc import Mapping

from backend.core.written import AFTER_HEADER, WRITTEN_HEADER
from backend.http.router import IGNORED_HEADER, Binding

SYNC_TOKEN = (
    "What a write has changed in the search indexes: it answers with "
    f"{WRITTEN_HEADER}, and a search that has it as {AFTER_HEADER} waits until the indexes hold "
    "the write. Writes of folders or very many documents, and jobs, have none."
)
OF_REQUESTS = {
    "If-Match": "The ETag of what the caller has read; what was changed since stays as it is",
    "If-Modified-Since": "Asks for nothing that is not newer",
    "If-None-Match": "ETags that the caller has: of these contents nothing is asked for",
    "If-Range": "The ETag or time of what the caller has: a part is asked for of no other content",
    "Range": "The bytes that are asked for: one range of them",
    AFTER_HEADER: SYNC_TOKEN,
}
_OF_REPLIES = {
    "Accept-Ranges": "That parts may be asked for: `bytes`",
    "Content-Disposition": "The name of the file, and whether a browser may show it",
    "Content-Range": "Which bytes these are, of how many; of how many there are no such ones",
    "ETag": "Stands for what was told, until it is changed",
    IGNORED_HEADER: "Fields of the request that are none of this route, parted by commas",
    "Last-Modified": "When the version of the file was written",
    "Location": "Where the bytes are, for some minutes",
    "Retry-After": "Seconds after which to ask again",
    WRITTEN_HEADER: SYNC_TOKEN,
    "X-Amz-Version-Id": "The version of the file",
}
_BY_STATUS = {206: "Content-Range", 307: "Location", 416: "Content-Range", 429: "Retry-After"}
_AT_ANOTHER_ADDRESS, _FIRST_ERROR = 307, 400


def of_reply(binding: Binding, status: int) -> Mapping[str, str]:
    """The headers that a route's reply may have with this status, and what each says."""
    route = binding.route
    names = [_BY_STATUS[status]] if status in _BY_STATUS else []
    if status < _FIRST_ERROR and status != _AT_ANOTHER_ADDRESS:
        names += route.tells
        if route.touches:
            names.append(WRITTEN_HEADER)
        if "body" in binding.models and not route.ours:
            names.append(IGNORED_HEADER)
    return {name: _OF_REPLIES[name] for name in sorted(names)}
