"""Resources whose fixed properties change are replaced, under other names."""

from typing import Any

from tests.cloudformation.building import Place
from tests.cloudformation.records import Record
from tests.unit.cloudformation.conftest import QUEUE, Account, exported

FIFO: dict[str, Any] = {**QUEUE, "Properties": {"FifoQueue": True}}


def _table(form: str, **fields: Any) -> dict[str, Any]:
    """A table whose format, once it is imported, cannot be changed."""
    properties = {"ImportSourceSpecification": {"InputFormat": form}, **fields}
    return {"Type": "AWS::DynamoDB::Table", "Properties": properties}


def _ids(record: Record, logical_id: str, status: str) -> list[str]:
    events = reversed(record.events)
    return [e.physical_id for e in events if (e.logical_id, e.status) == (logical_id, status)]


def test_a_replaced_resource_has_another_name_and_the_old_one_is_deleted_last(
    account: Account,
) -> None:
    first = account.deploy("a", {"A": QUEUE, "B": QUEUE}).parts["A"].physical_id
    record = account.deploy("a", {"A": FIFO, "B": QUEUE})
    assert record.status == "UPDATE_COMPLETE"
    assert record.parts["A"].physical_id == f"{first}-1"
    assert _ids(record, "A", "DELETE_COMPLETE") == [first]
    assert "requires the creation of a new physical resource" in "".join(
        e.reason for e in record.events if e.logical_id == "A"
    )
    assert record.events[0].logical_id == "a"
    again = account.deploy("a", {"A": QUEUE, "B": QUEUE})
    assert again.parts["A"].physical_id == f"{first}-2"
    assert again.parts["B"].physical_id == _ids(again, "B", "CREATE_COMPLETE")[0]


def test_what_refers_to_a_replaced_resource_is_updated(account: Account) -> None:
    user = {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": [{"Ref": "A"}]}}
    fixed = {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {"EventSourceArn": {"Fn::GetAtt": ["A", "Arn"]}},
    }
    before = account.deploy("a", {"A": QUEUE, "User": user, "Fixed": fixed})
    mapping = before.parts["Fixed"].physical_id
    record = account.deploy("a", {"A": FIFO, "User": user, "Fixed": fixed})
    assert len(_ids(record, "User", "UPDATE_COMPLETE")) == 1
    assert record.parts["Fixed"].physical_id == f"{mapping}-1"


def test_a_change_set_names_what_it_replaces(account: Account) -> None:
    account.deploy("a", {"A": QUEUE, "B": QUEUE})
    text = '{"Resources": {"A": %s, "B": %s}}'
    made = account.stacks.propose(
        "a",
        "change",
        text
        % (
            '{"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": true}}',
            '{"Type": "AWS::SQS::Queue", "Properties": {"DelaySeconds": 1}}',
        ),
        creates=False,
        parameters={},
        tags=[],
    )
    assert {change.logical_id: change.replaces for change in made.changes} == {
        "A": True,
        "B": False,
    }


def test_a_replaced_resource_that_has_a_name_of_its_own_fails(account: Account) -> None:
    account.deploy("a", {"A": _table("CSV", TableName="assets")})
    record = account.deploy("a", {"A": _table("ION", TableName="assets")})
    assert record.status == "UPDATE_ROLLBACK_COMPLETE"
    (failed,) = (e.reason for e in record.events if e.status == "UPDATE_FAILED")
    assert failed.endswith("Rename assets and update the stack again.")
    record = account.deploy("a", {"A": _table("ION", TableName="renamed")})
    assert record.status == "UPDATE_COMPLETE"


def test_what_is_named_after_a_replaced_resource_is_replaced_with_it(account: Account) -> None:
    permission = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {"FunctionName": {"Fn::GetAtt": ["A", "Arn"]}},
    }
    # Its identifier is the name of the queue alone.
    inline = {"Type": "AWS::SQS::QueueInlinePolicy", "Properties": {"Queue": {"Ref": "B"}}}
    named = {"Permission": permission, "Inline": inline}
    account.deploy("a", {"A": _table("CSV"), "B": QUEUE, **named})
    record = account.deploy("a", {"A": _table("ION"), "B": FIFO, **named})
    assert record.status == "UPDATE_COMPLETE"
    assert [len(_ids(record, name, "DELETE_COMPLETE")) for name in named] == [1, 1]


def test_a_resource_with_a_generated_id_may_be_replaced_beside_a_given_name(
    account: Account,
) -> None:
    fields = {"FunctionName": "one", "Principal": "s3.amazonaws.com"}
    permission = {"Type": "AWS::Lambda::Permission", "Properties": fields}
    account.deploy("a", {"A": permission})
    changed = {**permission, "Properties": {**fields, "Principal": "events.amazonaws.com"}}
    assert account.deploy("a", {"A": changed}).status == "UPDATE_COMPLETE"


def test_a_replaced_resource_may_be_kept_or_refuse_its_deletion(account: Account) -> None:
    kept = {"UpdateReplacePolicy": "Retain"}
    account.deploy("a", {"A": {**_table("CSV"), **kept}, "B": _table("CSV")})
    protected = _table("CSV", DeletionProtectionEnabled=True)
    account.deploy("a", {"A": {**_table("CSV"), **kept}, "B": protected})
    record = account.deploy(
        "a",
        {"A": {**_table("ION"), **kept}, "B": _table("ION", DeletionProtectionEnabled=True)},
    )
    assert record.status == "UPDATE_COMPLETE"
    assert len(_ids(record, "A", "DELETE_SKIPPED")) == 1
    assert len(_ids(record, "B", "DELETE_FAILED")) == 1


def test_an_export_of_a_replaced_resource_that_is_in_use_is_refused_and_rolled_back(
    account: Account,
) -> None:
    first = account.deploy("a", {"A": QUEUE}, **exported({"Ref": "A"})).parts["A"].physical_id
    account.deploy("b", {"B": {**QUEUE, "Properties": {"Name": {"Fn::ImportValue": "shared"}}}})
    record = account.deploy("a", {"A": FIFO}, **exported({"Ref": "A"}))
    assert record.status == "UPDATE_ROLLBACK_COMPLETE"
    assert record.parts["A"].physical_id == first
    assert record.exports == {"shared": first}


def test_a_custom_resource_of_another_function_is_replaced(account: Account) -> None:
    run = {"Type": "Custom::Run", "Properties": {"ServiceToken": "one"}}
    account.deploy("a", {"Run": run})
    account.deploy("a", {"Run": {**run, "Properties": {"ServiceToken": "two"}}})
    assert account.builder.removed == ["Run"]


def test_names_are_those_of_the_account_and_the_region() -> None:
    account = Account(Place("111122223333", "cn-north-1"))
    value = {"Fn::Sub": "${AWS::Partition}/${AWS::Region}/${AWS::AccountId}"}
    record = account.deploy("a", {"A": QUEUE}, **exported(value))
    assert record.id.startswith("arn:aws-cn:cloudformation:cn-north-1:111122223333:stack/a/")
    assert record.exports == {"shared": "aws-cn/cn-north-1/111122223333"}
