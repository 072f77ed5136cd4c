"""Wires the authorizer. Modules that only tokens need are imported with the first token."""
# ruff: noqa: PLC0415

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from backend.aws import clients
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.service.authentication import (
    AllowedAddresses,
    CallerAuthentication,
    KeyAuthentication,
)
from backend.domains.identity.service.edge import ViewerAddresses
from backend.entrypoints.wiring.context import Context
from backend.spec import settings as declared
from backend.spec.secrets import PAGE_EDGE_KEY
from backend.spec.settings import Setting

if TYPE_CHECKING:
    from backend.domains.identity.rules.claims import Issuer
    from backend.domains.identity.service.tokens import PoolUsers, TokenAuthentication

Warn = Callable[[str], None]


def callers(
    context: Context, *, unrecorded: Callable[[ApiKey], None], warn: Warn
) -> CallerAuthentication:
    """Return what identifies the sender of a request. Both report to the administrator."""
    users = cache(lambda: _pool_users(context, warn))
    tokens = cache(lambda: _tokens(context, warn, users()))
    keys = KeyAuthentication(ApiKeyRepository(context.tables), context.pepper, context.clock, users)
    return CallerAuthentication(
        keys=keys, tokens=tokens, addresses=_addresses(context), unrecorded=unrecorded
    )


def viewers(context: Context) -> ViewerAddresses:
    """Return what knows the senders of requests through the page's distribution."""
    return ViewerAddresses(lambda: context.secrets.accepted_values(PAGE_EDGE_KEY), context.clock)


def _addresses(context: Context) -> AllowedAddresses | None:
    ranges = _list(context, declared.ALLOWED_ADDRESSES)
    if not ranges:
        return None
    from backend.domains.identity.rules.addresses import AddressRanges

    return AddressRanges(ranges)


def _tokens(
    context: Context, warn: Warn, users: "PoolUsers | None"
) -> "TokenAuthentication | None":
    if context.settings.user_pool_id is None and not context.settings.text(declared.OIDC_ISSUER):
        return None
    from backend.aws.remote_json import HttpRemoteJson
    from backend.domains.identity.service.tokens import (
        ProviderKeys,
        TokenAuthentication,
        TrustedIssuer,
    )
    from backend.entrypoints.wiring.configuration import page_record

    trusted: dict[str, TrustedIssuer] = {}
    provider, pool = _provider(context), _user_pool(context)
    if provider is not None:
        documents = HttpRemoteJson(provider.url)
        keys = ProviderKeys(documents, context.clock, warn, provider.url)
        trusted[provider.url] = TrustedIssuer(provider, keys)
    if pool is not None:
        address = context.settings.user_pool_keys_url
        documents = HttpRemoteJson(address)
        keys = ProviderKeys(documents, context.clock, warn, pool.url, address)
        page = page_record(context)
        audiences = frozenset if page is None else page.audiences
        trusted[pool.url] = TrustedIssuer(pool, keys, users, audiences)
    return TokenAuthentication(trusted, context.clock)


def _provider(context: Context) -> "Issuer | None":
    from backend.domains.identity.rules.claims import Issuer

    text = context.settings.text
    url = text(declared.OIDC_ISSUER)
    return (
        None
        if not url
        else Issuer(
            url=url,
            audiences=frozenset(_list(context, declared.OIDC_AUDIENCES)),
            user_claims=(text(declared.OIDC_USER_CLAIM),),
            user_prefix=text(declared.OIDC_USER_PREFIX),
            email_claim=text(declared.OIDC_EMAIL_CLAIM),
            mfa_claim=text(declared.OIDC_MFA_CLAIM),
            mfa_values=frozenset(_list(context, declared.OIDC_MFA_VALUES)),
        )
    )


def _user_pool(context: Context) -> "Issuer | None":
    from backend.domains.identity.rules.claims import Issuer

    url, client_id = context.settings.user_pool_issuer, context.settings.user_pool_client_id
    return (
        None
        if url is None or client_id is None
        else Issuer(
            url=url,
            audiences=frozenset({client_id}),
            user_claims=("cognito:username", "username"),  # of id tokens; of access tokens
            is_user_pool=True,
            foreign_prefix=context.settings.provider_prefix,
        )
    )


def _pool_users(context: Context, warn: Warn) -> "PoolUsers | None":
    if context.settings.user_pool_id is None:
        return None
    from backend.aws.user_pool import CognitoUserPool
    from backend.core.addresses import is_local
    from backend.domains.identity.service.tokens import PoolUsers

    pool = CognitoUserPool(clients.at_first_use(clients.cognito_idp), context.settings.user_pool_id)
    # The pool of the local runtime is empty after each start.
    absence_counts = not is_local(context.settings.user_pool_keys_url)
    return PoolUsers(pool, context.clock, warn, absence_counts)


def _list(context: Context, setting: Setting) -> list[str]:
    return [text for text in context.settings.text(setting).split(",") if text]
