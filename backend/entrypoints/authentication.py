"""Wires the authorizer. Modules that only tokens need are imported with the first token."""
# ruff: noqa: PLC0415

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from backend.aws import clients
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.service.authentication import (
    AllowedAddresses,
    CallerAuthentication,
    KeyAuthentication,
)
from backend.entrypoints.wiring import Wiring
from backend.spec import settings as declared
from backend.spec.settings import Setting

if TYPE_CHECKING:
    from backend.domains.identity.rules.claims import Issuer
    from backend.domains.identity.service.tokens import PoolUsers, TokenAuthentication

Warn = Callable[[str], None]


@dataclass(eq=False, repr=False)
class AuthorizerWiring(Wiring):
    """Creates the services of the authorizer."""

    def callers(self, *, unrecorded: Callable[[ApiKey], None], warn: Warn) -> CallerAuthentication:
        """Return what identifies the sender of a request. Both report to the administrator."""
        users = cache(lambda: self._pool_users(warn))
        tokens = cache(lambda: self._tokens(warn, users()))
        keys = KeyAuthentication(ApiKeyRepository(self.tables), self._pepper, self.clock, users)
        return CallerAuthentication(
            keys=keys,
            tokens=tokens,
            addresses=self._addresses,
            unrecorded=unrecorded,
        )

    @cached_property
    def _addresses(self) -> AllowedAddresses | None:
        ranges = self._list(declared.ALLOWED_ADDRESSES)
        if not ranges:
            return None
        from backend.domains.identity.rules.addresses import AddressRanges

        return AddressRanges(ranges)

    def _tokens(self, warn: Warn, users: "PoolUsers | None") -> "TokenAuthentication | None":
        if self.settings.user_pool_id is None and not self._text(declared.OIDC_ISSUER):
            return None
        from backend.aws.remote_json import HttpRemoteJson
        from backend.domains.identity.service.tokens import (
            ProviderKeys,
            TokenAuthentication,
            TrustedIssuer,
        )

        trusted: dict[str, TrustedIssuer] = {}
        provider, pool = self._provider(), self._user_pool()
        if provider is not None:
            documents = HttpRemoteJson(provider.url)
            keys = ProviderKeys(documents, self.clock, warn, provider.url)
            trusted[provider.url] = TrustedIssuer(provider, keys)
        if pool is not None:
            address = self.settings.user_pool_keys_url
            documents = HttpRemoteJson(address)
            keys = ProviderKeys(documents, self.clock, warn, pool.url, address)
            trusted[pool.url] = TrustedIssuer(pool, keys, users)
        return TokenAuthentication(trusted, self.clock)

    def _provider(self) -> "Issuer | None":
        from backend.domains.identity.rules.claims import Issuer

        url = self._text(declared.OIDC_ISSUER)
        return (
            None
            if not url
            else Issuer(
                url=url,
                audiences=frozenset(self._list(declared.OIDC_AUDIENCES)),
                user_claims=(self._text(declared.OIDC_USER_CLAIM),),
                user_prefix=self._text(declared.OIDC_USER_PREFIX),
                email_claim=self._text(declared.OIDC_EMAIL_CLAIM),
                mfa_claim=self._text(declared.OIDC_MFA_CLAIM),
                mfa_values=frozenset(self._list(declared.OIDC_MFA_VALUES)),
            )
        )

    def _user_pool(self) -> "Issuer | None":
        from backend.domains.identity.rules.claims import Issuer

        url, client_id = self.settings.user_pool_issuer, self.settings.user_pool_client_id
        return (
            None
            if url is None or client_id is None
            else Issuer(
                url=url,
                audiences=frozenset({client_id}),
                user_claims=("cognito:username", "username"),  # of id tokens; of access tokens
                is_user_pool=True,
                foreign_prefix=self.settings.provider_prefix,
            )
        )

    def _pool_users(self, warn: Warn) -> "PoolUsers | None":
        if self.settings.user_pool_id is None:
            return None
        from backend.aws.user_pool import CognitoUserPool
        from backend.core.addresses import is_local
        from backend.domains.identity.service.tokens import PoolUsers

        pool = CognitoUserPool(
            clients.at_first_use(clients.cognito_idp), self.settings.user_pool_id
        )
        # The pool of the local runtime is empty after each start.
        absence_counts = not is_local(self.settings.user_pool_keys_url)
        return PoolUsers(pool, self.clock, warn, absence_counts)

    def _text(self, setting: Setting) -> str:
        return self.settings.text(setting)

    def _list(self, setting: Setting) -> list[str]:
        return [each for each in self._text(setting).split(",") if each]
