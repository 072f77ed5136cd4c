"""The rules of EventBridge pass the events that consumers need, and no others."""

import json
from typing import Any

import pytest
from pydantic import JsonValue

from backend.domains.buckets.models import base_prefix
from backend.spec.queues import OBJECT_SUBSCRIPTIONS, SCAN_SUBSCRIPTIONS, ObjectSubscription
from local.pumps.patterns import compile_pattern
from tests.factories.quarantine import scan_event
from tests.infra.templates import Assembly

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
