"""Explanations of permissions."""

from typing import Literal

from vitrine.models import Wire
from vitrine.transport import Transport, path_of


class DecidingRule(Wire):
    """A constraint that decides, and the `role#…` or `user#…` that has it."""

    constraint_id: str
    given_to: str


class Decision(Wire):
    """`by` is empty if no rule allows the action, and if it is allowed without a rule."""

    decision: Literal["allow", "deny"]
    by: list[DecidingRule] = []


class Explanation(Wire):
    """`tier1` is the decision on the route, if one was named, `tier2` that on the object."""

    user_id: str
    roles: list[str] = []
    tier2: Decision | None = None
    tier1: Decision | None = None


class Explanations:
    """For administrators."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def explain(self, user_id: str, action: str, object_type: str, **fields: str) -> Explanation:
        """Explain the permissions of a user on an object with these fields, named as in the API.

        `assetId` adds the fields of that asset, `route` (and `method`) name a route to explain too,
        `mfa="true"` assumes a second factor.
        """
        query = {"userId": user_id, "action": action, "objectType": object_type, **fields}
        return self._transport.read(Explanation, path_of("auth", "explain"), query=query)

    def explain_request(self, user_id: str, method: str, path: str, **fields: str) -> Explanation:
        """Explain a request of a user, with the asset in its path.

        Raises InvalidInputError if the route or asset does not exist.
        """
        query = {"userId": user_id, "method": method, "route": path, **fields}
        return self._transport.read(Explanation, path_of("auth", "explain"), query=query)
