"""The indexing path: queues, rules, and the mappings that invoke the consumers.

Rules and queues are here instead of in the stack of the buckets: a notification of a bucket to a
queue of this stack would make both stacks depend on each other.
"""

from collections.abc import Iterable
from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from backend.spec.buckets import FAILURE_BUCKET, NO_THREATS_FOUND, THREATS_FOUND
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.executions import RECONCILE_EXECUTIONS
from backend.spec.functions.operations import REPLAY_FAILURES
from backend.spec.functions.workers import SEARCH_WORKER
from backend.spec.jobs import JOB_QUEUES
from backend.spec.metrics import (
    CHECK_METRICS,
    INDEXING_METRICS,
    JOB_METRICS,
    NAMESPACE,
    QUEUE_METRICS,
    REPLAY_METRICS,
    Metric,
    dimensions,
)
from backend.spec.queues import (
    EVENT_FEED,
    OBJECT_SUBSCRIPTIONS,
    QUEUE_SUBSCRIPTIONS,
    QUEUES,
    SCAN_SUBSCRIPTIONS,
    STATUS_QUEUES,
    STREAM_SUBSCRIPTIONS,
    ObjectSubscription,
    Queue,
)
from backend.spec.schedules import SCHEDULES, Schedule
from infra import grants
from infra.assets import Folders
from infra.constructs.alarms import of_lambda, of_queue
from infra.constructs.event_bus import declare_events
from infra.constructs.function import FunctionsOf
from infra.constructs.naming import name_exactly
from infra.constructs.queue_consumer import ITERATOR_AGE_MS, declared_queue, map_queue, map_stream
from infra.constructs.state_machine import physical_name
from infra.constructs.updates import export
from infra.resources import Resources
from infra.settings import Settings

MOST_SECONDS_OF_EVENTS, MOST_RETRIES_OF_EVENTS = 86_400, 185  # EventBridge's maximum
# Age of a message above which an alarm is raised, because no consumer receives messages. Messages
# are delayed by up to fifteen minutes, and again while indexes lag. CloudWatch ignores messages
# that were received more than three times (`QUEUE_METRICS`).
MESSAGE_AGE_SECONDS = 3_600


class IndexingStack(Stack):
    """Deployed last: its sources exist, and bootstrap has created the search indexes."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        resources: Resources,
        folders: Folders,
    ) -> None:
        super().__init__(scope, name, description="Vitrine: from changes to the search indexes")
        self._settings, self._resources = settings, resources
        self._alarms = resources.alarms
        for queue in filter(settings.deploys, (*QUEUES, EVENT_FEED)):
            self._queue(queue)
        declare_events(self, settings, resources)
        made = FunctionsOf(self, settings=settings, resources=resources, folders=folders)
        # Without search, jobs run as usual, but nothing is indexed.
        deployed = filter(settings.deploys, FUNCTIONS)
        wanted = [spec for spec in deployed if spec.search == "none" or resources.domain]
        consumers = {
            spec.name: self._consumer(made, spec) for spec in wanted if spec.kind == "consumer"
        }
        self._map(consumers)
        consumed = {s.source for s in QUEUE_SUBSCRIPTIONS if s.consumer in consumers}
        for subscription in OBJECT_SUBSCRIPTIONS:
            if subscription.queue in consumed:
                pattern: dict[str, object] = {
                    "source": ["aws.s3"],
                    "detail-type": list(subscription.events),
                    "detail": {
                        "bucket": {"name": self._names(subscription)},
                        # A prefix and no wildcard: `pump/temp-uploads/a.glb` is a file.
                        "object": {
                            "key": [{"anything-but": {"prefix": subscription.ignored_prefix}}]
                        },
                    },
                }
                self._rule(subscription, "Object events", pattern)
        for subscription in SCAN_SUBSCRIPTIONS if settings.malware_scan else ():
            self._rule(subscription, "Results of scans", self._scan_results(subscription))
        for queue in STATUS_QUEUES:
            what = "Changes of executions' status"
            pattern = {
                "source": ["aws.states"],
                "detail-type": ["Step Functions Execution Status Change"],
                "detail": {"stateMachineArn": [resources.state_machine]},
            }
            self._send_events(f"StatesTo{queue.name}", queue, what, pattern)
        for schedule in SCHEDULES:
            # The other functions maintain the search indexes.
            if resources.domain or schedule.function is RECONCILE_EXECUTIONS:
                self._schedule(schedule, made.make(schedule.function))
        if resources.domain:
            self._watch(REPLAY_FAILURES, REPLAY_METRICS)

    def _queue(self, spec: Queue) -> None:
        timeouts = {function.name: function.timeout_seconds for function in FUNCTIONS}
        consumers = [s.consumer for s in QUEUE_SUBSCRIPTIONS if s.source is spec]
        queue, dead_letters = declared_queue(
            self,
            spec,
            # A queue that is no longer used is removed by the update after the next one.
            consumer_timeout=max((timeouts[name] for name in consumers), default=0),
            key=self._resources.key,
        )
        self._resources.queues[spec.name] = queue
        self._resources.dead_letters[spec.name] = dead_letters
        for exported in (queue, dead_letters):
            export(self, exported.queue_arn, exported.queue_url)
        if not consumers:
            return  # alarms must not delay its removal, by the next update
        self._alarms.above(
            f"{spec.name}DeadLettersAlarm",
            of_queue("ApproximateNumberOfMessagesVisible", dead_letters.queue_arn),
            threshold=0,
            description=f"{spec.name} has dead letters: find the reason, then replay them",
        )
        self._alarms.above(
            f"{spec.name}AgeAlarm",
            of_queue("ApproximateAgeOfOldestMessage", queue.queue_arn),
            threshold=MESSAGE_AGE_SECONDS,
            description=f"{spec.name} is not worked off: messages wait to be received at all",
        )

    def _consumer(self, made: FunctionsOf, spec: Function) -> lambda_.Function:
        queues = self._resources.queues
        received = [s.source.name for s in QUEUE_SUBSCRIPTIONS if s.consumer == spec.name]
        streams = [s.source for s in STREAM_SUBSCRIPTIONS if s.consumer == spec.name]
        function = made.make(
            spec,
            streams=streams,
            more=[grants.receive(queues[name].queue_arn) for name in received],
        )
        if streams:
            self._alarms.above(
                f"{spec.name}IteratorAgeAlarm",
                of_lambda("IteratorAge", physical_name(self._settings, spec.name)),
                threshold=ITERATOR_AGE_MS,
                description=f"{spec.name} is behind its streams",
            )
        if received:
            self._watch(spec, QUEUE_METRICS)
        if FAILURE_BUCKET in spec.buckets:
            self._watch(spec, INDEXING_METRICS)
        if JOB_QUEUES & set(spec.receives):
            self._watch(spec, JOB_METRICS)
        if spec is SEARCH_WORKER:
            self._watch(spec, CHECK_METRICS)
        return function

    def _watch(self, spec: Function, metrics: Iterable[Metric]) -> None:
        for metric in metrics:
            self._alarms.above(
                f"{spec.name}{metric.title}Alarm",
                cloudwatch.Metric(
                    namespace=NAMESPACE,
                    metric_name=metric.name,
                    dimensions_map=dimensions(spec.name),
                ),
                statistic="Sum",
                threshold=0,
                description=f"{spec.name} {metric.description}",
                periods=metric.periods,
            )

    def _map(self, consumers: dict[str, lambda_.Function]) -> None:
        failures = self._resources.buckets[FAILURE_BUCKET.name]
        for stream in (s for s in STREAM_SUBSCRIPTIONS if s.consumer in consumers):
            map_stream(
                self,
                stream,
                table=self._resources.tables[stream.source.name],
                function=consumers[stream.consumer],
                failures=failures,
                with_events=self._settings.events != "off",
            )
        for queue in (s for s in QUEUE_SUBSCRIPTIONS if s.consumer in consumers):
            map_queue(
                self,
                queue,
                queue=self._resources.queues[queue.source.name],
                function=consumers[queue.consumer],
                concurrency=self._settings.concurrency_of(queue),
            )

    def _scan_results(self, spec: ObjectSubscription) -> dict[str, object]:
        return {
            "source": ["aws.guardduty"],
            "detail-type": ["GuardDuty Malware Protection Object Scan Result"],
            "account": [self.account],  # a bus may receive events of other accounts
            "detail": {
                "s3ObjectDetails": {
                    "bucketName": self._names(spec),
                    "objectKey": [{"anything-but": {"prefix": spec.ignored_prefix}}],
                },
                "scanResultDetails": {"scanResultStatus": [THREATS_FOUND, NO_THREATS_FOUND]},
            },
        }

    def _names(self, spec: ObjectSubscription) -> list[str]:
        own = self._resources.buckets[spec.source.name].bucket_name
        return [own, *self._resources.imported_buckets]

    def _rule(self, spec: ObjectSubscription, what: str, pattern: dict[str, object]) -> None:
        """Send a bucket's events to the queue."""
        name = f"{spec.source.name}To{spec.queue.name}"
        self._send_events(name, spec.queue, f"{what} of {spec.source.name}", pattern)

    def _send_events(
        self, name: str, spec: Queue, description: str, pattern: dict[str, object]
    ) -> None:
        """Send events of the default bus to a queue.

        Plain resources are used: for a queue with a customer-managed key, CDK's target lets the
        rules of every account send to the queue and use the key.
        """
        queue = self._resources.queues[spec.name]
        dead_letters = self._resources.dead_letters[spec.name]
        rule = events.CfnRule(
            self,
            name,
            description=description,
            event_pattern=pattern,
            targets=[
                events.CfnRule.TargetProperty(
                    id=spec.name,
                    arn=queue.queue_arn,
                    dead_letter_config=events.CfnRule.DeadLetterConfigProperty(
                        arn=dead_letters.queue_arn
                    ),
                    retry_policy=events.CfnRule.RetryPolicyProperty(
                        maximum_event_age_in_seconds=MOST_SECONDS_OF_EVENTS,
                        maximum_retry_attempts=MOST_RETRIES_OF_EVENTS,
                    ),
                )
            ],
        )
        service = cast("iam.IPrincipal", iam.ServicePrincipal("events.amazonaws.com"))
        for receiver in (queue, dead_letters):
            receiver.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[service],
                    actions=["sqs:SendMessage"],
                    resources=[receiver.queue_arn],
                    conditions={"ArnEquals": {"aws:SourceArn": rule.attr_arn}},
                )
            )

    def _schedule(self, spec: Schedule, function: lambda_.Function) -> None:
        is_reconciliation = spec.function is RECONCILE_EXECUTIONS
        minutes = self._settings.reconcile_minutes if is_reconciliation else spec.minutes
        rule = events.Rule(
            self,
            spec.name,
            description=f"Wakes {spec.function.name}",
            schedule=events.Schedule.rate(Duration.minutes(minutes)),
        )
        target = targets.LambdaFunction(cast("lambda_.IFunction", function))
        rule.add_target(cast("events.IRuleTarget", target))
        name_exactly(rule, spec.name)
