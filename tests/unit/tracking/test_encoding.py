"""Encoding of values, comparisons and expressions, and messages of errors."""

import base64
import math

import mlflow
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from hypothesis import given
from hypothesis import strategies as st
from mlflow.entities import Dataset
from mlflow.exceptions import MlflowException
from vitrine_mlflow.comparisons import COMPARISONS, like_matches, matches, whole_number
from vitrine_mlflow.datasets import require_fitting
from vitrine_mlflow.encoding import (
    SORT_KEY_BYTES,
    clip,
    digest,
    double_of,
    escape,
    inverted_double,
    iso_time,
    ordered_double,
    ordered_integer,
    ordered_text,
    unescape,
)
from vitrine_mlflow.errors import translate_errors
from vitrine_mlflow.expressions import deserialize, serialize

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
DOUBLES = st.floats(allow_nan=False)
INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)


@given(TEXT)
def test_escaped_text_has_no_separator_and_comes_back(text: str) -> None:
    assert "#" not in escape(text)
    assert unescape(escape(text)) == text


@given(st.text("#%23A"))
def test_text_that_looks_escaped_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text


def test_only_the_separator_and_the_percent_sign_are_escaped() -> None:
    assert escape("a/b c:ü-_.") == "a/b c:ü-_."
    assert escape("a#b%c") == "a%23b%25c"


@given(TEXT, TEXT, TEXT, TEXT)
def test_ordered_text_sorts_before_a_separator(
    text: str, other: str, suffix: str, other_suffix: str
) -> None:
    first = f"{ordered_text(text)}#{suffix}".encode()
    second = f"{ordered_text(other)}#{other_suffix}".encode()
    if text != other:
        assert (first < second) == (text.encode() < other.encode())


@given(DOUBLES, DOUBLES)
def test_doubles_sort_as_numbers(first: float, other: float) -> None:
    assert (ordered_double(first) < ordered_double(other)) == (first < other)
    assert (inverted_double(first) < inverted_double(other)) == (first > other)


@given(DOUBLES)
def test_doubles_come_back(value: float) -> None:
    assert double_of(ordered_double(value)) == value


def test_nan_sorts_last_in_both_directions() -> None:
    assert math.isnan(double_of(ordered_double(math.nan)))
    for value in (math.inf, -math.inf, 0.0, 1e308):
        assert ordered_double(value) < ordered_double(math.nan)
        assert inverted_double(value) < inverted_double(math.nan)


def test_zero_and_negative_zero_have_one_encoding() -> None:
    assert ordered_double(0.0) == ordered_double(-0.0)


@given(INTEGERS, INTEGERS)
def test_integers_sort_and_differ(first: int, other: int) -> None:
    assert (ordered_integer(first) < ordered_integer(other)) == (first < other)
    assert (ordered_integer(first) == ordered_integer(other)) == (first == other)


@given(st.integers(-(10**14), 3 * 10**14), st.integers(-(10**14), 3 * 10**14))
def test_times_never_sort_against_their_numbers(first: int, other: int) -> None:
    if first < other:
        assert iso_time(first) <= iso_time(other)
    assert iso_time(None) < iso_time(first)


def test_times_are_iso_8601_text() -> None:
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"
    assert iso_time(1_795_515_274_971) == "2026-11-24T10:14:34.971Z"
    assert iso_time(-(1 << 60)) == "0001-01-01T00:00:00.000Z"


@given(TEXT.map(lambda text: text * 40))
def test_long_text_is_clipped_to_the_limit_of_a_key(text: str) -> None:
    clipped = clip(text, SORT_KEY_BYTES)
    assert len(clipped.encode()) <= SORT_KEY_BYTES
    if len(text.encode()) <= SORT_KEY_BYTES:
        assert clipped == text


def test_clipped_texts_of_one_start_differ() -> None:
    assert clip("a" * 2000, 1024) != clip("a" * 2001, 1024)


def test_digests_of_lists_do_not_collide() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a", "") != digest("a")


assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first


@pytest.mark.parametrize("comparator", COMPARISONS)
def test_a_missing_value_meets_no_comparator(comparator: str) -> None:
    wanted = ("a", "b") if comparator.endswith("IN") else "a"
    assert not matches(None, comparator, wanted)
    assert any(matches(value, comparator, wanted) for value in ("0", "a", "c"))


@pytest.mark.parametrize(
    ("text", "pattern", "with_case", "without"),
    [
        ("one", "o%", True, True),
        ("One", "o%", False, True),
        ("one", "o_e", True, True),
        ("one", "on", False, False),
        ("a.b", "a_b", True, True),
        ("axb", "a.b", False, False),
        ("a\nb", "a%b", True, True),
        ("Ü", "ü", False, False),  # SQLite lowers ASCII letters only
        ("", "%", True, True),
    ],
)
def test_like_is_that_of_sqlite(text: str, pattern: str, with_case: bool, without: bool) -> None:
    assert like_matches(text, pattern, ignore_case=False) == with_case
    assert like_matches(text, pattern, ignore_case=True) == without


def test_numbers_are_whole() -> None:
    assert whole_number("start_time", ">", "12") == 12
    for comparator, value in (("LIKE", 1), (">", 1.5), (">", "x"), (">", None)):
        with pytest.raises(MlflowException):
            whole_number("start_time", comparator, value)


@given(st.binary())
def test_binary_values_come_back_as_bytes_or_base64(value: bytes) -> None:
    assert deserialize(serialize(value)) == value
    assert deserialize({"B": base64.b64encode(value).decode()}) == value


def _client_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "Query")


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (
            _client_error("AccessDeniedException"),
            "PERMISSION_DENIED",
            (
                "Access to the DynamoDB table 'runs' was denied: the credentials need the "
                "permission dynamodb:Query."
            ),
        ),
        (
            _client_error("ResourceNotFoundException"),
            "INVALID_STATE",
            (
                "The DynamoDB table 'runs' does not exist in region 'eu-west-1', or it lacks the "
                "indexes of this version."
            ),
        ),
        (
            _client_error("ThrottlingException"),
            "TEMPORARILY_UNAVAILABLE",
            "The DynamoDB table 'runs' throttled Query on 'EXP#7'.",
        ),
        (
            _client_error("ItemCollectionSizeLimitExceededException"),
            "INVALID_STATE",
            (
                "The partition 'EXP#7' of the table 'runs' has reached DynamoDB's limit of 10 GB; "
                "log to another experiment, or delete runs and traces for good with `mlflow gc`."
            ),
        ),
        (
            NoCredentialsError(),
            "PERMISSION_DENIED",
            "No AWS credentials were found to call Query on the table 'runs'.",
        ),
        (
            EndpointConnectionError(endpoint_url="http://x"),
            "TEMPORARILY_UNAVAILABLE",
            (
                "Query on the table 'runs' in region 'eu-west-1' failed: Could not connect to the "
                'endpoint URL: "http://x"'
            ),
        ),
    ],
)
def test_a_failure_names_the_table(failure: Exception, code: str, message: str) -> None:
    with (
        pytest.raises(MlflowException) as reported,
        translate_errors("runs", "eu-west-1", "Query", "EXP#7"),
    ):
        raise failure
    assert reported.value.error_code == code
    assert reported.value.message == message


def test_a_dataset_that_exceeds_an_item_is_refused_with_field_size_and_limit() -> None:
    require_fitting(Dataset("d", "1", "local", "{}", None, "p" * 400_000))
    with pytest.raises(MlflowException, match=r"'profile' has 409000\. .* 408000 bytes") as refused:
        require_fitting(Dataset("d", "1", "local", "{}", "s", "p" * 409_000))
    assert refused.value.error_code == "INVALID_PARAMETER_VALUE"
    with pytest.raises(MlflowException, match="'schema' has 410000"):
        require_fitting(Dataset("d", "1", "local", "{}", "ü" * 205_000, None))
