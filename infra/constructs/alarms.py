"""Alarms, which notify the topic that the stage names."""

from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns

from infra.constructs.naming import name_exactly
from infra.settings import Settings


class Alarms:
    """The alarms of one stack; none if the stage names no topic that they notify."""

    def __init__(self, stack: Stack, settings: Settings) -> None:
        self._stack = stack
        self._topic: sns.ITopic | None = None
        if settings.alarm_topic_arn:
            known = stack.node.try_find_child("AlarmTopic")
            self._topic = (
                cast("sns.ITopic", known)
                if known is not None
                else sns.Topic.from_topic_arn(stack, "AlarmTopic", settings.alarm_topic_arn)
            )

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
        """Raise an alarm if the metric exceeds `threshold` in so many periods of five minutes."""
        wrong = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
        watched = metric.with_(statistic=statistic)
        self._ring(name, watched, threshold, wrong, description, periods=periods)

    def below(
        self, name: str, metric: cloudwatch.Metric, *, threshold: float, description: str
    ) -> None:
        """Raise an alarm if the minimum of the metric is below `threshold` within five minutes."""
        wrong = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
        self._ring(name, metric.with_(statistic="Minimum"), threshold, wrong, description)

    def _ring(
        self,
        name: str,
        metric: cloudwatch.Metric,
        threshold: float,
        wrong: cloudwatch.ComparisonOperator,
        description: str,
        *,
        periods: int = 1,
    ) -> None:
        if self._topic is None:
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
        alarm.add_alarm_action(cast("cloudwatch.IAlarmAction", actions.SnsAction(self._topic)))
