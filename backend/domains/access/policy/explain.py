"""Finds the rules that decide about an object, for administrators."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from backend.domains.access.policy.model import ALLOW, DENY, Fields, Rule
from backend.domains.access.policy.predicate import applies
from backend.spec.routes.model import Action


class DecidingGrant(NamedTuple):
    """A rule that applies to the object, and its grantee: `role#…` or `user#…`."""

    constraint_id: str
    grantee: str


class Verdict(NamedTuple):
    """The decision and its rules; none if the action is denied because no rule allows it."""

    allowed: bool
    by: tuple[DecidingGrant, ...]


def explain(
    rules: Mapping[str, Iterable[Rule]], action: Action, object_type: str, fields: Fields
) -> Verdict:
    """Return the decision of rules by grantee.

    Denying rules decide; without any, those that allow.
    """
    applying: dict[str, list[DecidingGrant]] = {ALLOW: [], DENY: []}
    for grantee, granted in rules.items():
        for rule in granted:
            effect = rule.effects.get(action)
            if effect is not None and applies(rule, action, object_type, fields):
                applying[effect].append(DecidingGrant(rule.constraint_id, grantee))
    decisive = applying[DENY] or applying[ALLOW]
    return Verdict(bool(decisive) and not applying[DENY], tuple(decisive))
