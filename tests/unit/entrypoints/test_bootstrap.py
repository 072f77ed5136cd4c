"""Bootstrap, called as CloudFormation calls it."""

import json
import logging
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from tenacity import wait_none

from backend.aws import clients, cloudformation
from backend.aws.clients import secrets_manager
from backend.aws.secrets import Secrets
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.core.paging import PageRequest
from backend.core.transactions import Item
from backend.domains.identity.rules.refusals import RefusedError
from backend.domains.identity.service.authentication import KeyAuthentication
from backend.domains.identity.service.first_administrator import Administrators
from backend.entrypoints import bootstrap
from backend.entrypoints.wiring.authentication import callers
from backend.entrypoints.wiring.context import Context
from backend.search.indexing.indexes import MappingDiffersError
from backend.search.indexing.state import Pointer
from backend.spec.functions.operations import AUTHORIZER, BOOTSTRAP
from backend.spec.secrets import ADMIN_API_KEY, API_KEY_PEPPER
from backend.spec.shipped import SHIPPED
from backend.spec.tables import TABLES
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.registry import ASSET_BUCKETS, FEATURES
from backend.spec.tables.workflows import PIPELINES, WORKFLOWS
from tests.factories.http import Context as LambdaContext
from tests.fakes.search_engine import MemorySearchEngine
from tests.unit.entrypoints.conftest import NEEDED, Account, Callback, Time, serving

pytestmark = pytest.mark.usefixtures("account", "deployed", "time")


@pytest.fixture(autouse=True)
def answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloudformation, "wait_exponential", _no_wait)


def _no_wait(**_: float) -> wait_none:
    return wait_none()


def request(callback: Callback, kind: str = "Create") -> dict[str, Any]:
    event: dict[str, Any] = {
        "RequestType": kind,
        "ResponseURL": callback.url,
        "StackId": "arn:aws:cloudformation:us-east-1:123456789012:stack/vitrine/1",
        "RequestId": "request-1",
        "ResourceType": "Custom::Bootstrap",
        "LogicalResourceId": "BootstrapRun",
        "ResourceProperties": {"ServiceToken": "arn", "Declarations": "hash", **NEEDED},
    }
    if kind != "Create":
        event |= {"PhysicalResourceId": bootstrap.PHYSICAL_ID, "OldResourceProperties": {}}
    return event


def run(callback: Callback, kind: str = "Create") -> dict[str, Any]:
    """One request of CloudFormation, and the answer that it got."""
    bootstrap.handler(request(callback, kind), LambdaContext())
    return json.loads(callback.bodies[-1])


def everything(tables: DynamoTables) -> dict[str, tuple[Item, ...]]:
    return {table.name: tables.scan(table, PageRequest(100)).items for table in TABLES}


def test_a_new_deployment_gets_what_it_needs(callback: Callback, tables: DynamoTables) -> None:
    answer = run(callback)
    (bucket,) = tables.scan(ASSET_BUCKETS, PageRequest(10)).items
    assert (bucket["bucketName"], bucket["baseAssetsPrefix"]) == ("assetbucket", "/")
    assert bucket["bucketName:baseAssetsPrefix"] == "assetbucket:/"
    assert answer == {
        "Status": "SUCCESS",
        "Reason": "",
        "PhysicalResourceId": "vitrine-bootstrap",
        "StackId": "arn:aws:cloudformation:us-east-1:123456789012:stack/vitrine/1",
        "RequestId": "request-1",
        "LogicalResourceId": "BootstrapRun",
        "Data": {
            "BucketId": bucket["bucketId"],
            "Search": "not deployed",
            "Account": "has 1000 concurrent executions, of which 1000 are unreserved",
        },
    }
    assert tables.scan(FEATURES, PageRequest(10)).items == ({"featureName": "NOOPENSEARCH"},)


@pytest.mark.parametrize(
    ("processing", "ids"), [("1", {item.id for item in SHIPPED}), ("0", set[str]())]
)
def test_what_ships_is_created_unless_processing_is_off(
    callback: Callback,
    tables: DynamoTables,
    monkeypatch: pytest.MonkeyPatch,
    processing: str,
    ids: set[str],
) -> None:
    monkeypatch.setenv("SETTING_PROCESSING", processing)
    assert run(callback)["Status"] == "SUCCESS"
    items = tables.scan(WORKFLOWS, PageRequest(10)).items
    assert {row["workflowId"] for row in items} == ids
    assert {row["databaseId"] for row in items} <= {"GLOBAL"}
    kept = tables.scan(PIPELINES, PageRequest(10)).items
    assert {row["pipelineId"]: row["usedBy"] for row in kept} == {
        item: [f"GLOBAL:{item}"] for item in ids
    }


def test_the_page_is_recorded_and_removed_with_its_stack(
    callback: Callback, tables: DynamoTables
) -> None:
    def send(kind: str, **properties: str) -> dict[str, Any] | None:
        event = {**request(callback, kind), "ResourceType": "Custom::Page"}
        event["ResourceProperties"] = {"ServiceToken": "arn", **properties}
        bootstrap.handler(event, LambdaContext())
        answer = json.loads(callback.bodies[-1])
        assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", bootstrap.PAGE_ID)
        return tables.get(RESERVATIONS, {"reservationKey": "Page"})

    url = "https://models.example.org/ui/"
    assert send("Create", Url=url) == {"reservationKey": "Page", "url": url}
    assert send("Update", Url=url, Issuer="https://i", ClientId="c") == {
        "reservationKey": "Page",
        "url": url,
        "issuer": "https://i",
        "clientId": "c",
    }
    assert send("Delete", Url=url) is None
    assert tables.scan(FEATURES, PageRequest(10)).items == ()


def test_the_secret_is_the_key_as_clients_send_it_also_once_changed(callback: Callback) -> None:
    run(callback)
    client = secrets_manager()
    key = client.get_secret_value(SecretId=ADMIN_API_KEY.name)["SecretString"]
    assert key == "vams_" + ADMIN_API_KEY.name * 10
    assert authorizer_keys().authenticate(key).user_id == "admin"
    client.put_secret_value(SecretId=ADMIN_API_KEY.name, SecretString="n" * 64)
    run(callback, "Update")
    authentication = authorizer_keys()
    with pytest.raises(RefusedError):
        authentication.authenticate("vams_" + ADMIN_API_KEY.name * 10)
    assert authentication.authenticate("vams_" + "n" * 64).user_id == "admin"


def authorizer_keys() -> KeyAuthentication:
    context = Context(AUTHORIZER)
    return callers(context, unrecorded=lambda _key: None, warn=pytest.fail).keys


def test_running_again_changes_nothing(callback: Callback, tables: DynamoTables) -> None:
    run(callback)
    before = everything(tables)
    answer = run(callback, "Update")
    assert answer["Status"] == "SUCCESS"
    assert everything(tables) == before
    answer = run(callback, "Delete")
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", "vitrine-bootstrap")
    assert everything(tables) == before


def test_a_run_that_broke_off_is_finished_by_the_next(
    callback: Callback, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Administrators, "ensure", _down)
        assert run(callback)["Status"] == "FAILED"
    assert run(callback)["Status"] == "SUCCESS"
    assert authorizer_keys().authenticate("vams_" + ADMIN_API_KEY.name * 10)


DENIED = "User: arn:aws:sts::1:role/new is not authorized to perform: dynamodb:PutItem"


def denied(service: str) -> Exception:
    """Return boto3's error for a denial: DynamoDB's has status 400, S3's has 403."""
    status, code = (400, "AccessDeniedException") if service == "DynamoDB" else (403, "403")
    metadata: Any = {"HTTPStatusCode": status}
    return ClientError(
        {"Error": {"Code": code, "Message": DENIED}, "ResponseMetadata": metadata}, "PutItem"
    )


PASSING = {
    "an outage": UnavailableError("DynamoDB does not answer"),
    "a denial": denied("DynamoDB"),
    "a forbidden head of an object": denied("S3"),
}


@pytest.mark.parametrize("error", PASSING.values(), ids=PASSING)
def test_an_outage_or_denial_that_passes_is_waited_for(
    callback: Callback, monkeypatch: pytest.MonkeyPatch, time: Time, error: Exception
) -> None:
    write, failures = DynamoTables.write, iter([1, 2])

    def fail_twice(tables: DynamoTables, one: Any) -> object:
        if next(failures, None):
            raise error
        return write(tables, one)

    monkeypatch.setattr(DynamoTables, "write", fail_twice)
    assert run(callback)["Status"] == "SUCCESS"
    assert time.now == 4


@pytest.mark.parametrize(
    ("error", "reason", "seconds"),
    [
        (PASSING["an outage"], "DynamoDB does not answer", 120),
        (PASSING["a denial"], f"PutItem is denied: {DENIED} (retried for 60 seconds)", 60),
    ],
)
def test_what_lasts_is_answered_with_its_reason(
    callback: Callback,
    monkeypatch: pytest.MonkeyPatch,
    time: Time,
    error: Exception,
    reason: str,
    seconds: int,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(DynamoTables, "write", fail)
    answer = run(callback)
    assert (answer["Status"], answer["Reason"], time.now) == ("FAILED", reason, seconds)


def test_slow_attempts_leave_time_to_answer(
    callback: Callback, monkeypatch: pytest.MonkeyPatch, time: Time
) -> None:
    def time_out(*_: object) -> None:
        time.now += 20
        raise UnavailableError("OpenSearch does not answer")

    monkeypatch.setattr(DynamoTables, "write", time_out)
    assert run(callback)["Status"] == "FAILED"
    denials = bootstrap._DENIED_SECONDS  # pyright: ignore[reportPrivateUsage]
    assert time.now + denials < BOOTSTRAP.timeout_seconds


def test_a_denial_of_the_search_domain_is_retried_and_answered(
    callback: Callback, monkeypatch: pytest.MonkeyPatch, time: Time
) -> None:
    reason = "User: arn:aws:sts::1:role/new is not authorized to perform: es:ESHttpPut"
    refusal = json.dumps({"Message": reason}).encode()
    with serving(lambda _handler, _sent: (403, refusal)) as url:
        monkeypatch.setenv("SEARCH_ENDPOINT", "search.example.org")
        monkeypatch.setenv("AWS_ENDPOINT_URL_OPENSEARCH", url)
        answer = run(callback)
    assert answer["Status"] == "FAILED"
    assert "OpenSearch denies the request" in answer["Reason"]
    assert reason in answer["Reason"]
    assert time.now == 60


def test_a_bug_is_answered_without_its_text(
    callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the secret is 1234")

    monkeypatch.setattr(Administrators, "ensure", fail)
    with pytest.raises(RuntimeError):
        run(callback)
    answer = json.loads(callback.bodies[-1])
    assert answer["Status"] == "FAILED"
    assert "unexpected RuntimeError" in answer["Reason"]
    assert "1234" not in answer["Reason"]


def test_a_missing_environment_is_answered_too(
    callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(f"SECRET_{API_KEY_PEPPER.name}")
    with pytest.raises(Exception, match=f"SECRET_{API_KEY_PEPPER.name}"):
        run(callback)
    assert json.loads(callback.bodies[-1])["Status"] == "FAILED"


def test_an_index_mapped_otherwise_is_reported_and_fails_nothing(
    callback: Callback, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def differ(*_: object) -> Pointer:
        raise MappingDiffersError(("assets-1: dynamic is 'strict', declared 'true'",))

    monkeypatch.setenv("SEARCH_ENDPOINT", "search.example.org")
    monkeypatch.setattr(bootstrap, "ensure_indexes", differ)
    answer = run(callback)
    assert answer["Status"] == "SUCCESS"
    assert (
        answer["Data"]["Search"]
        == "mapped otherwise than declared: POST /admin/search/reindex corrects this"
    )
    assert "assets-1: dynamic" in caplog.text


def test_settings_that_the_service_refuses_fail_nothing_and_are_named(
    callback: Callback, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine = MemorySearchEngine(refusal="not supported")
    monkeypatch.setattr(Context, "search_engine", engine)
    with caplog.at_level(logging.WARNING):
        answer = run(callback)
    assert answer["Status"] == "SUCCESS"
    assert "assets-1 is not tuned: not supported" in answer["Data"]["Search"]
    assert set(engine.indexes) == {"assets-1", "files-1"}


def test_an_sdk_that_is_too_old_is_named_to_cloudformation(
    callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cached in (*vars(clients).values(),):
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()
    monkeypatch.setattr(boto3, "__version__", "1.39.4")
    answer = run(callback)
    assert answer["Status"] == "FAILED"
    assert "boto3 1.39.4, which is older than 1.40" in answer["Reason"]


@pytest.mark.parametrize(("total", "status"), [(129, "FAILED"), (130, "SUCCESS")])
def test_reservations_that_lambda_refuses_fail_before_functions_are_created(
    callback: Callback, account: Account, total: int, status: str
) -> None:
    account.total = account.unreserved = total
    event = request(callback)
    event["ResourceProperties"] |= {"InstancesRequired": "130"}
    bootstrap.handler(event, LambdaContext())
    answer = json.loads(callback.bodies[-1])
    assert answer["Status"] == status
    refusal = (
        'the quota "Concurrent executions" of Lambda is 129 in this account and region, and '
        "reservedConcurrency needs 130, because 100 must remain unreserved: request "
        "an increase in Service Quotas, or lower reservedConcurrency"
    )
    assert answer["Reason"] == (refusal if status == "FAILED" else "")


def test_an_answer_is_sent_until_it_is_taken_or_lost(callback: Callback) -> None:
    callback.statuses = [503]
    run(callback)
    assert len(callback.bodies) == 2
    assert json.loads(callback.bodies[0]) == json.loads(callback.bodies[1])
    run(callback)
    assert callback.headers[0]["Content-Type"] == ""
    event = {**request(callback, "Delete"), "ResponseURL": "http://127.0.0.1:9/?X-Amz-Signature=s"}
    with pytest.raises(UnavailableError) as failed:
        bootstrap.handler(event, LambdaContext())
    assert "Signature" not in str(failed.value)


def test_no_log_line_holds_a_secret_or_the_url(
    callback: Callback,
    deployed: Secrets,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(Administrators, "ensure", _down)
    callback.statuses = [503]
    run(callback)
    written = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert "bootstrap failed" in written
    for secret in (ADMIN_API_KEY, API_KEY_PEPPER):
        assert deployed.value(secret) not in written
    assert "X-Amz-Signature" not in written


def _down(*_: object) -> None:
    raise UnavailableError("DynamoDB does not answer")
