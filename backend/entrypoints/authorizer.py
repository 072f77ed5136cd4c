"""The Lambda authorizer of the HTTP API, with simple responses: identifies the caller.

It does not check permissions: the functions behind the API do. A request without a valid API key or
token is denied without a reason; the reason is logged and counted. If a service that is needed is
unavailable, the caller cannot be identified: a denial would mean that the credentials are invalid,
and a failing authorizer becomes a 500. So the request continues with a mark and without an
identity, and every function behind the API returns 503.
"""

from collections.abc import Callable
from typing import Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.data_classes.api_gateway_authorizer_event import (
    APIGatewayAuthorizerEventV2,
    APIGatewayAuthorizerResponseV2,
)

from backend.core.errors import UnavailableError
from backend.core.identity import OUTAGE_MARK, Identity
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.rules.refusals import RefusedError
from backend.domains.identity.service.authentication import CallerAuthentication
from backend.domains.identity.service.edge import ViewerAddresses
from backend.entrypoints import ready
from backend.entrypoints.wiring.authentication import callers, viewers
from backend.entrypoints.wiring.context import Context
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.metrics import CALLERS_REFUSED, NAMESPACE, dimensions

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
_logger = Logger()


def build_handler(authentication: CallerAuthentication, viewers: ViewerAddresses) -> Handler:
    """Return the Lambda handler, which uses `authentication` and the addresses of `viewers`."""

    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's
        request = APIGatewayAuthorizerEventV2(event)
        source = address = request.request_context.http.source_ip
        try:
            address = viewers.address_of(request.headers, source)
            caller = authentication.identify(request.headers.get("authorization") or "", address)
        except UnavailableError:
            _logger.warning("authentication is unavailable", exc_info=True)
            return _answer({OUTAGE_MARK: "true"})
        except RefusedError as refused:
            from aws_lambda_powertools.metrics import (  # noqa: PLC0415 - most callers are let in
                MetricUnit,
                single_metric,
            )

            facts = {"reason": refused.reason.value, "sourceIp": address, **refused.facts}
            _logger.warning("a caller was refused", extra=facts)
            with single_metric(
                name=CALLERS_REFUSED.name,
                unit=MetricUnit.Count,
                value=1,
                namespace=NAMESPACE,
                default_dimensions=dimensions(AUTHORIZER.name),
            ) as metric:
                metric.add_dimension(name="reason", value=refused.reason.value)
            return _answer(None)
        return _answer(_context(caller) | ({} if address == source else {"viewer": address}))

    return handle


def report_unrecorded_use(key: ApiKey) -> None:
    """Report that a key was used, but its last use could not be stored."""
    _logger.warning("the use of a key was not recorded", extra={"apiKeyId": key.api_key_id})


def report_obstacle(text: str) -> None:
    """Report what prevents the authentication of callers."""
    _logger.warning(text)


def _context(caller: Identity) -> dict[str, str]:
    """Return the context that the functions behind the API receive; all values are texts."""
    known = {"userId": caller.user_id, "mfa": "true" if caller.mfa else "false"}
    optional = {
        "email": caller.email,
        "apiKeyId": caller.api_key_id,
        "subject": caller.subject,
        "authTime": None if caller.auth_time is None else str(caller.auth_time),
        "inPool": "true" if caller.in_pool else None,
    }
    return known | {name: value for name, value in optional.items() if value is not None}


def _answer(context: dict[str, str] | None) -> dict[str, Any]:
    """Allow the request with a context, or deny it."""
    answer = APIGatewayAuthorizerResponseV2(authorize=context is not None, context=context)
    return cast("dict[str, Any]", answer.asdict())


_CONTEXT = Context(AUTHORIZER)
handler = ready(
    build_handler(
        callers(_CONTEXT, unrecorded=report_unrecorded_use, warn=report_obstacle),
        viewers(_CONTEXT),
    )
)
