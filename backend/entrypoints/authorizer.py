"""Tells API Gateway who the caller is: an HTTP API's Lambda authorizer with simple answers.

Never what the caller may do: the functions behind the API ask that themselves. Whatever is not a
valid API key is refused. When DynamoDB or Secrets Manager is down nobody can be known: a refusal
would tell a client that its key is bad, and a failing authorizer becomes a 500. So the request goes
on with a mark and without an identity, and every function behind the API answers it with 503.
"""

from collections.abc import Callable
from typing import Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.data_classes.api_gateway_authorizer_event import (
    APIGatewayAuthorizerEventV2,
    APIGatewayAuthorizerResponseV2,
)

from backend.core.errors import UnavailableError
from backend.core.identity import OUTAGE_MARK
from backend.domains.access.service import KeyAuthentication
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import AUTHORIZER

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
_logger = Logger()


def build_handler(authentication: KeyAuthentication) -> Handler:
    """The Lambda handler that asks `authentication`."""

    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's
        header = APIGatewayAuthorizerEventV2(event).headers.get("authorization") or ""
        try:
            key = authentication.authenticate(header)
        except UnavailableError:
            _logger.warning("nobody can be authenticated", exc_info=True)
            return _answer({OUTAGE_MARK: "true"})
        if key is None:
            return _answer(None)
        try:
            authentication.record_use(key)
        except UnavailableError:
            _logger.warning("the use of a key was not recorded", extra={"apiKeyId": key.api_key_id})
        # API keys have no second factor.
        return _answer({"userId": key.user_id, "mfa": "false"})

    return handle


def _answer(context: dict[str, str] | None) -> dict[str, Any]:
    """Let the request pass with a context, all of whose values are texts, or refuse it."""
    answer = APIGatewayAuthorizerResponseV2(authorize=context is not None, context=context)
    return cast("dict[str, Any]", answer.asdict())


handler = ready(build_handler(Wiring(AUTHORIZER).authentication))
