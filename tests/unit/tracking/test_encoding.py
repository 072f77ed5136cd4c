"""Encodings inside keys: they come back, and they sort as their values do."""

import math

from hypothesis import given
from hypothesis import strategies as st
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
