"""The table of constraints, and the compiled rules of roles and users in the table of policies.

As in the data model, a constraint has a row for each grantee, with a copy of the whole constraint.
No consistent index leads from a constraint to its rows, and decisions never use these rows. So the
table of policies contains the whole constraint once more (`constraint#<id>`), the complete rules of
each grantee (`role#<name>`, `user#<id>`), and the `epoch`, which counts all changes of permissions.

One transaction writes everything that a change affects. It is conditional on the revisions of the
constraint and of each grantee's rules, so concurrent changes are never lost. Rules that become
empty are kept, so that their revision continues.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, cast

from backend.core.attempts import attempts
from backend.core.paging import Page, PageRequest, Position, all_items
from backend.core.tables import Tables
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Check,
    Condition,
    Delete,
    Item,
    Put,
    Update,
    Write,
    absent,
    equals,
)
from backend.domains.access.errors import ConstraintRevisionError, PolicyTooLargeError
from backend.domains.access.models.constraints import Constraint, Grantee
from backend.domains.access.repository.epoch import EPOCH, next_epoch
from backend.domains.access.repository.policies import NAMED_TAGS, OF_CONSTRAINT
from backend.domains.access.rules.constraints import (
    MAX_CHANGE_BYTES,
    MAX_RULES_BYTES,
    Change,
    Rules,
    as_text,
    changed_rules,
    grantees,
    grantees_of,
    named_tags,
    stored_bytes,
)
from backend.spec.tables.access import CONSTRAINTS, POLICIES

_ID = CONSTRAINTS.partition_key.name
_KEY = POLICIES.partition_key.name
_LISTS = ("criteriaAnd", "criteriaOr", "groupPermissions", "userPermissions")
_OF_INDEXES = {"role": "groupId", "user": "userId"}
_ATTEMPTS = 8  # of a record that conflicts with changes of constraints
_SCAN_PAGE = 1000  # rows of a request at most; DynamoDB ends a page after 1 MB
_NOTED = "complete"
"""The attribute that marks that the item of named tags contains the constraints of earlier
releases."""
_OF_ROWS = {"role": "#group#", "user": "#user#"}


class Policy(NamedTuple):
    """All rules of a grantee; `withdrawn` are constraints that still name a deleted role."""

    grantee: Grantee
    rules: Rules = []
    revision: int | None = None
    withdrawn: tuple[str, ...] = ()


Policies = Mapping[Grantee, Policy]


@dataclass(eq=False, repr=False)
class ConstraintRepository:
    tables: Tables

    def get(self, constraint_id: str) -> Constraint | None:
        return self.get_many([constraint_id]).get(constraint_id)

    def get_many(self, constraint_ids: Iterable[str]) -> dict[str, Constraint]:
        """Return those of the constraints that exist, by id."""
        keys = [{_KEY: _whole(constraint_id)} for constraint_id in constraint_ids]
        items = (item for _, item in self.tables.get_many([(POLICIES, key) for key in keys]))
        return {item[_ID]: _constraint(item) for item in items}

    def list_registry(self, page: PageRequest) -> Page[Constraint]:
        """List each constraint once, in no order, by the row of its first grantee."""
        stored = self.tables.scan(CONSTRAINTS, page)
        rows = ((item[_ID], _constraint(item)) for item in stored.items)
        first = (row for name, row in rows if name == _first_row(row))
        return Page(tuple(first), stored.after)

    def policies(self, wanted: Iterable[Grantee]) -> dict[Grantee, Policy]:
        """Return the rules of all requested grantees."""
        by_key = {_policy_key(grantee): grantee for grantee in wanted}
        keys = [(POLICIES, {_KEY: key}) for key in by_key]
        policies = {grantee: Policy(grantee) for grantee in by_key.values()}
        for _, item in self.tables.get_many(keys):
            grantee = by_key[item[_KEY]]
            policies[grantee] = Policy(
                grantee,
                item.get("rules") or [],
                item.get("revision"),
                tuple(item.get("withdrawn") or ()),
            )
        return policies

    def write(self, writes: Sequence[Write]) -> None:
        self.tables.transact(writes)

    @attempts(_ATTEMPTS, ConstraintRevisionError)  # a constraint was changed after it was read
    def record_used_tags(self) -> None:
        """Record which tags are used by constraints of earlier releases. No effect if repeated.

        Raises:
            ConstraintRevisionError: constraints are changed concurrently at every attempt.
        """
        recorded = self.tables.get(POLICIES, NAMED_TAGS)
        if recorded is not None and _NOTED in recorded:
            return
        epoch = self.tables.get(POLICIES, {_KEY: EPOCH})
        every = self.get_many(sorted(self._ids()))
        names = {OF_CONSTRAINT + name: named_tags(constraint) for name, constraint in every.items()}
        known = {name: criteria for name, criteria in names.items() if criteria}
        unchanged = Check(
            table=POLICIES,
            key={_KEY: EPOCH},
            conditions=(absent("n") if epoch is None else equals("n", epoch["n"]),),
            refused=ConstraintRevisionError("One of the constraints"),
        )
        update = Update(table=POLICIES, key=NAMED_TAGS, set={**known, _NOTED: True})
        self.tables.transact([update, unchanged])

    def _ids(self) -> set[str]:
        """Return the ids of all constraints, by their rows."""
        rows = all_items(partial(self.tables.scan, CONSTRAINTS), _SCAN_PAGE)
        return {item[_ID].split("#", 1)[0] for item in rows}


def position_of(constraint: Constraint) -> Position:
    return {_ID: _first_row(constraint)}


def change_writes(
    changes: Sequence[Change],
    policies: Policies,
    revision: str,
    *others: Write,
    emptied: Grantee | None = None,
) -> list[Write]:
    """Return the transaction for changes: rows, rules and epoch, and other writes.

    `policies` include those of `grantees_of(changes)` and `emptied`, read before. `revision` is a
    new one. Grantees in `emptied` have no rules afterwards; their revision changes.

    Raises:
        PolicyTooLargeError: a grantee's rules, or the whole transaction, would be too large.
    """
    writes: list[Write] = []
    for change in changes:
        writes.extend(_row_writes(change))
        writes.append(_whole_write(change, revision))
    for grantee in grantees_of(changes):
        policy = policies[grantee]
        rules = changed_rules(policy.rules, grantee, changes)
        if rules != policy.rules and grantee != emptied:
            writes.append(rules_write(policy, rules))
    if emptied is not None:
        writes.append(rules_write(policies[emptied], []))
    writes += [*_named_tags_writes(changes), next_epoch(), *others]
    size = sum(
        stored_bytes(write.item if isinstance(write, Put) else dict(write.set))
        for write in writes
        if isinstance(write, Put | Update)
    )
    if size > MAX_CHANGE_BYTES:
        raise PolicyTooLargeError(
            f"the change would write {size} bytes, because the rules of each role and user "
            f"are stored as a whole; at most {MAX_CHANGE_BYTES} are allowed: change the "
            "constraint for fewer roles and users at a time"
        )
    return writes


def fits(writes: Sequence[Write]) -> bool:
    return len(writes) <= MAX_TRANSACTION_ITEMS


def rules_write(policy: Policy, rules: Rules, withdrawn: Sequence[str] = ()) -> Put:
    """Return the write of a grantee's complete rules, on the condition that they are unchanged.

    Raises:
        PolicyTooLargeError: the rules are too large.
    """
    size = stored_bytes(rules)
    if size > MAX_RULES_BYTES:
        raise PolicyTooLargeError(
            f"the rules of {policy.grantee} would have {size} bytes; at most "
            f"{MAX_RULES_BYTES} are allowed"
        )
    item: Item = {
        _KEY: _policy_key(policy.grantee),
        "rules": rules,
        "revision": (policy.revision or 0) + 1,
    }
    if withdrawn:
        item["withdrawn"] = [*withdrawn]
    return Put(
        table=POLICIES,
        item=item,
        conditions=(_require_revision(policy.revision),),
        refused=ConstraintRevisionError(f"The permissions of {policy.grantee}"),
    )


def _row_writes(change: Change) -> Iterable[Write]:
    before, after = change
    names = set(_row_names(after))
    for name in _row_names(before):
        if name not in names:
            yield Delete(table=CONSTRAINTS, key={_ID: name})
    if after is not None:
        item = _item(after)
        for name, grantee in _row_names(after).items():
            indexed = {} if grantee is None else {_OF_INDEXES[grantee.kind]: grantee.name}
            yield Put(table=CONSTRAINTS, item={**item, _ID: name, **indexed})


def _whole_write(change: Change, revision: str) -> Write:
    before, after = change
    key = _whole(change.constraint_id)
    condition = _require_revision(None if before is None else before.revision)
    refused = ConstraintRevisionError(f"Constraint {change.constraint_id}")
    if after is None:
        return Delete(table=POLICIES, key={_KEY: key}, conditions=(condition,), refused=refused)
    item = {**_item(after), _KEY: key, _ID: after.constraint_id, "revision": revision}
    return Put(table=POLICIES, item=item, conditions=(condition,), refused=refused)


def _named_tags_writes(changes: Iterable[Change]) -> Iterable[Update]:
    """Return the writes of the tags that constraints use, if they use any."""
    known: dict[str, list[Item]] = {}
    gone: list[str] = []
    for change in changes:
        before, after = named_tags(change.before), named_tags(change.after)
        name = OF_CONSTRAINT + change.constraint_id
        if after:
            known[name] = after
        elif before:
            gone.append(name)
    if known or gone:
        # DynamoDB refuses an item of over 400 KB: rules cannot name more tags than fit.
        yield Update(table=POLICIES, key=NAMED_TAGS, set=known, remove=tuple(gone))


def _require_revision(revision: str | int | None) -> Condition:
    return absent("revision") if revision is None else equals("revision", revision)


def _row_names(constraint: Constraint | None) -> dict[str, Grantee | None]:
    """Return the keys of a constraint's rows; one without grantees has a single row."""
    if constraint is None:
        return {}
    name = constraint.constraint_id
    rows: dict[str, Grantee | None] = {
        name + _OF_ROWS[grantee.kind] + grantee.name: grantee for grantee in grantees(constraint)
    }
    return rows or {name: None}


def _first_row(constraint: Constraint) -> str:
    return next(iter(_row_names(constraint)))


def _item(constraint: Constraint) -> Item:
    """Return the common attributes of all rows of a constraint.

    Lists as JSON, as VAMS stores them.
    """
    hidden = {"constraint_id", "revision", "criteria_and", "criteria_or"}
    item = constraint.model_dump(
        by_alias=True, exclude={*hidden, "group_permissions", "user_permissions"}
    )
    return {
        **item,
        "criteriaAnd": as_text(constraint.criteria_and),
        "criteriaOr": as_text(constraint.criteria_or),
        "groupPermissions": as_text(constraint.group_permissions),
        "userPermissions": as_text(constraint.user_permissions),
    }


def _constraint(item: Item) -> Constraint:
    """Return the constraint of a row, or of the whole item."""
    lists = {name: json.loads(item.get(name) or "[]") for name in _LISTS}
    name = cast("str", item[_ID]).split("#", 1)[0]
    revision = item.get("revision", "")
    return Constraint.model_validate({**item, **lists, _ID: name, "revision": revision})


def _whole(constraint_id: str) -> str:
    return f"constraint#{constraint_id}"


def _policy_key(grantee: Grantee) -> str:
    return f"{grantee.kind}#{grantee.name}"
