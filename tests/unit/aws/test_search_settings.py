"""Settings that Amazon OpenSearch Service does not support, and the time of searches."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from opensearchpy.exceptions import AuthenticationException, AuthorizationException, RequestError

from backend.aws import search_engine
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
