"""Tells API Gateway who the caller is: an HTTP API's Lambda authorizer with simple answers.

Never what the caller may do: the functions behind the API ask that themselves. Whatever is not a
valid API key is refused. When DynamoDB or Secrets Manager is down, the function fails, so that
the gateway answers 500 and a client tries again, where a refusal would tell it that its key is bad.
"""

from collections.abc import Callable
from typing import Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.data_classes.api_gateway_authorizer_event import (
    APIGatewayAuthorizerEventV2,
    APIGatewayAuthorizerResponseV2,
)

from backend.core.errors import UnavailableError
from backend.domains.access.service import KeyAuthentication
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import AUTHORIZER

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
_logger = Logger()


def build_handler(authentication: KeyAuthentication) -> Handler:
    """The Lambda handler that asks `authentication`."""

    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's
        header = APIGatewayAuthorizerEventV2(event).headers.get("authorization") or ""
        key = authentication.authenticate(header)
        if key is None:
            return _answer(None)
        try:
            authentication.record_use(key)
        except UnavailableError:
            _logger.warning("the use of a key was not recorded", extra={"apiKeyId": key.api_key_id})
        return _answer(key.user_id)

    return handle


def _answer(user_id: str | None) -> dict[str, Any]:
    # API keys have no second factor. All values of a context are texts.
    context = None if user_id is None else {"userId": user_id, "mfa": "false"}
    answer = APIGatewayAuthorizerResponseV2(authorize=user_id is not None, context=context)
    return cast("dict[str, Any]", answer.asdict())


handler = build_handler(Wiring(AUTHORIZER).authentication)
