"""Alarms, which notify the topic that the stage names."""

from collections.abc import Mapping
from typing import cast

from aws_cdk import CfnResource, Duration, Fn, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns

from infra.constructs.in_turn import InTurn
from infra.constructs.naming import name_exactly

# Alarms that CloudFormation creates at the same time: an account may send this many PutMetricAlarm
# in a second. Source: "CloudWatch service quotas".
CREATED_AT_ONCE = 3


def of_lambda(metric: str, function: str) -> cloudwatch.Metric:
    """Return Lambda's metric of a function, which is named by its physical name."""
    return cloudwatch.Metric(
        namespace="AWS/Lambda", metric_name=metric, dimensions_map={"FunctionName": function}
    )


def of_queue(metric: str, arn: str) -> cloudwatch.Metric:
    """Return SQS's metric of a queue, whose name is the last part of its ARN."""
    name = Fn.select(5, Fn.split(":", arn))
    return cloudwatch.Metric(
        namespace="AWS/SQS", metric_name=metric, dimensions_map={"QueueName": name}
    )


class Alarms:
    """The alarms of all stacks; none if the stage has no stack for alarms."""

    def __init__(self, stack: Stack | None = None, topic_arn: str = "") -> None:
        self._stack = stack
        self._topic = sns.Topic.from_topic_arn(stack, "AlarmTopic", topic_arn) if stack else None
        self._in_turn = InTurn(CREATED_AT_ONCE)

    @property
    def exist(self) -> bool:
        """Return whether the stage has alarms."""
        return self._stack is not None

    def above(
        self,
        name: str,
        metric: cloudwatch.Metric,
        *,
        threshold: float,
        description: str,
        statistic: str = "Maximum",
        periods: int = 1,
    ) -> None:
        """Raise an alarm if the metric exceeds `threshold` in this many periods of five minutes."""
        wrong = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
        watched = metric.with_(statistic=statistic)
        self._alarm(name, watched, threshold, wrong, description, periods=periods)

    def positive(
        self,
        name: str,
        expression: str,
        *,
        description: str,
        metrics: Mapping[str, cloudwatch.IMetric] | None = None,
    ) -> None:
        """Raise an alarm if an expression over `metrics`, or a query, is above zero."""
        wrong = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
        watched = cloudwatch.MathExpression(expression=expression, using_metrics=metrics or {})
        self._alarm(name, watched, 0, wrong, description)

    def below(
        self, name: str, metric: cloudwatch.Metric, *, threshold: float, description: str
    ) -> None:
        """Raise an alarm if the minimum of the metric is below `threshold` within five minutes."""
        wrong = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
        self._alarm(name, metric.with_(statistic="Minimum"), threshold, wrong, description)

    def _alarm(
        self,
        name: str,
        metric: cloudwatch.Metric | cloudwatch.MathExpression,
        threshold: float,
        wrong: cloudwatch.ComparisonOperator,
        description: str,
        *,
        periods: int = 1,
    ) -> None:
        if self._stack is None or self._topic is None:
            return
        alarm = metric.with_(period=Duration.minutes(5)).create_alarm(
            self._stack,
            name,
            alarm_description=description,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=wrong,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        name_exactly(alarm, name)
        self._in_turn.add(cast("CfnResource", alarm.node.default_child))
        topic = cast("cloudwatch.IAlarmAction", actions.SnsAction(self._topic))
        alarm.add_alarm_action(topic)
        alarm.add_ok_action(topic)
