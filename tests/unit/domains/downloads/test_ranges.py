"""Which bytes of a file a request gets: the rules of RFC 9110."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import RangeError
from backend.domains.downloads.rules import Validators, Wanted, is_known, wanted_span

NOW = Validators('"abc"', datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC))
SAME_TIME = "Sun, 01 Mar 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("sent", "span"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=2-5", (2, 6)),
        ("Bytes=2-5", (2, 6)),
        ("bytes= 2-5 ", (2, 6)),
        ("bytes=2-", (2, 10)),
        ("bytes=2-99", (2, 10)),
        ("bytes=9-9999999999999999999999", (9, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)),
        ("bytes=-" + "9" * 9000, (0, 10)),
        ("bytes=" + "0" * 9000 + "4-5", (4, 6)),
    ],
)
def test_one_range_names_its_bytes(sent: str, span: tuple[int, int]) -> None:
    assert wanted_span(Wanted(range=sent), NOW, 10) == span


@pytest.mark.parametrize(
    "sent",
    [
        None, "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=1-2-3",
        "bytes=0-1,4-5", "bytes=0-1,", "bytes=+1-2", "bytes=1.5-2", "bytes=0x1-2", "items=0-1",
        "bytes 0-1", "bytes=\u0661-\u0662", "bytes=1 -2",
    ],
)  # fmt: skip
def test_what_is_no_single_range_is_ignored(sent: str | None) -> None:
    assert wanted_span(Wanted(range=sent), NOW, 10) is None


@pytest.mark.parametrize(
    "sent", ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=" + "9" * 99 + "-"]
)
def test_a_range_without_a_byte_of_the_file_is_refused(sent: str) -> None:
    with pytest.raises(RangeError) as refused:
        wanted_span(Wanted(range=sent), NOW, 10)
    assert refused.value.size == 10


@pytest.mark.parametrize("sent", ["bytes=0-0", "bytes=0-", "bytes=-1"])
def test_an_empty_file_has_no_byte_in_any_range(sent: str) -> None:
    with pytest.raises(RangeError):
        wanted_span(Wanted(range=sent), NOW, 0)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 40))
def test_a_range_is_the_slice_that_it_names(first: int, last: int, size: int) -> None:
    content = list(range(size))
    wanted = Wanted(range=f"bytes={first}-{last}")
    if last < first:
        assert wanted_span(wanted, NOW, size) is None
    elif first >= size:
        with pytest.raises(RangeError):
            wanted_span(wanted, NOW, size)
    else:
        start, end = wanted_span(wanted, NOW, size) or (0, 0)
        assert content[start:end] == content[first : last + 1]


@given(st.text())
def test_no_header_breaks_the_rules(text: str) -> None:
    wanted = Wanted(range=text, if_range=text, if_none_match=text, if_modified_since=text)
    assert is_known(wanted, NOW) in {True, False}
    assert wanted_span(Wanted(range="bytes=0-1", if_range=text), NOW, 10) in {None, (0, 2)}


@pytest.mark.parametrize(
    ("if_range", "counts"),
    [
        ('"abc"', True),
        ('"other"', False),
        ('W/"abc"', False),
        (SAME_TIME, True),
        ("Sun, 01 Mar 2026 11:59:59 GMT", False),
        ("Sun, 01 Mar 2026 12:00:01 GMT", False),
        ("yesterday", False),
    ],
)
def test_a_range_counts_only_of_the_content_that_the_client_has(
    if_range: str, counts: bool
) -> None:
    span = wanted_span(Wanted(range="bytes=0-1", if_range=if_range), NOW, 10)
    assert span == ((0, 2) if counts else None)


@pytest.mark.parametrize(
    ("if_none_match", "if_modified_since", "known"),
    [
        (None, None, False),
        ('"abc"', None, True),
        ('W/"abc"', None, True),
        ('"x", "abc"', None, True),
        ("*", None, True),
        ('"x"', None, False),
        ("abc", None, False),
        ('"x"', SAME_TIME, False),  # the date does not count beside an ETag
        (None, SAME_TIME, True),
        (None, "Sun, 01 Mar 2026 11:59:59 GMT", False),
        (None, "Sun, 01 Mar 2026 12:00:00", True),
        (None, "soon", False),
        (None, "Sun, 01 Mar 99999999 12:00:00 GMT", False),
        (None, "Fri, 31 Dec 9999 23:59:59 GMT", True),
        (None, "Fri, 31 Dec 9999 23:59:59 -2300", True),
        (None, "Mon, 01 Jan 0001 00:00:00 +2300", False),
    ],
)
def test_what_the_client_has_is_not_sent_again(
    if_none_match: str | None, if_modified_since: str | None, known: bool
) -> None:
    wanted = Wanted(if_none_match=if_none_match, if_modified_since=if_modified_since)
    assert is_known(wanted, NOW) is known
