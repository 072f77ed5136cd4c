"""The routes of configuration."""

from backend.domains.configuration.models import (
    AmplifyConfigReply,
    OpenApiReply,
    SecureConfigReply,
    ServerVersionReply,
)
from backend.domains.configuration.rules import api_url
from backend.domains.configuration.service import ConfigurationService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: ConfigurationService) -> Router:
    """Bind the routes of configuration to the service."""
    router = Router()

    @router.bind(routes.GET_AMPLIFY_CONFIG)
    def get_amplify_config(call: Call) -> AmplifyConfigReply:
        return service.get_amplify_config(api_url(call.headers))

    @router.bind(routes.GET_VERSION)
    def get_version(call: Call) -> ServerVersionReply:  # noqa: ARG001 - every endpoint takes the call
        return service.get_version()

    @router.bind(routes.GET_SECURE_CONFIG)
    def get_secure_config(call: Call) -> SecureConfigReply:  # noqa: ARG001 - as above
        return service.get_secure_config()

    @router.bind(routes.GET_OPENAPI)
    def get_openapi(call: Call) -> OpenApiReply:  # noqa: ARG001 - as above
        return service.get_openapi()

    return router
