"""Names that no URL can have are refused before a request, in the same words by every command."""

import pytest
from vitrine import InvalidNameError
from vitrine.quoting import quote_text
from vitrine.transport import path_of


@pytest.mark.parametrize("segment", ["", ".", ".."])
def test_a_segment_that_a_url_resolves_or_loses_is_in_no_request(segment: str) -> None:
    with pytest.raises(InvalidNameError, match="must not be"):
        path_of("database", segment, "assets")


def test_a_segment_of_dots_that_a_url_keeps_is_sent() -> None:
    assert path_of("...", "a..b", "../x") == "/.../a..b/..%2Fx"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("it's", "'it's'"),
        ('a"b', "'a\"b'"),
        ("a\nb\x00", r"'a\u000ab\u0000'"),
        ("ü\udc80", r"'ü\udc80'"),
    ],
)
def test_names_are_quoted_alike_whatever_they_hold(text: str, shown: str) -> None:
    assert quote_text(text) == shown
