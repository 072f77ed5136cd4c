"""Settings that Amazon OpenSearch Service does not support."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from opensearchpy.exceptions import AuthenticationException, AuthorizationException

from backend.aws.errors import DeniedError
from backend.aws.search_engine import OpenSearchEngine

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
