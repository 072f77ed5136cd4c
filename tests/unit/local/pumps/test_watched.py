"""Which buckets the pump of objects watches, and what it does with a bucket that does not exist."""

import asyncio
import json
from typing import Any, cast

from backend.aws.clients import s3
from local.plan import Bucket, Plan, Rule
from local.pumps.objects import ObjectPump, watched_buckets


def rule(names: list[Any], source: str = "aws.s3") -> Rule:
    keys = [{"anything-but": {"prefix": "temp-uploads/"}}]
    detail = {"bucket": {"name": names}, "object": {"key": keys}}
    pattern = {"source": [source], "detail": detail}
    return Rule("id", "arn", json.dumps(pattern), None, ())


def test_buckets_that_only_a_rule_names_are_watched_too() -> None:
    plan = Plan()
    plan.buckets += [Bucket("own", sends_events=True), Bucket("silent", sends_events=False)]
    plan.rules += [
        rule(["own", "others", "silent"]),
        rule(["others", {"prefix": "x"}]),
        rule(["elsewhere"], source="ours"),
        Rule("clock", "arn", None, "rate(1 minute)", ()),
    ]
    assert watched_buckets(plan) == ["own", "others"]


def test_a_bucket_that_is_not_there_yet_has_nothing_to_show() -> None:
    class Clients:
        s3 = s3()

    class Journal:
        def objects(self, bucket: str) -> set[Any]:
            return {bucket} - {bucket}

    pump = ObjectPump(
        ["others"],
        clients=cast("Any", Clients()),
        bus=cast("Any", None),
        journal=cast("Any", Journal()),
        activity=cast("Any", None),
    )
    assert asyncio.run(pump.compare()) == 0
