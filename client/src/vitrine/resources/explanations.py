"""Why somebody may, or may not, do something."""

from typing import Literal

from vitrine.models import Wire
from vitrine.transport import Transport, path_of


class DecidingRule(Wire):
    """A constraint that decides, and the `role#…` or `user#…` that was given it."""

    constraint_id: str
    given_to: str


class Decision(Wire):
    """`by` is empty where nothing allows it, and where it is allowed without a rule."""

    decision: Literal["allow", "deny"]
    by: list[DecidingRule] = []


class Explanation(Wire):
    """`tier1` is of the route, if one was named, `tier2` of the object."""

    user_id: str
    roles: list[str] = []
    tier2: Decision | None = None
    tier1: Decision | None = None


class Explanations:
    """For administrators."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def explain(self, user_id: str, action: str, object_type: str, **fields: str) -> Explanation:
        """What is decided about a user and an object of these fields, by their names in the API.

        `assetId` stands for the fields of that asset, `route` (and `method`) name a route to
        explain too, `mfa="true"` says that there was a second factor.
        """
        query = {"userId": user_id, "action": action, "objectType": object_type, **fields}
        return self._transport.read(Explanation, path_of("auth", "explain"), query=query)

    def explain_request(self, user_id: str, method: str, path: str, **fields: str) -> Explanation:
        """What is decided about a request of a user, with the asset that its path names.

        Raises InvalidInputError where there is no such route or asset.
        """
        query = {"userId": user_id, "method": method, "route": path, **fields}
        return self._transport.read(Explanation, path_of("auth", "explain"), query=query)
