"""The metrics that functions count are those that their alarms watch."""

import json
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
from backend.spec.queues import QUEUES
from docs.idle_costs import ALARMS
from tests.infra.templates import Assembly, Resource
from tests.infra.test_exports import imports

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


def test_the_page_on_costs_has_the_number_of_alarms(prod: Assembly) -> None:
    assert len(prod.of_type("AWS::CloudWatch::Alarm")) == ALARMS


def test_alarms_keep_no_export_but_those_of_queues_the_domain_and_the_api(
    prod: Assembly, locked: Assembly
) -> None:
    for assembly in (prod, locked):
        names = {
            assembly.text(assembly.exports[name]) for name in imports(assembly.templates["alarms"])
        }
        queues = {f"<{queue.name}{end}.Arn>" for queue in QUEUES for end in ("", "DeadLetters")}
        assert names == queues | {"<SearchDomain.Arn>", "<HttpApi>"}
