"""Finds the keys and endpoints of a provider (OpenID Connect Discovery 1.0)."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from backend.core.addresses import is_local


def discovery_url(issuer: str) -> str:
    """Return the URL of a provider's discovery document.

    Raises:
        ValueError: the URL would not use TLS.
    """
    _check_secure(issuer, issuer)
    return issuer.removesuffix("/") + "/.well-known/openid-configuration"


def keys_url(document: Mapping[str, Any], issuer: str) -> str:
    """Return the URL of the keys in the provider's document.

    Raises:
        ValueError: the document is of another provider, or names no allowed URL.
    """
    if document.get("issuer") != issuer:
        raise ValueError("its discovery document names another issuer")
    address: object = document.get("jwks_uri")
    if not isinstance(address, str):
        raise ValueError("its discovery document has no address of the keys (jwks_uri)")  # noqa: TRY004
    _check_secure(address, issuer)
    return address


class SignInEndpoints(NamedTuple):
    """The endpoints at which web clients of a provider sign users in."""

    authorization: str
    token: str
    discovery: str


def sign_in_endpoints(document: Mapping[str, Any], issuer: str) -> SignInEndpoints:
    """Return the endpoints that the provider's document names.

    Raises:
        ValueError: the document is of another provider, or names no allowed endpoints.
    """
    if document.get("issuer") != issuer:
        raise ValueError("its discovery document names another issuer")

    def address_of(name: str) -> str:
        address: object = document.get(name)
        if not isinstance(address, str):
            raise ValueError(f"its discovery document has no {name}")  # noqa: TRY004
        _check_secure(address, issuer)
        return address

    return SignInEndpoints(
        authorization=address_of("authorization_endpoint"),
        token=address_of("token_endpoint"),
        discovery=discovery_url(issuer),
    )


def _check_secure(url: str, issuer: str) -> None:
    """Require TLS, except for a provider that the settings place on this machine."""
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None or not parts.hostname:
        raise ValueError(
            "an address in its discovery document has no host, or contains a user name"
        )
    if parts.scheme == "https" or (is_local(url) and is_local(issuer)):
        return
    raise ValueError("an address in its discovery document is not https")
