"""The configuration that the deployment publishes."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.domains.configuration.models import (
    COGNITO,
    NO_SEARCH,
    PROVIDER,
    UNSET,
    AmplifyConfigReply,
    DeployedPage,
    Endpoints,
    OpenApiReply,
    SecureConfigReply,
    ServerVersionReply,
    SignInProvider,
)
from backend.domains.configuration.repository import FeatureRepository
from backend.spec.routes.later import LATER_PARTS
from backend.spec.versions import CONTRACT_VERSION, LATER_VERSION, PRODUCT_VERSION

_log = logging.getLogger(__name__)
_REREAD_AFTER = timedelta(minutes=1)


@dataclass(eq=False, repr=False)
class PageRecord:
    """The page that is deployed, which functions read at most once a minute."""

    read: Callable[[], DeployedPage | None]
    clock: Clock
    _page: DeployedPage | None = None
    _read_at: datetime | None = None

    def find(self) -> DeployedPage | None:
        """Return the page; None without one.

        Raises:
            UnavailableError: the table does not respond.
        """
        now = self.clock()
        if self._read_at is None or now - self._read_at >= _REREAD_AFTER:
            self._page, self._read_at = self.read(), now
        return self._page

    def audiences(self) -> frozenset[str]:
        """Return the client with which users of the user pool sign in to the page, if any.

        Raises:
            UnavailableError: the table does not respond.
        """
        page = self.find()
        return frozenset(filter(None, (page and page.client_id,)))


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
    page: PageRecord | None = None

    def get_version(self) -> ServerVersionReply:
        return ServerVersionReply(
            version=CONTRACT_VERSION,
            product_version=PRODUCT_VERSION,
            later_version=LATER_VERSION,
            later_parts_not_served=list(LATER_PARTS),
        )

    def get_amplify_config(self, api_url: str) -> AmplifyConfigReply:
        """Return what a web client needs that reached the API under this address.

        The endpoints of an identity provider that does not respond are `undefined`; users of the
        user pool can still sign in.
        """
        page = None if self.page is None else self.page.find()
        return AmplifyConfigReply.model_validate(
            {
                "region": self.region,
                "api": api_url,
                "cognito_user_pool_id": self.user_pool_id,
                "cognito_app_client_id": self.user_pool_client_id,
                **({} if self.provider is None else _of_provider(self.provider)),
                **{f"page_{name}": value for name, value in page or ()},
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
