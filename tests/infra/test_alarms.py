"""The alarms: those of each declaration that can fail."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from backend.core.deliveries import LONGEST_PAUSE_SECONDS
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
from backend.spec.queues import QUEUES, STREAM_SUBSCRIPTIONS, Queue
from docs.idle_costs import ALARMS
from tests.infra.contexts import TOPIC
from tests.infra.templates import Assembly, Resource
from tests.infra.test_exports import imports

ALARM = "AWS::CloudWatch::Alarm"
CONSUMERS = [spec for spec in FUNCTIONS if spec.kind == "consumer"]
INDEXING = [spec for spec in CONSUMERS if FAILURE_BUCKET in spec.buckets]
WORKERS = [spec for spec in CONSUMERS if JOB_QUEUES & set(spec.receives)]
OF_QUEUES = [spec for spec in CONSUMERS if spec.receives]
COUNTED = [
    *product(OF_QUEUES, QUEUE_METRICS),
    *product(INDEXING, INDEXING_METRICS),
    *product(WORKERS, JOB_METRICS),
    *product([SEARCH_WORKER], CHECK_METRICS),
    *product([REPLAY_FAILURES], REPLAY_METRICS),
]
SEARCH_DOMAIN = {
    "Red": ("ClusterStatus.red", "Maximum", "GreaterThanThreshold", 0),
    "WritesBlocked": ("ClusterIndexWritesBlocked", "Maximum", "GreaterThanThreshold", 0),
    "Key": ("KMSKeyInaccessible", "Maximum", "GreaterThanThreshold", 0),
    "Storage": ("FreeStorageSpace", "Minimum", "LessThanThreshold", 25_600),  # MiB, of 100 GB
}
"""By alarm the metric of the search domain, and the condition."""
OF_STREAMS = sorted({subscription.consumer for subscription in STREAM_SUBSCRIPTIONS})


def _expected() -> set[str]:
    each = {f"{spec.name}ErrorsAlarm" for spec in FUNCTIONS if spec.kind != "api"}
    each |= {f"{queue.name}{what}Alarm" for queue in QUEUES for what in ("DeadLetters", "Age")}
    each |= {f"{consumer}IteratorAgeAlarm" for consumer in OF_STREAMS}
    each |= {f"{spec.name}{metric.title}Alarm" for spec, metric in COUNTED}
    each |= {f"Search{what}Alarm" for what in SEARCH_DOMAIN}
    return each | {
        "ApiServerErrorsAlarm",
        "DenialsNotEnteredAlarm",
        "ExecutionsThrottledAlarm",
        "FunctionsThrottledAlarm",
    }


def _metric(alarm: Resource) -> tuple[str, str, str]:
    properties = alarm.properties
    return properties["Namespace"], properties["MetricName"], properties["Statistic"]


def _dimensions(assembly: Assembly, alarm: Resource) -> dict[str, str]:
    return {d["Name"]: _named(assembly, d["Value"]) for d in alarm.properties["Dimensions"]}


def _named(assembly: Assembly, value: Any) -> str:
    match value:
        case {"Fn::Select": [part, {"Fn::Split": [separator, arn]}]}:
            return f"part {part} by {separator} of {assembly.text(arn)}"
        case _:
            return assembly.text(value)


def test_the_alarms_are_those_of_the_declarations(prod: Assembly) -> None:
    assert set(prod.of_type(ALARM)) == _expected()


def test_the_page_on_costs_has_the_number_of_alarms(prod: Assembly) -> None:
    assert len(prod.of_type(ALARM)) == ALARMS


def test_every_alarm_notifies_the_operators_and_none_treats_missing_data_as_bad(
    prod: Assembly,
) -> None:
    for alarm in prod.of_type(ALARM).values():
        assert prod.texts(alarm.properties["AlarmActions"]) == [TOPIC]
        assert alarm.properties["TreatMissingData"] == "notBreaching"
        assert alarm.properties["Period"] == 300
        assert alarm.properties["AlarmDescription"]


def test_a_stage_without_a_topic_has_no_alarms(local: Assembly) -> None:
    assert not local.of_type(ALARM)
    assert "alarms" not in local.templates


def test_alarms_are_alone_in_the_stack_that_is_deployed_last(
    synthesized: Callable[[str], Assembly],
) -> None:
    for name in ("prod", "locked", "without-key"):
        found = synthesized(name)
        order = found.stack_order()
        assert order["alarms"] == set(order) - {"alarms"}, name
        assert not [stack for stack, before in order.items() if "alarms" in before]
        kinds = {(each.stack, each.type) for each in found.all}
        assert {stack for stack, kind in kinds if kind == ALARM} == {"alarms"}
        assert {kind for stack, kind in kinds if stack == "alarms"} == {ALARM}


def test_at_most_three_alarms_are_created_at_once(prod: Assembly) -> None:
    before = {name: alarm.body.get("DependsOn", []) for name, alarm in prod.of_type(ALARM).items()}
    assert [len(each) for each in before.values()].count(0) == 3
    after = [name for names in before.values() for name in names]
    assert len(after) == len(set(after)) == len(before) - 3  # three chains


def test_alarms_keep_no_export_but_those_of_queues_the_domain_and_the_api(
    prod: Assembly, locked: Assembly
) -> None:
    for assembly in (prod, locked):
        names = {
            assembly.text(assembly.exports[each]) for each in imports(assembly.templates["alarms"])
        }
        queues = {f"<{queue.name}{end}.Arn>" for queue in QUEUES for end in ("", "DeadLetters")}
        assert names == queues | {"<SearchDomain.Arn>", "<HttpApi>"}


def test_a_function_that_fails_raises_its_alarm_or_that_of_the_api(
    prod: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        if spec.kind != "api":
            with subtests.test(spec.name):
                alarm = prod.resource(f"{spec.name}ErrorsAlarm")
                assert _metric(alarm) == ("AWS/Lambda", "Errors", "Sum")
                assert _dimensions(prod, alarm) == {"FunctionName": f"vitrine-prod-{spec.name}"}
                assert alarm.properties["EvaluationPeriods"] == 1
                assert alarm.properties["Threshold"] == (0 if spec in OF_QUEUES else 5)
    of_api = prod.resource("ApiServerErrorsAlarm")
    assert _metric(of_api) == ("AWS/ApiGateway", "5xx", "Sum")
    assert _dimensions(prod, of_api) == {"ApiId": "<HttpApi>"}


def test_one_alarm_watches_the_throttles_of_all_functions(prod: Assembly) -> None:
    alarm = prod.resource("FunctionsThrottledAlarm")
    assert _metric(alarm) == ("AWS/Lambda", "Throttles", "Sum")
    assert "Dimensions" not in alarm.properties
    assert alarm.properties["Threshold"] == 0


def test_an_alarm_of_an_outage_lasts_longer_than_a_message_that_is_returned_waits(
    prod: Assembly,
) -> None:
    for spec in OF_QUEUES:
        alarm = prod.resource(f"{spec.name}BatchesGivenBackAlarm").properties
        assert alarm["Period"] > 2 * LONGEST_PAUSE_SECONDS
        assert (alarm["Period"], alarm["EvaluationPeriods"], alarm["Threshold"]) == (300, 3, 0)
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue.name)
def test_a_queue_that_is_not_consumed_raises_an_alarm(prod: Assembly, queue: Queue) -> None:
    alarm = prod.resource(f"{queue.name}AgeAlarm")
    assert _metric(alarm) == ("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum")
    assert alarm.properties["Threshold"] == 3600
    assert _dimensions(prod, alarm) == {"QueueName": f"part 5 by : of <{queue.name}.Arn>"}
    alarm = prod.resource(f"{queue.name}DeadLettersAlarm")
    assert _metric(alarm) == ("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum")
    assert _dimensions(prod, alarm) == {
        "QueueName": f"part 5 by : of <{queue.name}DeadLetters.Arn>"
    }
    assert alarm.properties["Threshold"] == 0


@pytest.mark.parametrize("consumer", OF_STREAMS)
def test_a_consumer_that_is_behind_its_stream_raises_an_alarm(
    prod: Assembly, consumer: str
) -> None:
    alarm = prod.resource(f"{consumer}IteratorAgeAlarm")
    assert _metric(alarm) == ("AWS/Lambda", "IteratorAge", "Maximum")
    assert alarm.properties["Threshold"] == 300_000
    assert _dimensions(prod, alarm) == {"FunctionName": f"vitrine-prod-{consumer}"}


@pytest.mark.parametrize(("spec", "metric"), COUNTED, ids=lambda declared: declared.name)
def test_what_a_function_counts_is_what_its_alarm_watches(
    prod: Assembly,
    spec: Function,
    metric: Metric,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = prod.resource(spec.name).properties["Environment"]["Variables"]
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", service["POWERTOOLS_SERVICE_NAME"])
    count_metric(metric, spec.name)
    reply = json.loads(capsys.readouterr().out)
    (counted,) = reply["_aws"]["CloudWatchMetrics"]
    alarm = prod.resource(f"{spec.name}{metric.title}Alarm")
    assert _metric(alarm) == (counted["Namespace"], metric.name, "Sum")
    assert alarm.properties["EvaluationPeriods"] == metric.periods
    assert counted["Metrics"] == [{"Name": metric.name, "Unit": "Count"}]
    by = {name: reply[name] for name in counted["Dimensions"][0]}
    assert by == _dimensions(prod, alarm) == dimensions(spec.name)


def test_a_refusal_that_is_not_entered_raises_an_alarm(
    prod: Assembly, capsys: pytest.CaptureFixture[str]
) -> None:
    count(DENIALS_NOT_ENTERED)
    reply = json.loads(capsys.readouterr().out)
    (counted,) = reply["_aws"]["CloudWatchMetrics"]
    alarm = prod.resource("DenialsNotEnteredAlarm")
    assert _metric(alarm) == (counted["Namespace"], DENIALS_NOT_ENTERED.name, "Sum")
    by = {name: reply[name] for name in counted["Dimensions"][0]}
    assert by == _dimensions(prod, alarm) == OF_API


def test_a_server_error_of_the_api_raises_an_alarm(prod: Assembly) -> None:
    alarm = prod.resource("ApiServerErrorsAlarm")
    assert _metric(alarm) == ("AWS/ApiGateway", "5xx", "Sum")
    assert alarm.properties["Threshold"] == 5
    assert _dimensions(prod, alarm) == {"ApiId": "<HttpApi>"}


@pytest.mark.parametrize("what", SEARCH_DOMAIN)
def test_a_search_domain_in_trouble_raises_an_alarm(prod: Assembly, what: str) -> None:
    alarm = prod.resource(f"Search{what}Alarm")
    metric, statistic, operator, threshold = SEARCH_DOMAIN[what]
    assert _metric(alarm) == ("AWS/ES", metric, statistic)
    assert alarm.properties["ComparisonOperator"] == operator
    assert alarm.properties["Threshold"] == threshold
    by = _dimensions(prod, alarm)
    assert by == {
        "DomainName": "part 1 by / of <SearchDomain.Arn>",
        "ClientId": "<AWS::AccountId>",
    }
