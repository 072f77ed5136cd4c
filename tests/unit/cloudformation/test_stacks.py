"""Stacks under CloudFormation's rules: created, updated, rolled back, deleted."""

from typing import Any

import pytest

from tests.cloudformation.records import Record
from tests.cloudformation.templates import RefusedError
from tests.unit.cloudformation.conftest import QUEUE, Account, exported

IMPORTING = {"B": {**QUEUE, "Properties": {"Name": {"Fn::ImportValue": "shared"}}}}
KEPT = {**QUEUE, "DeletionPolicy": "RetainExceptOnCreate"}


def _statuses(record: Record, logical_id: str) -> list[str]:
    return [e.status for e in reversed(record.events) if e.logical_id == logical_id]


def _table(*indexes: str, **properties: Any) -> dict[str, Any]:
    declared = [{"IndexName": name} for name in indexes]
    return {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {"GlobalSecondaryIndexes": declared, **properties},
    }


def test_resources_are_created_after_those_that_they_depend_on(account: Account) -> None:
    record = account.deploy("a", {"A": {**QUEUE, "DependsOn": "B"}, "B": QUEUE})
    created = [e.logical_id for e in reversed(record.events) if e.status == "CREATE_COMPLETE"]
    assert created == ["B", "A", "a"]
    assert record.status == "CREATE_COMPLETE"


def test_the_same_template_again_changes_nothing(account: Account) -> None:
    account.deploy("a", {"A": QUEUE})
    with pytest.raises(RefusedError, match="cannot be executed"):
        account.deploy("a", {"A": QUEUE})
    (made,) = account.stacks.find("a").change_sets.values()
    assert (made.status, made.reason[:41]) == (
        "FAILED",
        "The submitted information didn't contain ",
    )


def test_an_update_touches_only_what_changed(account: Account) -> None:
    account.deploy("a", {"A": QUEUE, "B": QUEUE, "C": QUEUE})
    record = account.deploy("a", {"A": QUEUE, "B": {**QUEUE, "Properties": {"N": 1}}, "D": QUEUE})
    assert record.status == "UPDATE_COMPLETE"
    assert _statuses(record, "A") == ["CREATE_IN_PROGRESS", "CREATE_COMPLETE"]
    assert _statuses(record, "B")[-2:] == ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"]
    assert _statuses(record, "C")[-1] == "DELETE_COMPLETE"
    assert _statuses(record, "D")[-1] == "CREATE_COMPLETE"
    assert account.builder.removed == ["C"]


def test_an_export_in_use_is_neither_changed_nor_deleted(account: Account) -> None:
    account.deploy("a", {"A": QUEUE}, **exported("one"))
    account.deploy("b", IMPORTING)
    for sections in (exported("two"), {}):
        record = account.deploy("a", {"A": QUEUE, "C": QUEUE}, **sections)
        assert record.status == "UPDATE_ROLLBACK_COMPLETE"
        assert any("as it is in use by b" in event.reason for event in record.events)
        assert record.exports == {"shared": "one"}
        assert "C" not in record.parts
    assert account.delete("a").status == "DELETE_FAILED"
    account.delete("b")
    assert account.delete("a").status == "DELETE_COMPLETE"


def test_an_import_without_its_export_is_rolled_back(account: Account) -> None:
    record = account.deploy("b", IMPORTING)
    assert record.status == "ROLLBACK_COMPLETE"
    assert any("No export named shared found" in event.reason for event in record.events)


def test_an_export_has_one_owner(account: Account) -> None:
    account.deploy("a", {"A": QUEUE}, **exported("one"))
    assert account.deploy("b", {"A": QUEUE}, **exported("two")).status == "ROLLBACK_COMPLETE"


def test_a_creation_that_fails_is_undone_and_can_be_repeated(account: Account) -> None:
    resources = {"A": QUEUE, "B": {**QUEUE, "DependsOn": "A"}, "C": {**QUEUE, "DependsOn": "B"}}
    account.stacks.failing["B"] = "no more queues"
    record = account.deploy("a", resources)
    assert record.status == "ROLLBACK_COMPLETE"
    assert _statuses(record, "A")[-1] == "DELETE_COMPLETE"
    assert _statuses(record, "B")[1] == "CREATE_FAILED"
    assert _statuses(record, "C") == []
    account.stacks.failing.clear()
    with pytest.raises(RefusedError, match="ROLLBACK_COMPLETE state and can not be updated"):
        account.deploy("a", resources)
    account.delete("a")
    assert account.deploy("a", resources).status == "CREATE_COMPLETE"


def test_an_update_that_fails_restores_the_stack(account: Account) -> None:
    account.deploy("a", {"A": QUEUE})
    account.stacks.failing["A"] = "no"
    record = account.deploy("a", {"A": {**QUEUE, "Properties": {"N": 1}}, "B": QUEUE})
    assert record.status == "UPDATE_ROLLBACK_COMPLETE"
    assert record.wanted is not None
    assert record.wanted.template.resources == {"A": QUEUE}
    assert list(record.parts) == ["A"]
    account.stacks.failing.clear()
    assert account.deploy("a", {"A": QUEUE, "B": QUEUE}).status == "UPDATE_COMPLETE"


def test_what_is_retained_remains_except_after_a_failed_creation(account: Account) -> None:
    account.deploy("a", {"A": KEPT, "B": QUEUE})
    record = account.delete("a")
    assert (_statuses(record, "A")[-1], _statuses(record, "B")[-1]) == (
        "DELETE_SKIPPED",
        "DELETE_COMPLETE",
    )
    account.stacks.failing["B"] = "no"
    record = account.deploy("a", {"A": KEPT, "B": {**QUEUE, "DependsOn": "A"}})
    assert _statuses(record, "A")[-1] == "DELETE_COMPLETE"


def test_a_protected_table_stops_the_rollback_until_it_is_unprotected(account: Account) -> None:
    account.stacks.failing["B"] = "no"
    protected = _table(DeletionProtectionEnabled=True)
    record = account.deploy("a", {"A": protected, "B": {**QUEUE, "DependsOn": "A"}})
    assert record.status == "ROLLBACK_FAILED"
    assert record.parts["A"].status == "DELETE_FAILED"
    assert account.delete("a").status == "DELETE_FAILED"
    account.stacks.unprotected.add(record.parts["A"].physical_id)
    assert account.delete("a").status == "DELETE_COMPLETE"


def test_one_index_of_a_table_is_changed_by_an_update(account: Account) -> None:
    account.deploy("a", {"A": _table("one")})
    assert account.deploy("a", {"A": _table("one", "two")}).status == "UPDATE_COMPLETE"
    record = account.deploy("a", {"A": _table("one", "three")})
    assert record.status == "UPDATE_ROLLBACK_COMPLETE"
    assert any("more than one GSI" in event.reason for event in record.events)
    assert account.deploy("a", {"A": _table("one")}).status == "UPDATE_COMPLETE"


def test_a_protected_stack_is_not_deleted(account: Account) -> None:
    record = account.deploy("a", {"A": QUEUE})
    record.protected = True
    with pytest.raises(RefusedError, match="TerminationProtection is enabled"):
        account.delete("a")
    record.protected = False
    assert account.delete("a").status == "DELETE_COMPLETE"
    assert account.stacks.all() == []
    with pytest.raises(RefusedError, match="Stack with id a does not exist"):
        account.stacks.find("a")
    assert account.stacks.find(record.id) is record


def test_a_parameter_of_the_toolkit_is_required(account: Account) -> None:
    def declared(name: str) -> dict[str, Any]:
        kind = "AWS::SSM::Parameter::Value<String>"
        return {"Parameters": {"Version": {"Type": kind, "Default": name}}}

    record = account.deploy("a", {"A": QUEUE}, **declared("/version"))
    assert record.wanted is not None
    assert record.wanted.parameters == {"Version": "30"}
    with pytest.raises(RefusedError, match=r"Unable to fetch parameters \[/nothing\]"):
        account.deploy("b", {"A": QUEUE}, **declared("/nothing"))
