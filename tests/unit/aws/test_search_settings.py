"""Searches on Amazon OpenSearch Service: settings, times, reasons of refused documents."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from opensearchpy.exceptions import AuthenticationException, AuthorizationException, RequestError

from backend.aws import search_engine
from backend.aws.document_refusals import refusal_of
from backend.aws.errors import DeniedError
from backend.aws.search_engine import OpenSearchEngine
from backend.core.deadlines import Deadline, OutcomeUnknownError

REFUSAL = {"Message": "Your request: '/_cluster/settings' payload is not allowed."}

CAUSE = {"error": {"root_cause": [{"type": "illegal_argument", "reason": "[a] is unknown"}]}}


def refusing(error: Exception) -> OpenSearchEngine:
    def put_settings(**_: Any) -> None:
        raise error

    client = SimpleNamespace(
        indices=SimpleNamespace(put_settings=put_settings),
        cluster=SimpleNamespace(put_settings=put_settings),
    )
    return OpenSearchEngine(cast("Any", client))


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationException(401, "not allowed", REFUSAL),
        RequestError(400, "illegal_argument_exception", CAUSE),
        RequestError(400, "not allowed", {}),
    ],
    ids=str,
)
def test_a_rejected_setting_has_our_reason_and_the_log_that_of_the_engine(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    engine = refusing(error)
    for reason in (engine.limit_memory({"a": "1%"}), engine.tune_index("assets-1", {})):
        assert reason == "The search engine does not accept this request; the log has its reason"
        assert caplog.records[-1].__dict__["reason"] in {"not allowed", "[a] is unknown"}


def test_a_denial_of_the_role_is_no_refusal_of_a_setting() -> None:
    engine = refusing(AuthorizationException(403, "no permissions", {}))
    with pytest.raises(DeniedError):
        engine.limit_memory({"a": "1%"})


def test_a_search_ends_before_the_request_that_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[dict[str, Any]] = []

    def search(*, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        sent.append(params)
        return {}

    now = 0.0
    deadline = Deadline(lambda: now)
    monkeypatch.setattr(search_engine, "deadline", deadline)
    engine = OpenSearchEngine(cast("Any", SimpleNamespace(search=search)))
    deadline.begin(29)
    for moment, seconds in ((0.0, 20), (15.0, 12)):
        now = moment
        engine.search(["assets"], {})
        engine.search_at("pit", {}, seconds=60)
        assert [params["request_timeout"] for params in sent[-2:]] == [seconds, seconds]
        ends = [params["cancel_after_time_interval"] for params in sent[-2:]]
        assert ends == [f"{1000 * seconds}ms"] * 2
    now = 25.0
    for search_late in (
        lambda: engine.search(["assets"], {}),
        lambda: engine.search_at("pit", {}, seconds=60),
    ):
        with pytest.raises(OutcomeUnknownError):
            search_late()
    assert len(sent) == 4


ENGINE_WORDS = ("mapper", "parsing", "Preview", "SECRET", "exception", "[", "num_", "index.")


def error(kind: str, reason: str, cause: str = "") -> dict[str, Any]:
    result: dict[str, Any] = {"type": kind, "reason": reason}
    return result | ({"caused_by": {"type": "x_exception", "reason": cause}} if cause else {})


@pytest.mark.parametrize(
    ("status", "found", "fact"),
    [
        (
            400,
            error(
                "mapper_parsing_exception",
                "failed to parse field [num_filesize] of type [long]. Preview of value: 'SECRET'",
                "For input string: SECRET",
            ),
            "a value that the mapping of its field does not accept",
        ),
        (
            400,
            error(
                "strict_dynamic_mapping_exception",
                "mapping set to strict, dynamic introduction of [SECRET] within [_doc] is denied",
            ),
            "a field that the mapping does not declare",
        ),
        (
            400,
            error(
                "mapper_parsing_exception",
                "The number of nested documents has exceeded the allowed limit of [10000]. This "
                "limit can be set by changing the [index.mapping.nested_objects.limit] setting.",
            ),
            "more nested documents than the index allows",
        ),
        (
            400,
            error("illegal_argument_exception", "Limit of total fields [1000] has been exceeded"),
            "more fields than the index allows",
        ),
        (
            400,
            error(
                "illegal_argument_exception",
                'Document contains at least one immense term in field="SECRET"',
                "bytes can be at most 32766 in length",
            ),
            "a text that is too long",
        ),
        (413, error("content_too_long", "SECRET"), "too large"),
        (400, error("some_new_exception", "SECRET num_x"), "the log has the reason"),
    ],
)
def test_a_refusal_is_a_class_without_words_of_the_engine(
    status: int, found: dict[str, Any], fact: str
) -> None:
    reason = refusal_of(status, found)
    assert fact in reason
    assert [word for word in ENGINE_WORDS if word in reason] == []
