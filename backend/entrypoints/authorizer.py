"""The Lambda authorizer of the HTTP API, with simple responses: identifies the caller.

Never what the caller may do: the functions behind the API ask that themselves. Whatever is not a
valid API key or token is refused, without a reason to the caller; the reason is in the log and
counted. When what must be asked is down nobody can be known: a refusal would tell a client that its
credentials are bad, and a failing authorizer becomes a 500. So the request goes on with a mark and
without an identity, and every function behind the API answers it with 503.
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
from backend.domains.access.models.keys import ApiKey
from backend.domains.access.rules.refusals import RefusedError
from backend.domains.access.service.authentication import CallerAuthentication
from backend.entrypoints import ready
from backend.entrypoints.authentication import AuthorizerWiring
from backend.spec.functions import AUTHORIZER
from backend.spec.metrics import CALLERS_REFUSED, NAMESPACE, dimensions

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
_logger = Logger()


def build_handler(authentication: CallerAuthentication) -> Handler:
    """The Lambda handler that asks `authentication`."""

    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's
        request = APIGatewayAuthorizerEventV2(event)
        address = request.request_context.http.source_ip
        try:
            caller = authentication.identify(request.headers.get("authorization") or "", address)
        except UnavailableError:
            _logger.warning("nobody can be authenticated", exc_info=True)
            return _answer({OUTAGE_MARK: "true"})
        except RefusedError as refused:
            _note(refused, address)
            return _answer(None)
        return _answer(_context(caller))

    return handle


def note_unrecorded(key: ApiKey) -> None:
    """Tell the administrator that a key was used, and that its row does not say so."""
    _logger.warning("the use of a key was not recorded", extra={"apiKeyId": key.api_key_id})


def note_doubt(text: str) -> None:
    """Tell the administrator what hinders the authentication of callers."""
    _logger.warning(text)


def _note(refused: RefusedError, address: str) -> None:
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


def _context(caller: Identity) -> dict[str, str]:
    """What the functions behind the API learn of the caller; all values are texts."""
    known = {"userId": caller.user_id, "mfa": "true" if caller.mfa else "false"}
    optional = {"email": caller.email, "apiKeyId": caller.api_key_id, "subject": caller.subject}
    return known | {name: value for name, value in optional.items() if value is not None}


def _answer(context: dict[str, str] | None) -> dict[str, Any]:
    """Let the request pass with a context, or refuse it."""
    answer = APIGatewayAuthorizerResponseV2(authorize=context is not None, context=context)
    return cast("dict[str, Any]", answer.asdict())


handler = ready(
    build_handler(AuthorizerWiring(AUTHORIZER).callers(unrecorded=note_unrecorded, warn=note_doubt))
)
