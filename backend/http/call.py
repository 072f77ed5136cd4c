"""One request as the routes of a slice receive it: caller, headers, and page."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.models import PageQuery
from backend.core.page_tokens import POSITION_BYTES, PageTokens
from backend.core.paging import PageRequest, Position
from backend.spec.routes import Route
from backend.values import frozen

Enter = Callable[["Call", tuple[Route, ...]], AbstractContextManager[None]]

# `basic` selects the fields of each item, not the items of the list. VAMS clients omit it from the
# second page on.
_PAGING = frozenset({"maxItems", "pageSize", "startingToken", "basic"})
_REVISION = re.compile(r"[0-9]{1,18}")  # Python refuses to read thousands of digits


@frozen
class Call:
    """A request whose caller is known and may use the route.

    `path`, `query` and `headers` are as sent (header names in lower case); bodies are passed to
    endpoints as models.
    """

    route: Route
    caller: Identity
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    tokens: PageTokens
    enter: Enter

    def part(self, path: Mapping[str, str], *used: Route) -> AbstractContextManager[None]:
        """Do a part of the request as a request to other routes: checked and recorded like one.

        `used` are some of the `parts` of the route.

        Raises:
            RouteDeniedError: the caller may not use one of these routes with this path.
        """
        return self.enter(replace(self, path=path), used)

    def page(self, query: PageQuery) -> PageRequest:
        """Return the requested page.

        Raises:
            InvalidInputError: the token was not issued by this list to this caller.
        """
        if query.starting_token is None:
            return PageRequest(query.limit)
        return PageRequest(query.limit, self.tokens.read(query.starting_token, scope=self._scope))

    def next_token(self, position: Position | None) -> str | None:
        """Return the token for the page after a position; None after the last page."""
        if position is None:
            return None
        return self.tokens.issue(position, scope=self._scope, size=POSITION_BYTES)

    @property
    def expected_revision(self) -> int | None:
        """Return the revision in `If-Match`, if the caller sent one; `*` means any.

        Raises:
            InvalidInputError: the header is not an ETag of this API.
        """
        sent = self.headers.get("if-match")
        if sent is None or sent.strip() == "*":
            return None
        text = sent.strip().removeprefix("W/").strip('"')
        if not _REVISION.fullmatch(text):
            raise InvalidInputError.of("If-Match", "is not an ETag of this resource")
        return int(text)

    @property
    def _scope(self) -> str:
        filters = {name: value for name, value in self.query.items() if name not in _PAGING}
        return json.dumps([self.caller.user_id, self.route.key, dict(self.path), filters])
