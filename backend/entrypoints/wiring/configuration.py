"""Wires the configuration that clients request before they sign in."""

from typing import Any

from backend.domains.configuration.models import Endpoints, SignInProvider
from backend.domains.configuration.repository import FeatureRepository, PageRepository
from backend.domains.configuration.service import ConfigurationService, PageRecord
from backend.entrypoints.wiring.context import Context
from backend.spec.settings import (
    OIDC_CLIENT_ID,
    OIDC_ISSUER,
    OIDC_SCOPE,
    OIDC_SCOPE_MFA,
    PAGE,
    WEB_URL,
)


def configuration(context: Context) -> ConfigurationService:
    settings = context.settings
    return ConfigurationService(
        features=FeatureRepository(context.tables),
        region=settings.region,
        web_url=settings.text(WEB_URL),
        openapi=_openapi,
        user_pool_id=settings.user_pool_id,
        user_pool_client_id=settings.user_pool_client_id,
        provider=_provider(context),
        page=page_record(context),
    )


def page_record(context: Context) -> PageRecord | None:
    """Return the record of the page, if the deployment has one."""
    if not context.settings.number(PAGE):
        return None
    return PageRecord(PageRepository(context.tables).find, context.clock)


def _provider(context: Context) -> SignInProvider | None:
    text = context.settings.text
    url = text(OIDC_ISSUER)
    if not url:
        return None
    # Imported here because most deployments have no provider of their own.
    from backend.aws.remote_json import HttpRemoteJson  # noqa: PLC0415
    from backend.domains.identity.service.endpoints import ProviderEndpoints  # noqa: PLC0415

    endpoints = ProviderEndpoints(HttpRemoteJson(url), context.clock, url)
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
