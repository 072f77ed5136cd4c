"""Features as stored, and the replies of the configuration routes."""

from collections.abc import Callable
from typing import Any, NamedTuple

from pydantic import Field, RootModel

from backend.core.models import WireModel

# The feature flag of VAMS for deployments without search.
NO_SEARCH = "NOOPENSEARCH"

# The feature flag of VAMS for sign-in with the deployment's user pool.
COGNITO = "AUTHPROVIDER_COGNITO"


# The feature flag of VAMS for sign-in with an external identity provider.
PROVIDER = "AUTHPROVIDER_EXTERNALOAUTHIDP"


# The value that VAMS clients expect for provider settings without a value.
UNSET = "undefined"


class Endpoints(NamedTuple):
    """Addresses of a provider at which web clients sign users in."""

    authorization: str
    token: str
    discovery: str


class SignInProvider(NamedTuple):
    """The identity provider, and the application id that a web client uses.

    `endpoints` reads the provider's discovery document, and raises UnavailableError.
    """

    url: str
    client_id: str
    scope: str
    scope_mfa: str
    endpoints: Callable[[], Endpoints]


class DeployedPage(WireModel):
    """The page's address and, if users of the user pool sign in on it, their issuer and client."""

    url: str
    issuer: str | None = None
    client_id: str | None = None


class Feature(WireModel):
    feature_name: str


class ServerVersionReply(WireModel):
    """`version` is that of the API contract; VAMS clients compare it with their own.

    `laterVersion` is the later VAMS release of which the API serves all but `laterPartsNotServed`.
    """

    version: str
    product_version: str
    later_version: str
    later_parts_not_served: list[str]


class AmplifyConfigReply(WireModel):
    """The configuration that a web client needs to start, with the field names of VAMS.

    Without an identity provider its fields are absent: API keys need no sign-in. With one, a
    setting without a value is the string `undefined`.
    """

    region: str
    api: str
    """The address of the API with a trailing slash, to which clients append paths."""

    cognito_user_pool_id: str | None = None
    cognito_app_client_id: str | None = None
    cognito_identity_pool_id: str | None = None
    external_oauth_idp_url: str | None = Field(default=None, alias="externalOAuthIdpURL")
    external_oauth_idp_client_id: str | None = Field(default=None, alias="externalOAuthIdpClientId")
    external_oauth_idp_scope: str | None = Field(default=None, alias="externalOAuthIdpScope")
    external_oauth_idp_scope_mfa: str | None = Field(default=None, alias="externalOAuthIdpScopeMfa")
    external_oauth_idp_token_endpoint: str | None = Field(
        default=None, alias="externalOAuthIdpTokenEndpoint"
    )
    external_oauth_idp_authorization_endpoint: str | None = Field(
        default=None, alias="externalOAuthIdpAuthorizationEndpoint"
    )
    external_oauth_idp_discovery_endpoint: str | None = Field(
        default=None, alias="externalOAuthIdpDiscoveryEndpoint"
    )
    page_url: str | None = None
    """The address of the page that is deployed with this API."""
    page_issuer: str | None = None
    """The issuer with which users of the user pool sign in to the page."""
    page_client_id: str | None = None
    content_security_policy: str = ""
    banner_html_message: str = ""


class SecureConfigReply(WireModel):
    features_enabled: str
    """The comma-separated names of the enabled features."""

    location_service_api_url: str = ""
    web_deployed_url: str = ""


class OpenApiReply(RootModel[dict[str, Any]]):
    """The OpenAPI document of this API."""
