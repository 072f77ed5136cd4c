"""Explains a user's permissions to administrators, with the deciding rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.authorization import Authorization, Secured, require
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.domains.access.models.explanations import (
    DecidingRule,
    Decision,
    ExplainQuery,
    ExplainReply,
)
from backend.domains.access.models.stored_roles import ADMIN_ROLE
from backend.domains.access.policy.explain import Verdict, explain
from backend.domains.access.policy.model import FIELDS_OF, Fields, Rule
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.rules.routes import FoundRoute, find_route
from backend.domains.access.service.decisions import (
    is_allowed_without_rule,
    method_action,
    parsed_rules,
    route_fields,
)
from backend.spec.routes.model import Method, Route

FindAsset = Callable[[str, str], Fields | None]
"""Returns the fields of an asset for rules, by database id and asset id, archived or not. None if
it does not exist."""


class _Granted(NamedTuple):
    rules: Mapping[str, list[Rule]]
    is_administrator: bool


@dataclass(eq=False, repr=False)
class ExplainService:
    """Reads the rules again, so the reply applies in every process after two seconds."""

    policies: PolicyRepository
    authorization: Authorization
    find_asset: FindAsset

    def explain_access(self, caller: Identity, query: ExplainQuery) -> ExplainReply:
        """Return the decisions on the object for the user, and on the route if one is named.

        Raises:
            InvalidInputError: the route or the asset does not exist.
            PermissionDeniedError: the caller is not an administrator.
        """
        require(self.authorization, caller, "GET", Secured("constraint"))
        method: Method | None = query.method or query.action
        route = None
        if query.route is not None and method is not None and query.object_type != "web":
            route = find_route(method, query.route)
            if route is None:
                raise InvalidInputError.of("route", f"route {method} {query.route} does not exist")
        granted = self.policies.granted(query.user_id, mfa=query.mfa)
        rights = _Granted(
            {key: list(parsed_rules([rules])) for key, rules in granted.rules.items()},
            ADMIN_ROLE in granted.roles,
        )
        return ExplainReply(
            user_id=query.user_id,
            roles=sorted(granted.roles),
            tier1=None if route is None else _of_route(rights, route, query),
            tier2=self._of_object(rights, route, query),
        )

    def _of_object(
        self, granted: _Granted, match: FoundRoute | None, query: ExplainQuery
    ) -> Decision | None:
        route = None if match is None else match.route
        action = query.action or (route.action if route is not None else None)
        object_type = query.object_type or (route.object_type if route is not None else None)
        if action is None or object_type is None or object_type == "none":
            return None
        owner = {"userId": query.of_user_id or query.user_id}
        open_to_user = is_allowed_without_rule(query.user_id, action, object_type, owner)
        if object_type not in FIELDS_OF:
            return _without_rules(allowed=granted.is_administrator or open_to_user)
        fields = self._fields(query, object_type, {} if match is None else match.parameters)
        verdict = explain(granted.rules, action, object_type, fields)
        if open_to_user and not verdict.by:
            return _without_rules(allowed=True)
        return _decision_of(verdict)

    def _fields(
        self, query: ExplainQuery, object_type: str, parameters: Mapping[str, str]
    ) -> Fields:
        """Merge the object's fields: the query overrides the asset, which overrides the path."""
        said = {name: parameters[name] for name in FIELDS_OF[object_type] if name in parameters}
        fields = {**said, **query.object_fields(object_type)}
        asset_id = query.asset_id or parameters.get("assetId")
        database_id = query.database_id or parameters.get("databaseId")
        if object_type != "asset" or asset_id is None or database_id is None:
            return fields
        asset = self.find_asset(database_id, asset_id)
        if asset is None:
            raise InvalidInputError.of("assetId", f"database {database_id} has no asset {asset_id}")
        return {**asset, **fields}


def _of_route(granted: _Granted, match: FoundRoute, query: ExplainQuery) -> Decision:
    route = match.route
    if route.public or route.open_to_users:
        return _without_rules(allowed=True)
    if route.object_type == "constraint" and granted.is_administrator:
        return _without_rules(allowed=True)
    known = {"databaseId": query.database_id, "assetId": query.asset_id}
    path = {name: value for name, value in known.items() if value is not None}

    def decision_on(route: Route) -> Decision:
        fields = route_fields(route, {**path, **match.parameters})
        return _decision_of(explain(granted.rules, method_action(route), "api", fields))

    others = [decision_on(other) for other in route.also_one_of]
    if others and all(other.decision == "deny" for other in others):
        return others[0]
    return decision_on(route)


def _without_rules(*, allowed: bool) -> Decision:
    return Decision(decision="allow" if allowed else "deny", by=[])


def _decision_of(verdict: Verdict) -> Decision:
    return Decision(
        decision="allow" if verdict.allowed else "deny",
        by=[
            DecidingRule(constraint_id=rule.constraint_id, given_to=rule.grantee)
            for rule in verdict.by
        ],
    )
