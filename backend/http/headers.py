"""The headers of requests and replies in the OpenAPI document.

Headers that every reply has (`Content-Type`, `Cache-Control`, security headers) are left out.
"""

from collections.abc import Mapping

from backend.core.sync_tokens import AFTER_HEADER, WRITTEN_HEADER
from backend.http.router import IGNORED_HEADER, Binding

SYNC_TOKEN = (
    f"A write returns {WRITTEN_HEADER}. A search that sends this value as {AFTER_HEADER} waits "
    "until the search indexes contain the write. Writes of folders or very many documents, "
    "and jobs, return none."
)
OF_REQUESTS = {
    "If-Match": (
        "The ETag that the caller last read. If the resource has changed since, nothing is "
        "written and the reply is 412"
    ),
    "If-Modified-Since": "The reply is 304 if the content has not changed since this date",
    "If-None-Match": (
        "ETags that the caller holds. The reply is 304 if the content still matches one of them"
    ),
    "If-Range": (
        "The ETag or date that the caller holds. The range is returned only if it still "
        "matches; otherwise the whole content is returned"
    ),
    "Range": "One byte range to return, such as `bytes=0-1023`",
    AFTER_HEADER: SYNC_TOKEN,
}
_OF_REPLIES = {
    "Accept-Ranges": "`bytes`: range requests are supported",
    "Content-Disposition": (
        "The file name, and whether a browser may display the file (`inline`) or must save it "
        "(`attachment`)"
    ),
    "Content-Range": (
        "The byte range returned, and the total size; in a 416 reply, the total size only"
    ),
    "ETag": "Version identifier of the representation",
    IGNORED_HEADER: "Comma-separated names of request fields that this route does not use",
    "Last-Modified": "When this version of the file was written",
    "Location": "Presigned URL of the content; it expires after some minutes",
    "Retry-After": "Seconds to wait before sending the request again",
    "Set-Cookie": "The cookie of the session, or its removal, for the page of the deployment",
    WRITTEN_HEADER: SYNC_TOKEN,
    "X-Amz-Version-Id": "The id of the file version returned",
}
_BY_STATUS = {
    206: "Content-Range",
    303: "Location",
    307: "Location",
    416: "Content-Range",
    429: "Retry-After",
}
_AT_ANOTHER_ADDRESS, _FIRST_ERROR = (303, 307), 400


def of_reply(binding: Binding, status: int) -> Mapping[str, str]:
    """Return the headers that a route's reply may have with this status, with descriptions."""
    route = binding.route
    names = [_BY_STATUS[status]] if status in _BY_STATUS else []
    if status < _FIRST_ERROR and status not in _AT_ANOTHER_ADDRESS:
        names += route.response_headers
        if route.writes_documents:
            names.append(WRITTEN_HEADER)
        if "body" in binding.models and not route.ours:
            names.append(IGNORED_HEADER)
    return {name: _OF_REPLIES[name] for name in sorted(names)}
