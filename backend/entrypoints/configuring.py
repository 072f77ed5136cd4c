"""Puts the ports of AWS behind what clients ask of a deployment before they sign in."""

from functools import cached_property
from typing import Any

from backend.core.wired import wired
from backend.domains.configuration.models import SignInProvider
from backend.domains.configuration.repository import FeatureRepository
from backend.domains.configuration.service import ConfigurationService
from backend.entrypoints.wiring import Wiring
from backend.spec.settings import OIDC_CLIENT_ID, OIDC_ISSUER, OIDC_SCOPE, WEB_URL


@wired
class ConfigurationWiring(Wiring):
    """What the function of the domain configuration is made of."""

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
        url, client_id, scope = map(self.settings.text, (OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_SCOPE))
        return SignInProvider(url, client_id, scope) if url else None


def _openapi() -> dict[str, Any]:
    from backend.entrypoints.openapi import openapi  # noqa: PLC0415 - all slices

    return openapi()
