"""Names that no URL can have are refused before a request, in the same words by every command."""

from pathlib import Path

import pytest
from vitrine import InvalidNameError
from vitrine.quoting import quoted
from vitrine.transport import path_of

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell


@pytest.mark.parametrize("segment", ["", ".", ".."])
def test_a_segment_that_a_url_resolves_or_loses_is_in_no_request(segment: str) -> None:
    with pytest.raises(InvalidNameError, match="must not be"):
        path_of("database", segment, "assets")


def test_a_segment_of_dots_that_a_url_keeps_is_sent() -> None:
    assert path_of("...", "a..b", "../x") == "/.../a..b/..%2Fx"


@pytest.mark.parametrize(
    "line",
    [
        "cat museum pump ../x",
        "cat museum pump /a/./x",
        "cat museum pump /a//x",
        "jobs show ..",
        "databases delete .. --yes",
        "tags delete . --yes",
        "archive museum .. --yes",
    ],
)
def test_a_command_with_such_a_name_is_wrong_usage_and_sends_nothing_there(
    server: FakeServer, tmp_path: Path, line: str
) -> None:
    server.assets[("museum", "pump")] = {
        "databaseId": "museum",
        "assetId": "pump",
        "assetName": "pump",
        "status": "active",
        "rev": 1,
    }
    shell = Shell(server, tmp_path)
    shell.run(*line.split())
    assert (shell.code, "must not be" in shell.err) == (2, True), (shell.code, shell.err)
    assert not [request for request in server.sent if request.method != "GET"]


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
    assert quoted(text) == shown
