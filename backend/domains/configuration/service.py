"""The configuration that the deployment publishes."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backend.core.errors import UnavailableError
from backend.domains.configuration.models import (
    COGNITO,
    NO_SEARCH,
    PROVIDER,
    UNSET,
    AmplifyConfigReply,
    Endpoints,
    OpenApiReply,
    SecureConfigReply,
    ServerVersionReply,
    SignInProvider,
)
from backend.domains.configuration.repository import FeatureRepository
from backend.spec.versions import CONTRACT_VERSION, PRODUCT_VERSION

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class ConfigurationService:
    """The configuration for clients.

    No entity is involved, so only the route's permission is checked.
    """

    features: FeatureRepository
    region: str
    web_url: str
    openapi: Callable[[], dict[str, Any]]
    user_pool_id: str | None = None
    user_pool_client_id: str | None = None
    provider: SignInProvider | None = None

    def get_version(self) -> ServerVersionReply:
        return ServerVersionReply(version=CONTRACT_VERSION, product_version=PRODUCT_VERSION)

    def get_amplify_config(self, api_url: str) -> AmplifyConfigReply:
        """Return what a web client needs that reached the API under this address.

        The endpoints of an identity provider that does not respond are `undefined`; users of the
        user pool can still sign in.
        """
        return AmplifyConfigReply.model_validate(
            {
                "region": self.region,
                "api": api_url,
                "cognito_user_pool_id": self.user_pool_id,
                "cognito_app_client_id": self.user_pool_client_id,
                **({} if self.provider is None else _of_provider(self.provider)),
            }
        )

    def get_openapi(self) -> OpenApiReply:
        return OpenApiReply(self.openapi())

    def get_secure_config(self) -> SecureConfigReply:
        return SecureConfigReply(
            features_enabled=",".join(self.features.list_all()), web_deployed_url=self.web_url
        )


def _of_provider(provider: SignInProvider) -> dict[str, str]:
    try:
        endpoints = provider.endpoints()
    except UnavailableError as error:
        _log.warning("%s", error)
        endpoints = Endpoints("", "", "")
    values = {
        "ClientId": provider.client_id,
        "Scope": provider.scope,
        "ScopeMfa": provider.scope_mfa,
        "TokenEndpoint": endpoints.token,
        "AuthorizationEndpoint": endpoints.authorization,
        "DiscoveryEndpoint": endpoints.discovery,
    }
    return {
        "externalOAuthIdpURL": provider.url,
        **{f"externalOAuthIdp{name}": value or UNSET for name, value in values.items()},
    }


@dataclass(eq=False, repr=False)
class Features:
    """Stores the features that follow from the deployment's settings. For bootstrap only."""

    features: FeatureRepository

    def declare(self, *, has_search: bool, has_user_pool: bool, has_provider: bool = False) -> None:
        """Enable features that apply and disable those that do not; others remain unchanged."""
        holds = {NO_SEARCH: not has_search, COGNITO: has_user_pool, PROVIDER: has_provider}
        self.features.put_all(name for name, on in holds.items() if on)
        self.features.delete_all(name for name, on in holds.items() if not on)
