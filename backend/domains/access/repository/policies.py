"""The data that decides about a user: roles, their settings, and the rules of both.

All reads are consistent. Rows are read at every cold start, so they are validated only by their
compilation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from backend.core.identity import ANONYMOUS, SYSTEM
from backend.core.tables import Query, Tables
from backend.core.transactions import Put
from backend.domains.access.models.stored_roles import ADMIN_ROLE
from backend.domains.access.policy.model import (
    ANYTHING,
    CONTAINS,
    DENY,
    OBJECT_TYPE_FIELD,
    Criterion,
    distinguishes,
)
from backend.spec.tables.access import POLICIES, ROLE_NAME, ROLES, USER_ROLES

_KEY = POLICIES.partition_key.name
_EPOCH = {_KEY: "epoch"}
NAMED_TAGS = {_KEY: "named#tags"}
"""The item of the tags that rules name, with an attribute per constraint."""
OF_CONSTRAINT = "of#"
"""The prefix of that attribute's name, before the constraint's id."""
StoredRules = Sequence[Mapping[str, Any]]


class Granted(NamedTuple):
    """The effective roles of a user, and the rules of these and of the user, by policy key."""

    roles: frozenset[str]
    rules: Mapping[str, StoredRules]


# What users with the default role may never do, whatever its rules allow.
_NO_ADMINISTRATION: StoredRules = tuple(
    {
        "constraintId": "the default role",
        "objectType": object_type,
        "criteriaAnd": [{"field": OBJECT_TYPE_FIELD, "operator": CONTAINS, "value": ANYTHING}],
        "permissions": dict.fromkeys(("PUT", "POST", "DELETE"), DENY),
    }
    for object_type in ("role", "userRole")
)
_NAMES_OF_PRODUCT = frozenset({ANONYMOUS.user_id, SYSTEM.user_id})


def without_default_role(user_id: str) -> Put:
    """Return the write after which a user without a role never has the default role."""
    return Put(table=POLICIES, item={_KEY: _left(user_id)})


@dataclass(eq=False, repr=False)
class PolicyRepository:
    """`default_role` is the role of users without one; empty if they have none."""

    tables: Tables
    default_role: str = ""

    def epoch(self) -> int:
        """Return the epoch, which every change of permissions increments in its transaction."""
        item = self.tables.get(POLICIES, _EPOCH)
        return 0 if item is None else int(item["n"])

    def has_direct_rules(self, user_id: str) -> bool:
        """Return whether constraints name the user itself, not only its roles."""
        item = self.tables.get(POLICIES, {_KEY: f"user#{user_id}"})
        return bool(item and item.get("rules"))

    def named_tags(self, tag_names: Iterable[str]) -> set[str]:
        """Return those of the tags that some rule depends on."""
        item = self.tables.get(POLICIES, NAMED_TAGS) or {}
        criteria = [
            Criterion("tags", value["operator"], tuple(value["values"]))
            for name, values in item.items()
            if name.startswith(OF_CONSTRAINT)
            for value in values
        ]
        return {
            tag for tag in tag_names if any(distinguishes(criterion, tag) for criterion in criteria)
        }

    def granted(self, user_id: str, *, mfa: bool) -> Granted:
        """Return the roles and rules of the user.

        A role that was deleted, or is being deleted, has no effect; neither has one that requires a
        second factor if `mfa` is false. The default role is that of a user without any, unless the
        user lost one or was deleted.
        """
        query = Query(table=USER_ROLES, partition=user_id, consistent=True)
        names = [str(row[ROLE_NAME.name]) for row in self.tables.query_all(query)]
        by_default = (
            not names
            and self.default_role not in ("", ADMIN_ROLE)
            and user_id not in _NAMES_OF_PRODUCT
            and self.tables.get(POLICIES, {_KEY: _left(user_id)}) is None
        )
        if by_default:
            names = [self.default_role]
        keys = {_role(name) for name in names} | {f"user#{user_id}"}
        wanted = [
            *((ROLES, {ROLE_NAME.name: name}) for name in names),
            *((POLICIES, {_KEY: key}) for key in sorted(keys)),
        ]
        rows = self.tables.get_many(wanted)
        roles = frozenset(
            str(item[ROLE_NAME.name])
            for table, item in rows
            if table is ROLES
            and item.get("deletedBy") is None
            and (mfa or not item.get("mfaRequired"))
        )
        refused = {_role(name) for name in names} - {_role(name) for name in roles}
        rules = {
            str(item[_KEY]): cast("StoredRules", item.get("rules") or ())
            for table, item in rows
            if table is POLICIES and item[_KEY] not in refused
        }
        return Granted(roles, {**rules, "default": _NO_ADMINISTRATION} if by_default else rules)


def _left(user_id: str) -> str:
    return f"left#{user_id}"


def _role(name: str) -> str:
    return f"role#{name}"
