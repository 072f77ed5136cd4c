"""The indexing stack: every subscription has its mapping, and a destination for failures."""

import json
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from backend.domains.buckets.models import base_prefix
from backend.domains.jobs.service.runner import LONGEST_LEASE_SECONDS
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.functions import FUNCTIONS
from backend.spec.jobs import JOB_QUEUES
from backend.spec.queues import (
    OBJECT_SUBSCRIPTIONS,
    QUEUE_SUBSCRIPTIONS,
    QUEUES,
    STREAM_SUBSCRIPTIONS,
    ObjectSubscription,
    Queue,
    QueueSubscription,
    StreamSubscription,
)
from local.pumps.patterns import compile_pattern
from tests.infra.templates import Assembly

MAPPING = "AWS::Lambda::EventSourceMapping"
OBJECT_EVENTS = ("Object Created", "Object Deleted", "Object Storage Class Changed")


def test_there_is_one_mapping_for_each_subscription(assembly: Assembly) -> None:
    subscriptions = [*STREAM_SUBSCRIPTIONS, *QUEUE_SUBSCRIPTIONS]
    assert set(assembly.of_type(MAPPING)) == {
        f"{s.source.name}To{s.consumer}" for s in subscriptions
    }


@pytest.mark.parametrize("spec", STREAM_SUBSCRIPTIONS, ids=lambda spec: spec.source.name)
def test_a_stream_wakes_its_consumer_and_loses_nothing(
    assembly: Assembly, spec: StreamSubscription
) -> None:
    found = dict(assembly.resource(f"{spec.source.name}To{spec.consumer}").properties)
    assert assembly.text(found.pop("EventSourceArn")) == f"<{spec.source.name}.StreamArn>"
    assert assembly.text(found.pop("FunctionName")) == f"<{spec.consumer}.Arn>"
    destination = found.pop("DestinationConfig")["OnFailure"]["Destination"]
    assert assembly.text(destination) == f"<{FAILURE_BUCKET.name}.Arn>"
    filtered = {"Filters": [{"Pattern": spec.pattern}]} if spec.pattern else None
    assert found.pop("FilterCriteria", None) == filtered
    assert found == {
        "BatchSize": spec.batch_size,
        "MaximumBatchingWindowInSeconds": spec.window_seconds,
        "BisectBatchOnFunctionError": spec.bisect,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "MaximumRecordAgeInSeconds": spec.max_record_age_seconds,
        "StartingPosition": "TRIM_HORIZON",
    }


def test_a_consumer_may_write_what_it_failed_on(assembly: Assembly) -> None:
    for spec in STREAM_SUBSCRIPTIONS:
        role = assembly.resource(f"{spec.consumer}Role")
        allowed = {
            (action, resource)
            for actions, resources in assembly.statements(role)
            for action in actions
            for resource in resources
        }
        assert ("s3:PutObject", f"<{FAILURE_BUCKET.name}.Arn>/*") in allowed
        assert ("s3:ListBucket", f"<{FAILURE_BUCKET.name}.Arn>") in allowed


@pytest.mark.parametrize("spec", QUEUE_SUBSCRIPTIONS, ids=lambda spec: spec.source.name)
def test_a_queue_wakes_its_consumer_within_the_declared_concurrency(
    assembly: Assembly, spec: QueueSubscription
) -> None:
    found = dict(assembly.resource(f"{spec.source.name}To{spec.consumer}").properties)
    assert assembly.text(found.pop("EventSourceArn")) == f"<{spec.source.name}.Arn>"
    assert assembly.text(found.pop("FunctionName")) == f"<{spec.consumer}.Arn>"
    assert found == {
        "BatchSize": spec.batch_size,
        "MaximumBatchingWindowInSeconds": spec.window_seconds,
        "ScalingConfig": {"MaximumConcurrency": spec.max_concurrency},
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }


def test_in_a_small_account_each_queue_starts_two_instances_at_most(
    synthesized: Callable[[str], Assembly],
) -> None:
    mappings = synthesized("without-search").of_type("AWS::Lambda::EventSourceMapping")
    of_queues = {
        name: each.properties["ScalingConfig"]
        for name, each in mappings.items()
        if "StartingPosition" not in each.properties
    }
    assert len(of_queues) > 5
    assert set(map(str, of_queues.values())) == {"{'MaximumConcurrency': 2}"}


def test_the_queues_are_those_declared_and_one_for_the_dead_letters_of_each(
    assembly: Assembly,
) -> None:
    names = {queue.name for queue in QUEUES}
    expected = names | {f"{name}DeadLetters" for name in names}
    assert set(assembly.of_type("AWS::SQS::Queue")) == expected


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue.name)
def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_run_one_of_a_job_twice(
    assembly: Assembly, queue: Queue
) -> None:
    properties = assembly.resource(queue.name).properties
    consumers = {s.consumer for s in QUEUE_SUBSCRIPTIONS if s.source is queue}
    longest = max(spec.timeout_seconds for spec in FUNCTIONS if spec.name in consumers)
    if queue in JOB_QUEUES:
        assert properties["VisibilityTimeout"] == 2 * longest == LONGEST_LEASE_SECONDS
    else:
        assert properties["VisibilityTimeout"] == 6 * longest
    redrive = properties["RedrivePolicy"]
    assert assembly.text(redrive["deadLetterTargetArn"]) == f"<{queue.name}DeadLetters.Arn>"
    assert redrive["maxReceiveCount"] == queue.max_receives
    tried_seconds = redrive["maxReceiveCount"] * properties["VisibilityTimeout"]
    assert tried_seconds <= properties["MessageRetentionPeriod"] / 2
    for name in (queue.name, f"{queue.name}DeadLetters"):
        found = assembly.resource(name).properties
        assert found["MessageRetentionPeriod"] == queue.retention_days * 86_400


@pytest.mark.parametrize("spec", OBJECT_SUBSCRIPTIONS, ids=lambda spec: spec.queue.name)
def test_object_events_of_a_bucket_go_to_the_declared_queue(
    assembly: Assembly, spec: ObjectSubscription
) -> None:
    properties = assembly.resource(f"{spec.source.name}To{spec.queue.name}").properties
    pattern = properties["EventPattern"]
    assert pattern["source"] == ["aws.s3"]
    assert set(pattern["detail-type"]) == set(OBJECT_EVENTS)
    assert assembly.texts(pattern["detail"]["bucket"]["name"]) == [
        f"<{spec.source.name}>",
        *assembly.imported_buckets,
    ]
    assert set(pattern["detail"]) == {"bucket", "object"}
    (target,) = properties["Targets"]
    assert assembly.text(target["Arn"]) == f"<{spec.queue.name}.Arn>"
    dead_letters = target["DeadLetterConfig"]["Arn"]
    assert assembly.text(dead_letters) == f"<{spec.queue.name}DeadLetters.Arn>"


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
    local: Assembly, spec: ObjectSubscription, key: str, *, passes: bool
) -> None:
    pattern = local.resource(f"{spec.source.name}To{spec.queue.name}").properties["EventPattern"]
    names = local.texts(pattern["detail"]["bucket"]["name"])
    pattern = {**pattern, "detail": {**pattern["detail"], "bucket": {"name": names}}}
    matches = compile_pattern(json.dumps(pattern))
    for kind in OBJECT_EVENTS:
        for name in names:
            detail: JsonValue = {"bucket": {"name": name}, "object": {"key": key}}
            assert matches({"source": "aws.s3", "detail-type": kind, "detail": detail}) == passes


def test_the_ignored_prefix_is_that_of_a_folder_in_which_no_asset_can_be() -> None:
    for spec in OBJECT_SUBSCRIPTIONS:
        folder = spec.ignored_prefix.removesuffix("/")
        assert spec.ignored_prefix == f"{folder}/"
        with pytest.raises(ValueError, match="reserved folder"):
            base_prefix(spec.ignored_prefix)


@pytest.mark.parametrize("spec", OBJECT_SUBSCRIPTIONS, ids=lambda spec: spec.queue.name)
def test_the_rule_may_send_to_the_queue_and_to_its_dead_letters(
    assembly: Assembly, spec: ObjectSubscription
) -> None:
    rule = f"<{spec.source.name}To{spec.queue.name}.Arn>"
    for name in (spec.queue.name, f"{spec.queue.name}DeadLetters"):
        (policy,) = (
            policy.properties["PolicyDocument"]["Statement"]
            for policy in assembly.of_type("AWS::SQS::QueuePolicy").values()
            if assembly.texts(policy.properties["Queues"]) == [f"<{name}>"]
        )
        (allowed,) = (statement for statement in policy if statement["Effect"] == "Allow")
        assert allowed["Principal"] == {"Service": "events.amazonaws.com"}
        assert assembly.text(allowed["Condition"]["ArnEquals"]["aws:SourceArn"]) == rule
        assert "sqs:SendMessage" in allowed["Action"]
        assert any(statement["Effect"] == "Deny" for statement in policy)


def test_nothing_is_delivered_before_bootstrap_has_run(assembly: Assembly) -> None:
    order = assembly.stack_order()
    assert order["storage"] == set()
    assert {"storage", "search"} <= order["bootstrap"]
    assert "bootstrap" in order["indexing"]
    assert "bootstrap" in order["api"]
