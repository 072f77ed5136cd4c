"""Decides permissions by the rules of the caller's effective roles and by the caller's own rules.

Object types that no rule can name (keys, failures, queues …) are for administrators. One exception:
a caller who may use the routes may manage its own keys, which grant no more than it has. A caller
who may use the route may also see every bucket that no rule denies: clients need the buckets to
create a database.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from backend.core.authorization import Secured
from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.domains.access.models.stored_roles import ADMIN_ROLE
from backend.domains.access.policy.model import (
    ACTIONS,
    ANYTHING,
    CONTAINS,
    DENY,
    FIELDS_OF,
    OBJECT_TYPE_FIELD,
    OBJECT_TYPES,
    ROUTE_PATH,
    BadRuleError,
    Criterion,
    Fields,
    Rule,
    parse_rule,
)
from backend.domains.access.policy.predicate import Predicate
from backend.domains.access.repository.policies import Granted, PolicyRepository, StoredRules
from backend.spec.routes import Action, Route

# Time for which cached rights are used without a check for changes: a revoked right ends after it.
# Without it, each request would read the epoch, which is one item for all (decision 31).
EPOCH_TIME = timedelta(seconds=2)

CACHE_TIME = timedelta(minutes=5)
"""Maximum time for which unchanged rights are cached."""

# With the rules below: a process serves this many callers within five minutes (decision 31).
CACHED_USERS = 500
# Cached rules of all users together. A rule takes about a kilobyte.
CACHED_RULES = 20_000

# Attempts to read rights that change during the read: rights of two epochs may allow what neither
# does. While a script changes permissions, about every second attempt fails.
_ATTEMPTS = 12

_PARAMETER = re.compile(r"\{([\w:]+)\+?\}")
_log = logging.getLogger(__name__)


class Rights:
    """The permissions of one user, with or without a second factor."""

    def __init__(self, roles: frozenset[str], rules: Iterable[Rule]) -> None:
        self.roles = roles
        self.rules = tuple(rules)
        self.allow = Predicate(self.rules)
        self._filters: list[dict[str, Any] | None] = []

    @property
    def is_administrator(self) -> bool:
        return ADMIN_ROLE in self.roles

    def search_filter(self) -> dict[str, Any] | None:
        """As `policy.search_filter`; created when it is first needed."""
        from backend.domains.access.policy.search_filter import (  # noqa: PLC0415 - few search
            search_filter,
        )

        if not self._filters:
            self._filters.append(search_filter(self.rules))
        return self._filters[0]


class _Cached(NamedTuple):
    rights: Rights
    epoch: int
    at: datetime


@dataclass(eq=False, repr=False)
class PolicyAuthorization:
    """The permission port over the stored rules.

    Compiled permissions are cached as long as the epoch, which is read every two seconds, is the
    same as before they were read.
    """

    policies: PolicyRepository
    clock: Clock
    _cached: dict[tuple[str, bool], _Cached] = field(
        default_factory=dict[tuple[str, bool], _Cached]
    )
    _epochs: dict[str, tuple[int, datetime]] = field(
        default_factory=dict[str, tuple[int, datetime]]
    )

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        """Tier 1, by the HTTP method."""
        if route.public:
            return True
        rights = self.rights(caller)
        # No constraint can lock administrators out of the routes of constraints.
        if route.object_type == "constraint" and rights.is_administrator:
            return True
        return rights.allow(method_action(route), "api", route_fields(route, path))

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        """Tier 2."""
        rights = self.rights(caller)
        kind, fields = target.object_type, target.fields
        open_to_caller = is_allowed_without_rule(caller.user_id, action, kind, fields)
        if kind not in FIELDS_OF:
            return rights.is_administrator or open_to_caller
        if open_to_caller:
            # Open without a rule, but a rule may still deny it.
            return not rights.allow.denies(action, kind, fields)
        return rights.allow(action, kind, fields)

    def search_filter(self, caller: Identity) -> dict[str, Any] | None:
        """Return the filter for documents that the caller may see (`policy.search_filter`)."""
        return self.rights(caller).search_filter()

    def rights(self, caller: Identity) -> Rights:
        """Return the caller's permissions, at most two seconds old."""
        now = self.clock()
        known = self._epochs.get("epoch")
        if known is not None and _is_within(now, known[1], EPOCH_TIME):
            epoch = known[0]
        else:
            epoch = self.policies.epoch()
            self._epochs["epoch"] = (epoch, now)
        key = (caller.user_id, caller.mfa)
        # By second factor, too: roles that require one count only with it.
        cached = self._cached.get(key)
        if cached is not None and cached.epoch == epoch and _is_within(now, cached.at, CACHE_TIME):
            return cached.rights
        granted, epoch = self._grants_of(caller, epoch)
        self._epochs["epoch"] = (epoch, now)
        rights = Rights(granted.roles, parsed_rules(granted.rules.values()))
        self._cache_rights(key, _Cached(rights, epoch, now))
        return rights

    def _grants_of(self, caller: Identity, epoch: int) -> tuple[Granted, int]:
        """Return the caller's roles and rules, and the epoch in which all of them were read.

        Raises:
            UnavailableError: permissions change faster than they can be read.
        """
        for _ in range(_ATTEMPTS):  # by hand: each attempt needs the epoch that the last one read
            granted = self.policies.granted(caller.user_id, mfa=caller.mfa)
            then = self.policies.epoch()
            # The items are read one after the other: a denial that was moved from one to another
            # meanwhile may have been missed, unless the epoch is the same.
            if then == epoch:
                return granted, epoch
            epoch = then
        raise UnavailableError("Permissions are being changed too often to be read; try again")

    def _cache_rights(self, key: tuple[str, bool], cached: _Cached) -> None:
        # Removed first, so that it becomes the newest of the dictionary.
        self._cached.pop(key, None)
        rules = len(cached.rights.rules) + sum(
            len(entry.rights.rules) for entry in self._cached.values()
        )
        while self._cached and (len(self._cached) >= CACHED_USERS or rules > CACHED_RULES):
            oldest = self._cached.pop(next(iter(self._cached)))
            rules -= len(oldest.rights.rules)
        self._cached[key] = cached


def method_action(route: Route) -> Action:
    """Return the permission that tier 1 requires."""
    return "GET" if route.method == "HEAD" else route.method


def route_fields(route: Route, path: Mapping[str, str]) -> Fields:
    """Return a route as rules see it: as requested and as declared.

    A criterion on the path matches if either form does, a negation if neither does. Parameters are
    decoded, except `/` and `%`, so one parameter never looks like several segments.
    """

    def value(parameter: re.Match[str]) -> str:
        # `%` first: the `%` of the second replacement must remain.
        return path.get(parameter[1], "").replace("%", "%25").replace("/", "%2F")

    return {ROUTE_PATH: (_PARAMETER.sub(value, route.path), route.path)}


def parsed_rules(stored: Iterable[StoredRules]) -> Iterator[Rule]:
    """Parse the stored rules. One that cannot be parsed denies its object type, or all types."""
    # The wildcard matches every object, also without any field.
    anything = (Criterion(OBJECT_TYPE_FIELD, CONTAINS, (ANYTHING,)),)
    denials: dict[str, str] = dict.fromkeys(ACTIONS, DENY)
    for rules in stored:
        for rule in rules:
            try:
                yield parse_rule(rule)
            except BadRuleError as error:
                _log.warning("a rule cannot be read, so it denies: %s", error)
                named = rule.get("objectType")
                for object_type in (named,) if named in OBJECT_TYPES else OBJECT_TYPES:
                    constraint_id = str(rule.get("constraintId"))
                    yield Rule(constraint_id, str(object_type), anything, (), denials)


def is_allowed_without_rule(user_id: str, action: Action, object_type: str, fields: Fields) -> bool:
    """Return whether a caller who may use the route may do this without a rule that allows it."""
    if object_type == "bucket":
        return action == "GET"
    return object_type == "apiKey" and fields.get("userId") == user_id


def _is_within(now: datetime, then: datetime, time: timedelta) -> bool:
    """Return whether a time is recent.

    Times in the future, from a clock that was reset, are not.
    """
    return timedelta(0) <= now - then < time
