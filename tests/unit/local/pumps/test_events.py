"""Patterns and schedules of rules."""

import pytest

from local.errors import LocalError
from local.plan import Rule
from local.pumps.patterns import any_of, compile_pattern
from local.pumps.schedules import interval


def _scheduled(expression: str) -> Rule:
    return Rule("id", "arn:rule", None, expression, ())


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [("rate(1 minute)", 60), ("rate(2 hours)", 7200), ("rate(1 day)", 86400)],
)
def test_a_rate_is_a_number_of_seconds(expression: str, seconds: float) -> None:
    assert interval(_scheduled(expression)) == seconds


def test_a_schedule_that_is_no_rate_is_refused() -> None:
    with pytest.raises(LocalError, match="cron"):
        interval(_scheduled("cron(0 10 * * ? *)"))


def test_a_pattern_lets_through_what_it_names() -> None:
    matches = compile_pattern(
        '{"source": ["aws.s3"], "detail": {"object": {"key": [{"prefix": "a/"}]}}}'
    )

    assert matches({"source": "aws.s3", "detail": {"object": {"key": "a/b"}}})
    assert not matches({"source": "aws.s3", "detail": {"object": {"key": "b"}}})


@pytest.mark.parametrize("prefix", ['"temp/"', '["temp/", "trash/"]'])
def test_a_pattern_can_exclude_keys_by_their_beginning(prefix: str) -> None:
    matches = compile_pattern(f'{{"key": [{{"anything-but": {{"prefix": {prefix}}}}}]}}')

    assert not matches({"key": "temp/a"})
    assert matches({"key": "a/temp/b"})
    assert matches({"key": "temporary"})


def test_a_malformed_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="malformed"):
        compile_pattern('{"source": "aws.s3"}')


def test_without_patterns_everything_passes() -> None:
    assert any_of([])({})
    assert any_of(['{"a": [1]}', '{"a": [2]}'])({"a": 2})
