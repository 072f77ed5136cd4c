"""The requests of the CDK command, as it sends them: forms."""

import json

import pytest

from tests.cloudformation.actions import Actions
from tests.cloudformation.templates import ChangeSetNotFoundError, RefusedError
from tests.unit.cloudformation.conftest import QUEUE, Account

CHANGE = {"StackName": "a", "ChangeSetName": "change"}


@pytest.fixture
def actions(account: Account) -> Actions:
    templates = {"https://bucket/one.json": json.dumps({"Resources": {"A": QUEUE}})}
    return Actions(account.stacks, templates.__getitem__)


def test_a_stack_is_created_by_a_change_set_of_an_uploaded_template(
    account: Account, actions: Actions
) -> None:
    tags = {"Tags.member.1.Key": "team", "Tags.member.1.Value": "art"}
    made = {"ChangeSetType": "CREATE", "TemplateURL": "https://bucket/one.json", **CHANGE, **tags}
    created = actions.answer("CreateChangeSet", made)
    assert actions.answer("GetTemplate", {"StackName": "a"}) == {}  # as for a stack under review
    described = actions.answer("DescribeChangeSet", CHANGE)
    assert described["ChangeSetId"] == created["Id"]
    assert [change["ResourceChange"]["Action"] for change in described["Changes"]] == ["Add"]
    account.stacks.execute("a", created["Id"], "token").join()
    (stack,) = actions.answer("DescribeStacks", {})["Stacks"]
    assert (stack["StackStatus"], stack["Tags"]) == (
        "CREATE_COMPLETE",
        [{"Key": "team", "Value": "art"}],
    )
    events = actions.answer("DescribeStackEvents", {"StackName": stack["StackId"]})["StackEvents"]
    assert events[0]["ClientRequestToken"] == "token"
    executed = [event for event in events if "ClientRequestToken" in event]
    assert all(item["Timestamp"] >= described["CreationTime"] for item in executed)
    (row,) = actions.answer("DescribeStackResources", {"StackName": "a"})["StackResources"]
    assert row["ResourceStatus"] == "CREATE_COMPLETE"
    assert json.loads(actions.answer("GetTemplate", {"StackName": "a"})["TemplateBody"])


def test_a_change_set_that_was_deleted_is_not_found(account: Account, actions: Actions) -> None:
    account.deploy("a", {"A": QUEUE})
    text = json.dumps({"Resources": {"B": QUEUE}})
    account.stacks.propose("a", "change", text, creates=False, parameters={}, tags=[])
    actions.answer("DeleteChangeSet", CHANGE)
    with pytest.raises(ChangeSetNotFoundError) as refused:
        actions.answer("DescribeChangeSet", CHANGE)
    assert refused.value.code == "ChangeSetNotFound"


def test_protection_is_switched_and_unknown_requests_are_refused(
    account: Account, actions: Actions
) -> None:
    account.deploy("a", {"A": QUEUE})
    for value in ("true", "false"):
        fields = {"StackName": "a", "EnableTerminationProtection": value}
        actions.answer("UpdateTerminationProtection", fields)
        (stack,) = actions.answer("DescribeStacks", {"StackName": "a"})["Stacks"]
        assert stack["EnableTerminationProtection"] is (value == "true")
    with pytest.raises(RefusedError, match="does not know DetectStackDrift"):
        actions.answer("DetectStackDrift", {"StackName": "a"})
