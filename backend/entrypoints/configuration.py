"""Wires the configuration that clients request before they sign in."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backend.domains.configuration.models import Endpoints, SignInProvider
from backend.domains.configuration.repository import FeatureRepository
from backend.domains.configuration.service import ConfigurationService
from backend.entrypoints.wiring import Wiring
from backend.spec.settings import (
    OIDC_CLIENT_ID,
    OIDC_ISSUER,
    OIDC_SCOPE,
    OIDC_SCOPE_MFA,
    WEB_URL,
)


@dataclass(eq=False, repr=False)
class ConfigurationWiring(Wiring):
    """Creates the services of the domain configuration."""

    @cached_property
    def configuration(self) -> ConfigurationService:
        return ConfigurationService(
            features=FeatureRepository(self.tables),
            region=self.settings.region,
            web_url=self.settings.text(WEB_URL),
            openapi=_openapi,
            user_pool_id=self.settings.user_pool_id,
            user_pool_client_id=self.settings.user_pool_client_id,
            provider=self._provider,
        )

    @property
    def _provider(self) -> SignInProvider | None:
        text = self.settings.text
        url = text(OIDC_ISSUER)
        if not url:
            return None
        # Imported here because most deployments have no provider of their own.
        from backend.aws.remote_json import HttpRemoteJson  # noqa: PLC0415
        from backend.domains.identity.service.endpoints import ProviderEndpoints  # noqa: PLC0415

        endpoints = ProviderEndpoints(HttpRemoteJson(url), self.clock, url)
        return SignInProvider(
            url=url,
            client_id=text(OIDC_CLIENT_ID),
            scope=text(OIDC_SCOPE),
            scope_mfa=text(OIDC_SCOPE_MFA),
            endpoints=lambda: Endpoints(*endpoints.get()),
        )


def _openapi() -> dict[str, Any]:
    from backend.entrypoints.openapi import openapi  # noqa: PLC0415 - all slices

    return openapi()
