"""Tells administrators what is decided about a user, and by which rules."""

from backend.core.authorization import Authorization, Secured, require
from backend.core.identity import Identity
from backend.core.wired import wired
from backend.domains.access.models.explanations import (
    DecidingRule,
    Decision,
    ExplainQuery,
    ExplainReply,
)
from backend.domains.access.policy.explain import Verdict, explain
from backend.domains.access.policy.model import ROUTE_PATH
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.deciding import readable


@wired
class ExplainService:
    """Reads the rules anew: what it tells holds now, in every process after two seconds."""

    policies: PolicyRepository
    authorization: Authorization

    def explain_access(self, caller: Identity, asked: ExplainQuery) -> ExplainReply:
        """What is decided about the user and the object, and about the route if one is named.

        Raises:
            PermissionDeniedError: the caller is no administrator.
        """
        require(self.authorization, caller, "GET", Secured("constraint"))
        granted = self.policies.granted(asked.user_id, mfa=asked.mfa)
        rules = {key: list(readable([found])) for key, found in granted.rules.items()}
        tier1 = None
        if asked.route_path is not None:
            method = asked.route_method or asked.action
            tier1 = _told(explain(rules, method, "api", {ROUTE_PATH: asked.route_path}))
        return ExplainReply(
            user_id=asked.user_id,
            roles=sorted(granted.roles),
            tier1=tier1,
            tier2=_told(explain(rules, asked.action, asked.object_type, asked.object_fields)),
        )


def _told(verdict: Verdict) -> Decision:
    return Decision(
        decision="allow" if verdict.allowed else "deny",
        by=[
            DecidingRule(constraint_id=one.constraint_id, given_to=one.grantee)
            for one in verdict.by
        ],
    )
