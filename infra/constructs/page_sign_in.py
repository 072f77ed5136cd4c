"""Sign-in of the user pool's users to the page: domain, managed login, client, providers."""

from dataclasses import dataclass

from aws_cdk import Aws, SecretValue, Stack
from aws_cdk import aws_cognito as cognito

from infra.resources import Resources
from infra.settings import Settings
from infra.settings.values import SignInProvider

_COGNITO = "COGNITO"


@dataclass(frozen=True)
class PageSignIn:
    """The issuer and the client with which the page signs users in."""

    issuer: str
    client_id: str


def declared_page_sign_in(
    stack: Stack, *, settings: Settings, resources: Resources, page_url: str
) -> PageSignIn | None:
    """Return how the page signs users in; None without a user pool that has a domain."""
    pool = resources.user_pool
    if pool is None or not settings.user_pool_domain:
        return None
    domain = cognito.CfnUserPoolDomain(
        stack,
        "UserPoolDomain",
        domain=settings.user_pool_domain,
        user_pool_id=pool.user_pool_id,
        managed_login_version=2,
    )
    providers = [
        _provider(stack, name, provider, pool.user_pool_id)
        for name, provider in settings.user_pool_providers.items()
    ]
    client = cognito.CfnUserPoolClient(
        stack,
        "PageClient",
        user_pool_id=pool.user_pool_id,
        # No secret: the page's requests prove themselves with PKCE.
        generate_secret=False,
        allowed_o_auth_flows_user_pool_client=True,
        allowed_o_auth_flows=["code"],
        allowed_o_auth_scopes=["openid", "email", "profile"],
        callback_ur_ls=[page_url],
        logout_ur_ls=[page_url],
        explicit_auth_flows=["ALLOW_REFRESH_TOKEN_AUTH"],
        prevent_user_existence_errors="ENABLED",
        enable_token_revocation=True,
        supported_identity_providers=[_COGNITO, *settings.user_pool_providers],
    )
    for provider in providers:
        client.add_resource_dependency(provider)
    # Without a style, the managed login shows an error instead of its pages.
    branding = cognito.CfnManagedLoginBranding(
        stack,
        "SignInPages",
        user_pool_id=pool.user_pool_id,
        client_id=client.ref,
        use_cognito_provided_values=True,
    )
    branding.add_resource_dependency(domain)
    return PageSignIn(
        issuer=f"https://cognito-idp.{Aws.REGION}.amazonaws.com/{pool.user_pool_id}",
        client_id=client.ref,
    )


def _provider(
    stack: Stack, name: str, provider: SignInProvider, pool_id: str
) -> cognito.CfnUserPoolIdentityProvider:
    if provider.metadata_url:
        kind, details = "SAML", {"MetadataURL": provider.metadata_url}
    else:
        secret = SecretValue.secrets_manager(provider.client_secret)
        kind = "OIDC"
        details = {
            "oidc_issuer": provider.issuer,
            "client_id": provider.client_id,
            # CloudFormation reads the value; the template has its name.
            "client_secret": secret.unsafe_unwrap(),
            "authorize_scopes": "openid email profile",
            "attributes_request_method": "GET",
        }
    return cognito.CfnUserPoolIdentityProvider(
        stack,
        f"SignIn{name}",
        user_pool_id=pool_id,
        provider_name=name,
        provider_type=kind,
        provider_details=details,
        attribute_mapping=provider.attributes,
    )
