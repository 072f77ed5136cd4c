"""Explanations of permissions."""

from vitrine.api_models import DecidingRule as DecidingRule
from vitrine.api_models import Decision as Decision
from vitrine.api_models import Explanation as Explanation
from vitrine.resources.resource import Resource
from vitrine.transport import path_of


class Explanations(Resource):
    """For administrators."""

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
