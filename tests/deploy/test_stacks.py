"""Commands of the guide on deploying: stacks are made, changed, upgraded and destroyed."""

import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.cloudformation.building import Place
from tests.deploy import console, guide
from tests.deploy.account import NO_TERMINAL, Account, account
from tests.deploy.conftest import Running
from tests.infra.released import DATA_TYPES
from tests.journeys.docs.test_commands import ALL, SYNTH, ran
from tests.journeys.main import test_whole_path
from tests.journeys.runtime import ROOT, wait_for

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
    return [
        n for n, artifact in artifacts.items() if artifact["type"] == "aws:cloudformation:stack"
    ]


def touched(account: Account) -> Counter[str]:
    """The types of all resources that were ever updated."""
    counts: Counter[str] = Counter()
    for stack in stacks(account):
        for event in account.events(stack):
            if event["ResourceStatus"] == "UPDATE_COMPLETE":
                counts[event["ResourceType"]] += 1
    return counts


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
    with deployed.failing("ApiLatencyAlarm", "Rate exceeded"):
        assert "Rate exceeded" in deployed.deploy(*topic, fails=True)
    assert deployed.statuses()[ALARMS] == "ROLLBACK_COMPLETE"
    unprotect = guide.line(UNPROTECT, containing=API).replace(API, ALARMS)
    deployed.aws(unprotect)
    deployed.deploy(*topic)
    assert deployed.statuses()[ALARMS] == "CREATE_COMPLETE"
    created = Counter(
        event["ResourceType"]
        for event in deployed.events(ALARMS)
        if event["ResourceStatus"] == "CREATE_COMPLETE"
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


def test_make_synth_writes_templates() -> None:
    assert SYNTH in ALL
    ran(SYNTH, dict(os.environ))
    assert list((ROOT / "cdk.out").glob("*.template.json"))


BEFORE = "0de5538cb4f8c866601e615a87405a7e2ba4a6fa^"
"""The parent of the commit that raised the mapping version to 5."""
FOREIGN = Place("111122223333", "eu-central-1")


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembly of the older commit, written by its own code with today's packages."""
    folder = tmp_path_factory.mktemp("older")
    archive = subprocess.run(
        ["git", "archive", BEFORE], cwd=guide.ROOT, capture_output=True, check=False
    )
    assert archive.returncode == 0, "the history is missing: run `git fetch --unshallow`"
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    (folder / ".venv").symlink_to(guide.ROOT / ".venv")  # has the command that builds layers
    context = json.dumps({"stage": guide.STAGE})
    environment = {**os.environ, "CDK_CONTEXT_JSON": context, "CDK_OUTDIR": str(folder / "out")}
    subprocess.run([sys.executable, "app.py"], cwd=folder, env=environment, check=True)
    return folder / "out"


def _kinds(found: Account, status: str) -> Counter[str]:
    """The types of the resources that ever had a status."""
    events: list[dict[str, Any]] = [e for stack in found.statuses() for e in found.events(stack)]
    return Counter(e["ResourceType"] for e in events if e["ResourceStatus"] == status)


def test_a_deployment_of_an_older_commit_is_upgraded_and_loses_no_data(
    older: Path, tmp_path: Path
) -> None:
    with account(tmp_path, place=FOREIGN) as result:
        result.bootstrap()
        result.deploy("--app", str(older))
        assert set(result.statuses().values()) == {"CREATE_COMPLETE"}
        result.deploy()
        assert set(result.statuses().values()) <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
        assert not _kinds(result, "DELETE_COMPLETE").keys() & DATA_TYPES
        assert not _kinds(result, "DELETE_SKIPPED").keys() & DATA_TYPES


BOOTSTRAP = f"vitrine-{guide.STAGE}-bootstrap"
SECRET = "aws secretsmanager get-secret-value"


def _output(running: Running, key: str) -> str:
    query = f"Stacks[].Outputs[] | [?OutputKey=='{key}'].OutputValue"
    (aw,) = running.account.aws(f'aws cloudformation describe-stacks --query "{query}"')
    return str(aw)


def test_the_outputs_are_the_address_and_the_key_that_the_page_names(running: Running) -> None:
    endpoint = running.runtime.endpoint
    assert _output(running, "ApiUrl") == endpoint["api"]
    secret = f"{guide.line(SECRET)} {_output(running, 'AdminApiKeySecret')}"
    assert console.run(secret, endpoint["aws"]) == endpoint["adminApiKey"]


def test_the_custom_resource_was_created(running: Running) -> None:
    result = running.account.events(BOOTSTRAP)
    created = [e["LogicalResourceId"] for e in result if e["ResourceStatus"] == "CREATE_COMPLETE"]
    assert "BootstrapRun" in created


def test_the_main_job_succeeds(running: Running) -> None:
    test_whole_path.test_an_asset_from_its_creation_to_its_archive(running.runtime)


def test_an_update_keeps_the_data(running: Running) -> None:
    api = running.runtime.client()
    database = api.new_database(f"kept-{uuid4().hex[:8]}")
    asset = api.new_asset(database, "Locomotive")
    wait_for(lambda: len(api.search(query="locomotive")), 1)
    running.account.deploy("-c", "presignedUrlSeconds=600")
    assert running.account.statuses()[API] == "UPDATE_COMPLETE"
    api = running.runtime.client()
    assert api.ok("GET", f"/database/{database}/assets/{asset}")["assetName"] == "Locomotive"
    wait_for(lambda: len(api.search(query="locomotive")), 1)


def test_a_custom_resource_is_deleted_before_its_function(running: Running) -> None:
    account = running.account
    for name in stacks(account):
        account.aws(guide.line(UNPROTECT, containing=API).replace(API, name))
    identity = account.aws(f"aws cloudformation describe-stacks --stack-name {BOOTSTRAP}")
    account.make(guide.line("make destroy"), "--force")
    assert account.statuses() == {}
    events = account.events(identity["Stacks"][0]["StackId"])
    gone = [e["LogicalResourceId"] for e in events if e["ResourceStatus"] == "DELETE_COMPLETE"]
    assert gone.index("Bootstrap") < gone.index("BootstrapRun")  # the last one is the first
