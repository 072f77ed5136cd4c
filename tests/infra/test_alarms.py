"""Alarms, events, exports and tables of the templates, beside their snapshots."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from pydantic import JsonValue
from vitrine_mlflow.archive import TIME_TO_LIVE
from vitrine_mlflow.table import EXPIRES_AT, create_request

from backend.core.deliveries import LONGEST_PAUSE_SECONDS
from backend.domains.buckets.models import base_prefix
from backend.http.metrics import count
from backend.search.indexing.failures import count_metric
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.operations import REPLAY_FAILURES
from backend.spec.functions.workers import SEARCH_WORKER
from backend.spec.jobs import JOB_QUEUES
from backend.spec.metrics import (
    CHECK_METRICS,
    DENIALS_NOT_ENTERED,
    INDEXING_METRICS,
    JOB_METRICS,
    OF_API,
    QUEUE_METRICS,
    REPLAY_METRICS,
    Metric,
    dimensions,
)
from backend.spec.queues import OBJECT_SUBSCRIPTIONS, QUEUES, SCAN_SUBSCRIPTIONS, ObjectSubscription
from backend.spec.tables import TABLES, Table
from docs.idle_costs import ALARMS, MEMORY_METRICS
from infra.constructs.http_api import CREATED_AT_ONCE
from local.pumps.patterns import any_of, compile_pattern
from tests.cloudformation.building import Names
from tests.cloudformation.stacks import Stacks
from tests.factories.quarantine import scan_event
from tests.factories.tables import create_table_request
from tests.infra.contexts import TOPIC
from tests.infra.templates import Assembly, Resource, imports, refused

CONSUMERS = [spec for spec in FUNCTIONS if spec.kind == "consumer"]
OF_QUEUES = [spec for spec in CONSUMERS if spec.receives]
COUNTED = [
    *product(OF_QUEUES, QUEUE_METRICS),
    *product([spec for spec in CONSUMERS if FAILURE_BUCKET in spec.buckets], INDEXING_METRICS),
    *product([spec for spec in CONSUMERS if JOB_QUEUES & set(spec.receives)], JOB_METRICS),
    *product([SEARCH_WORKER], CHECK_METRICS),
    *product([REPLAY_FAILURES], REPLAY_METRICS),
]


def _watched(assembly: Assembly, alarm: Resource) -> tuple[str, str, dict[str, str]]:
    """Return namespace, metric and dimensions of an alarm."""
    properties = alarm.properties
    by = {entry["Name"]: assembly.text(entry["Value"]) for entry in properties["Dimensions"]}
    return properties["Namespace"], properties["MetricName"], by


def _counted(output: str) -> tuple[str, str, dict[str, Any]]:
    """Return namespace, metric and dimensions of a printed count."""
    reply = json.loads(output)
    (counted,) = reply["_aws"]["CloudWatchMetrics"]
    (metric,) = counted["Metrics"]
    assert metric["Unit"] == "Count"
    by = {name: reply[name] for name in counted["Dimensions"][0]}
    return counted["Namespace"], metric["Name"], by


@pytest.mark.parametrize(("spec", "metric"), COUNTED, ids=lambda declared: declared.name)
def test_what_a_function_counts_is_what_its_alarm_watches(
    prod: Assembly,
    spec: Function,
    metric: Metric,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variables = prod.resource(spec.name).properties["Environment"]["Variables"]
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", variables["POWERTOOLS_SERVICE_NAME"])
    count_metric(metric, spec.name)
    counted = _counted(capsys.readouterr().out)
    alarm = prod.resource(f"{spec.name}{metric.title}Alarm")
    assert counted == _watched(prod, alarm)
    assert counted[2] == dimensions(spec.name)
    assert alarm.properties["EvaluationPeriods"] == metric.periods


def test_a_refusal_that_is_not_entered_raises_an_alarm(
    prod: Assembly, capsys: pytest.CaptureFixture[str]
) -> None:
    count(DENIALS_NOT_ENTERED)
    counted = _counted(capsys.readouterr().out)
    assert counted == _watched(prod, prod.resource("DenialsNotEnteredAlarm"))
    assert counted[2] == OF_API


def test_an_alarm_of_an_outage_lasts_longer_than_a_message_that_is_returned_waits(
    prod: Assembly,
) -> None:
    for spec in OF_QUEUES:
        alarm = prod.resource(f"{spec.name}BatchesGivenBackAlarm").properties
        assert alarm["Period"] > 2 * LONGEST_PAUSE_SECONDS


def test_the_page_on_costs_has_the_number_of_alarms_and_metrics(small: Assembly) -> None:
    """Those of a stage without `events`, whose alarms the page adds in a sentence of their own."""
    alarms = small.of_type("AWS::CloudWatch::Alarm")
    assert len(alarms) == ALARMS
    assert len(small.of_type("AWS::Logs::MetricFilter")) == MEMORY_METRICS
    for alarm in alarms.values():
        assert alarm.properties["OKActions"] == alarm.properties["AlarmActions"] == [TOPIC]


WORKING = [
    spec
    for spec in FUNCTIONS
    if spec.kind in {"reader", "pipeline", "output"} or JOB_QUEUES & set(spec.receives)
]


@pytest.mark.parametrize("spec", WORKING, ids=lambda spec: spec.name)
def test_what_works_on_files_or_jobs_raises_an_alarm_before_it_lacks_memory_or_time(
    prod: Assembly, spec: Function
) -> None:
    function = prod.resource(spec.name).properties
    assert function["LoggingConfig"]["SystemLogLevel"] == "INFO"
    report = {"type": "platform.report", "record": {"metrics": {"maxMemoryUsedMB": 120}}}
    reported = prod.resource(f"{spec.name}MemoryUsed").properties
    assert reported["FilterPattern"] == f'{{ $.type = "{report["type"]}" }}'
    (metric,) = reported["MetricTransformations"]
    assert metric["MetricValue"] == "$.record.metrics.maxMemoryUsedMB"
    memory = prod.resource(f"{spec.name}MemoryAlarm").properties
    assert (memory["Namespace"], memory["MetricName"]) == (
        metric["MetricNamespace"],
        metric["MetricName"],
    )
    assert memory["Threshold"] == pytest.approx(0.9 * function["MemorySize"])
    duration = prod.resource(f"{spec.name}DurationAlarm").properties
    assert duration["Threshold"] == pytest.approx(900 * function["Timeout"])


def test_each_function_raises_an_alarm_when_it_is_throttled(locked: Assembly) -> None:
    for function in locked.of_type("AWS::Lambda::Function").values():
        name = function.properties.get("FunctionName")
        if name is not None:  # those of CDK's own have none
            alarm = locked.resource(f"{name.rpartition('-')[2]}ThrottledAlarm")
            assert _watched(locked, alarm) == ("AWS/Lambda", "Throttles", {"FunctionName": name})


@pytest.mark.parametrize("of", ["Read", "Write"])
def test_throttled_tables_and_indexes_raise_an_alarm(prod: Assembly, of: str) -> None:
    for of_what, keys in (("Table", "TableName"), ("Index", "TableName, GlobalSecondaryIndexName")):
        (query,) = prod.resource(f"{of_what}{of}sThrottledAlarm").properties["Metrics"]
        schema = f'SCHEMA("AWS/DynamoDB", {keys})'
        assert query["Expression"] == f"SELECT SUM({of}ThrottleEvents) FROM {schema}"


def test_alarms_keep_no_export_but_those_of_queues_the_domain_and_the_api(
    prod: Assembly, locked: Assembly
) -> None:
    for assembly in (prod, locked):
        names = {
            assembly.text(assembly.exports[name]) for name in imports(assembly.templates["alarms"])
        }
        queues = {f"<{queue.name}{end}.Arn>" for queue in QUEUES for end in ("", "DeadLetters")}
        assert names == queues | {"<SearchDomain.Arn>", "<HttpApi>"}


OBJECT_EVENTS = ("Object Created", "Object Deleted", "Object Storage Class Changed")


@pytest.mark.parametrize("spec", OBJECT_SUBSCRIPTIONS, ids=lambda spec: spec.queue.name)
@pytest.mark.parametrize(
    ("key", "passes"),
    [
        ("temp-uploads/y1/part", False),
        ("temp-uploads/", False),
        ("x/temp-uploads/a.glb", True),
        ("scans/temp-uploads/y1/part", True),
        ("temp-uploads-of-ann/a.glb", True),
        ("temp-uploads", True),
        ("pump/a.glb", True),
    ],
)
def test_only_events_of_unfinished_uploads_below_the_root_reach_no_queue(
    locked: Assembly, spec: ObjectSubscription, key: str, *, passes: bool
) -> None:
    pattern = locked.resource(f"{spec.source.name}To{spec.queue.name}").properties["EventPattern"]
    names = locked.texts(pattern["detail"]["bucket"]["name"])
    assert names == [f"<{spec.source.name}>", "scans"]
    pattern = {**pattern, "detail": {**pattern["detail"], "bucket": {"name": names}}}
    matches = compile_pattern(json.dumps(pattern))
    for kind in OBJECT_EVENTS:
        for name in names:
            detail: JsonValue = {"bucket": {"name": name}, "object": {"key": key}}
            assert matches({"source": "aws.s3", "detail-type": kind, "detail": detail}) == passes


def test_the_ignored_prefix_is_that_of_a_folder_in_which_no_asset_can_be() -> None:
    for spec in OBJECT_SUBSCRIPTIONS:
        assert spec.ignored_prefix.endswith("/")
        with pytest.raises(ValueError, match="reserved folder"):
            base_prefix(spec.ignored_prefix)


def test_only_results_of_scans_of_our_buckets_reach_the_queue(hardened: Assembly) -> None:
    (spec,) = SCAN_SUBSCRIPTIONS
    rule = hardened.resource(f"{spec.source.name}To{spec.queue.name}").properties
    pattern = json.loads(json.dumps(rule["EventPattern"]))
    assert hardened.texts(pattern["account"]) == ["<AWS::AccountId>"]
    pattern["account"] = ["111122223333"]
    pattern["detail"]["s3ObjectDetails"]["bucketName"] = ["own", "imported"]
    matches = compile_pattern(json.dumps(pattern))
    for bucket in ("own", "imported"):
        for status in ("THREATS_FOUND", "NO_THREATS_FOUND"):
            assert matches(scan_event("statue/a.glb", "v1", status, bucket=bucket))
    own = scan_event("pump/temp-uploads/a.glb", "v1", bucket="own")
    assert matches(own)
    others: list[dict[str, Any]] = [
        scan_event("statue/a.glb", "v1", bucket="somebody-elses"),
        scan_event("statue/a.glb", "v1", "UNSUPPORTED", bucket="own"),
        scan_event("temp-uploads/y/1", "v1", bucket="own"),
        own | {"source": "mine"},
        own | {"detail-type": "GuardDuty Finding"},
        own | {"account": "444455556666"},
    ]
    assert [event for event in others if matches(event)] == []


def test_a_setting_is_switched_off_by_updating_the_stacks_that_import_first(
    hardened: Assembly, prod: Assembly
) -> None:
    importing_first = (
        "alarms",
        "web",
        "bootstrap",
        "indexing",
        "pipelines",
        "api",
        "search",
        "storage",
    )
    assert refused(hardened, prod, importing_first) == []
    assert refused(hardened, prod) != []


def test_the_page_is_switched_off_while_its_stack_still_imports(
    page: Assembly, small: Assembly
) -> None:
    assert imports(page.templates["web"])
    assert refused(page, small) == []


INDEXES = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")


def _comparable(request: dict[str, Any]) -> dict[str, Any]:
    """A table's properties, with lists in one order if their order has no meaning."""
    orders = {"AttributeDefinitions": "AttributeName", **dict.fromkeys(INDEXES, "IndexName")}
    return {
        name: sorted(value, key=lambda entry: entry[orders[name]]) if name in orders else value
        for name, value in request.items()
    }


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_has_the_declared_keys_indexes_stream_and_protection(
    small: Assembly, table: Table
) -> None:
    expected = create_table_request(table, "")
    del expected["TableName"]  # CloudFormation chooses it
    if table.stream:
        expected["StreamSpecification"] = {"StreamViewType": table.stream}
    if table.ttl:
        expected["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    expected["DeletionProtectionEnabled"] = True
    expected["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": True}
    assert _comparable(small.resource(table.name).properties) == _comparable(expected)


def test_the_table_of_tracking_is_the_one_that_its_package_declares(locked: Assembly) -> None:
    properties = _comparable(locked.resource("TrackingTable").properties)
    expected = _comparable(create_request(""))
    for name in ("KeySchema", *INDEXES):
        assert properties[name] == expected[name]
    assert properties["TimeToLiveSpecification"]["AttributeName"] == EXPIRES_AT


def test_the_archiver_gets_only_what_the_time_to_live_deletes(locked: Assembly) -> None:
    mapping = locked.resource("TrackingTableToTrackingArchiver").properties
    (pattern,) = mapping["FilterCriteria"]["Filters"]
    matches = any_of([pattern["Pattern"]])
    expired: dict[str, Any] = {"eventName": "REMOVE", "userIdentity": TIME_TO_LIVE}
    assert matches(expired)
    assert not matches({"eventName": "REMOVE"})
    assert not matches({**expired, "eventName": "MODIFY"})


ROUTES = ("AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Integration")
ALARM_KINDS = ("AWS::CloudWatch::Alarm",)


@pytest.mark.parametrize(("kinds", "at_once"), [(ROUTES, CREATED_AT_ONCE), (ALARM_KINDS, 3)])
def test_resources_are_created_in_a_few_chains(
    prod: Assembly, kinds: tuple[str, ...], at_once: int
) -> None:
    resources = {name: body for kind in kinds for name, body in prod.of_type(kind).items()}
    earlier = {
        name: before
        for name, resource in resources.items()
        for before in resource.body.get("DependsOn", [])
    }
    # Each depends on another one, except the first few: this is the number of chains.
    assert len(set(earlier.values())) == len(earlier) == len(resources) - at_once
    assert [_end(earlier, name) for name in resources if _end(earlier, name) in earlier] == []


def _end(earlier: dict[str, str], name: str) -> str:
    """Return the beginning of the chain of that name; itself, if it is a circle."""
    for _ in earlier:
        name = earlier.get(name, name)
    return name


def test_the_stage_is_created_after_its_routes(hardened: Assembly) -> None:
    """API Gateway refuses settings of a route that does not exist."""
    (stage,) = hardened.of_type("AWS::ApiGatewayV2::Stage").values()
    routes = {name for kind in ROUTES for name in hardened.of_type(kind)}
    assert set(stage.body["DependsOn"]) == routes


def test_the_state_machine_is_created_long_after_its_role(prod: Assembly) -> None:
    """Step Functions tests its log destination at once, and IAM needs seconds for a new role.

    The role refers to no function, and the state machine waits for them.
    """
    role, machine = prod.resource("ExecutionsRole"), prod.resource("Executions")
    functions = {
        name for name in prod.of_type("AWS::Lambda::Function") if name in str(machine.body)
    }
    assert functions >= {"Inspect", "ProcessOutput"}
    assert not [name for name in functions if f"'{name}'" in str(role.body)]
    (invoked,) = (arns for actions, arns in prod.statements(role) if "lambda:" in actions[0])
    names = {name.rpartition(":")[2] for name in invoked}
    assert names == {f"vitrine-prod-{name}" for name in functions}
    (trust,) = role.properties["AssumeRolePolicyDocument"]["Statement"]
    condition = trust["Condition"]
    assert prod.text(condition["ArnLike"]["aws:SourceArn"]).endswith(":stateMachine:*")
    assert prod.text(condition["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"


PATIENCE_SECONDS = 60
TOOLKIT = {"/cdk-bootstrap/hnb659fds/version": "30"}


def _in_order(assembly: Assembly) -> list[str]:
    """The stacks, each after those that it depends on, as the CDK command deploys them."""
    artifacts = assembly.manifest["artifacts"]
    names = [
        n for n, artifact in artifacts.items() if artifact["type"] == "aws:cloudformation:stack"
    ]
    result: list[str] = []
    while waiting := [name for name in names if name not in result]:
        result += [
            n for n in waiting if {*artifacts[n]["dependencies"]} & set(names) <= set(result)
        ]
    return result


@pytest.mark.parametrize("name", ["small", "hardened", "locked"])
def test_all_stacks_are_created_and_deleted_by_the_rules_of_cloudformation(
    synthesized: Callable[[str], Assembly], name: str
) -> None:
    assembly = synthesized(name)
    stacks = Stacks(Names(), TOOLKIT.get)
    order = _in_order(assembly)
    for again in (False, True):
        for stack in order:
            text = (assembly.folder / f"{stack}.template.json").read_text()
            creates = not again
            made = stacks.propose(stack, "a", text, creates=creates, parameters={}, tags=[])
            assert made.status == ("FAILED" if again else "CREATE_COMPLETE")
            if not again:
                stacks.execute(stack, "a", "").join(PATIENCE_SECONDS)
                assert stacks.find(stack).status == "CREATE_COMPLETE", stacks.find(stack).events
    for stack in reversed(order):
        record = stacks.find(stack)
        stacks.delete(stack, "").join(PATIENCE_SECONDS)
        assert record.status == "DELETE_COMPLETE"
