"""The data that decides about a user: roles, their settings, and the rules of both.

All reads are consistent. Rows are read at every cold start, so they are validated only by their
compilation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from backend.core.tables import Query, Tables
from backend.domains.access.policy.model import Criterion, distinguishes
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


@dataclass(eq=False, repr=False)
class PolicyRepository:
    tables: Tables

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
        second factor if `mfa` is false.
        """
        query = Query(table=USER_ROLES, partition=user_id, consistent=True)
        names = [str(row[ROLE_NAME.name]) for row in self.tables.query_all(query)]
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
        return Granted(
            roles,
            {
                str(item[_KEY]): cast("StoredRules", item.get("rules") or ())
                for table, item in rows
                if table is POLICIES and item[_KEY] not in refused
            },
        )


def _role(name: str) -> str:
    return f"role#{name}"
