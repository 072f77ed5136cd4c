"""Settings that Amazon OpenSearch Service does not support, and the time of searches."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from opensearchpy.exceptions import AuthenticationException, AuthorizationException

from backend.aws import search_engine
from backend.aws.errors import DeniedError
from backend.aws.search_engine import OpenSearchEngine
from backend.core.deadlines import Deadline, OutcomeUnknownError

REFUSAL = {"Message": "Your request: '/_cluster/settings' payload is not allowed."}


def refusing(error: Exception) -> OpenSearchEngine:
    def put_settings(**_: Any) -> None:
        raise error

    client = SimpleNamespace(
        indices=SimpleNamespace(put_settings=put_settings),
        cluster=SimpleNamespace(put_settings=put_settings),
    )
    return OpenSearchEngine(cast("Any", client))


def test_an_unsupported_setting_is_a_reason() -> None:
    engine = refusing(AuthenticationException(401, "not allowed", REFUSAL))
    for reason in (engine.limit_memory({"a": "1%"}), engine.tune_index("assets-1", {})):
        assert reason == "OpenSearch refuses the request: not allowed"


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
        assert [each["request_timeout"] for each in sent[-2:]] == [seconds, seconds]
    now = 25.0
    for search_late in (
        lambda: engine.search(["assets"], {}),
        lambda: engine.search_at("pit", {}, seconds=60),
    ):
        with pytest.raises(OutcomeUnknownError):
            search_late()
    assert len(sent) == 4
