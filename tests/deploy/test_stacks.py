"""The CDK command deploys, updates and deletes the stage `prod`, on the stand-in.

All commands are on the page on deploying. No resource is created: these tests are about
CloudFormation's rules for stacks, exports and templates. They run in their order on one account.
"""

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.deploy import guide
from tests.deploy.account import NO_TERMINAL, Account, account

RETENTION = guide.option("logRetentionDays")
UNPROTECT = "aws cloudformation update-termination-protection --no-enable-termination-protection"
STORAGE = f"vitrine-{guide.STAGE}-storage"
API = f"vitrine-{guide.STAGE}-api"
ALARMS = f"vitrine-{guide.STAGE}-alarms"
MANY_ALARMS = 50
POOL = ("-c", "userPool=true")
PATIENCE_SECONDS = 60


def stacks(account: Account) -> list[str]:
    """The stacks of the templates that were written last."""
    manifest: dict[str, Any] = json.loads((account.assembly / "manifest.json").read_text())
    artifacts: dict[str, dict[str, Any]] = manifest["artifacts"]
    return [n for n, each in artifacts.items() if each["type"] == "aws:cloudformation:stack"]


def touched(account: Account) -> Counter[str]:
    """The types of all resources that were ever updated."""
    found: Counter[str] = Counter()
    for stack in stacks(account):
        for event in account.events(stack):
            if event["ResourceStatus"] == "UPDATE_COMPLETE":
                found[event["ResourceType"]] += 1
    return found


def _wait_until(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_every_stack_is_created_and_protected(deployed: Account) -> None:
    assert deployed.statuses() == dict.fromkeys(stacks(deployed), "CREATE_COMPLETE")
    query = "aws cloudformation describe-stacks --query Stacks[].EnableTerminationProtection"
    assert set(deployed.aws(query)) == {True}


def test_the_same_deployment_again_changes_nothing(deployed: Account) -> None:
    output = deployed.deploy()
    assert output.count("(no changes)") == len(stacks(deployed))
    assert "There were no differences" in deployed.make(guide.line("make diff"))


def test_a_setting_of_one_command_changes_only_what_it_concerns(deployed: Account) -> None:
    deployed.deploy(RETENTION)
    changed = touched(deployed)
    assert {kind for kind in changed if "::Stack" not in kind} == {"AWS::Logs::LogGroup"}
    assert "RetentionInDays" in deployed.make(guide.line("make diff"))  # the next one restores it


def test_a_resource_that_is_in_use_is_removed_in_the_two_steps_of_the_page(
    deployed: Account,
) -> None:
    deployed.deploy(*POOL)
    output = deployed.deploy(fails=True)
    assert "cannot be deleted as it is in use by" in output
    assert deployed.statuses()[STORAGE] == "UPDATE_ROLLBACK_COMPLETE"
    deployed.make(guide.line("make deploy", containing="--exclusively"), NO_TERMINAL)
    deployed.deploy()
    assert deployed.statuses()[STORAGE] == "UPDATE_COMPLETE"


def test_alarms_that_cannot_be_created_leave_the_rest_and_are_created_the_second_time(
    deployed: Account,
) -> None:
    topic = ("-c", f"alarmTopicArn={deployed.place.arn('sns', 'operators')}")
    before = set(deployed.statuses())
    with deployed.failing("FunctionsThrottledAlarm", "Rate exceeded"):
        assert "Rate exceeded" in deployed.deploy(*topic, fails=True)
    assert deployed.statuses()[ALARMS] == "ROLLBACK_COMPLETE"
    unprotect = guide.line(UNPROTECT, containing=API).replace(API, ALARMS)
    deployed.aws(unprotect)
    deployed.deploy(*topic)
    assert deployed.statuses()[ALARMS] == "CREATE_COMPLETE"
    created = Counter(
        each["ResourceType"]
        for each in deployed.events(ALARMS)
        if each["ResourceStatus"] == "CREATE_COMPLETE"
    )
    assert created["AWS::CloudWatch::Alarm"] > MANY_ALARMS
    deployed.aws(unprotect)
    deployed.aws(guide.line("aws cloudformation delete-stack").replace(STORAGE, ALARMS))
    _wait_until(lambda: set(deployed.statuses()) == before)


def test_an_update_that_fails_is_rolled_back_and_succeeds_the_second_time(
    deployed: Account,
) -> None:
    options = ("-c", "apiBurst=1999")
    with deployed.failing("DefaultStage", "the limit of the account is 10"):
        output = deployed.deploy(*options, fails=True)
    assert "the limit of the account is 10" in output
    assert deployed.statuses()[API] == "UPDATE_ROLLBACK_COMPLETE"
    deployed.deploy(*options)
    assert deployed.statuses()[API] == "UPDATE_COMPLETE"


def test_protected_stacks_are_deleted_one_after_another_and_data_remains(
    deployed: Account,
) -> None:
    destroy = guide.line("make destroy")
    with pytest.raises(AssertionError, match="TerminationProtection is enabled"):
        deployed.make(destroy, "--force")
    names = stacks(deployed)
    assert set(deployed.statuses()) == set(names)
    command = guide.line(UNPROTECT, containing=API)
    for name in names:
        deployed.aws(command.replace(API, name))
    identity = deployed.aws(f"aws cloudformation describe-stacks --stack-name {STORAGE}")
    deployed.make(destroy, "--force")
    assert deployed.statuses() == {}
    kept = Counter(
        event["ResourceType"]
        for event in deployed.events(identity["Stacks"][0]["StackId"])
        if event["ResourceStatus"] == "DELETE_SKIPPED"
    )
    assert {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key"} <= set(kept)


def test_a_first_deployment_that_fails_is_removed_as_the_page_describes_and_repeated(
    tmp_path: Path,
) -> None:
    with account(tmp_path) as fresh:
        fresh.bootstrap()
        with fresh.failing("Notifications", "the quota of topics is reached"):
            assert "the quota of topics is reached" in fresh.deploy(fails=True)
        assert fresh.statuses() == {STORAGE: "ROLLBACK_FAILED"}
        left = fresh.aws(guide.line("aws cloudformation describe-stack-resources"))
        assert {kind for kind, _ in left} == {"AWS::DynamoDB::Table"}
        for _, table in left:
            fresh.aws(guide.line("aws dynamodb update-table"), TABLE=table)
        fresh.aws(guide.line(UNPROTECT, containing=STORAGE))
        fresh.aws(guide.line("aws cloudformation delete-stack"))
        _wait_until(lambda: not fresh.statuses())
        fresh.deploy()
        assert set(fresh.statuses().values()) == {"CREATE_COMPLETE"}
