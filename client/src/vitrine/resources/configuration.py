"""The public configuration of a deployment: sign-in, enabled features, OpenAPI document."""

from pydantic import Field, JsonValue, RootModel

from vitrine.models import Wire
from vitrine.transport import Transport, path_of


class SignInSettings(Wire):
    """How clients sign in; settings that the deployment does not have are absent."""

    region: str
    api: str
    user_pool_id: str | None = Field(default=None, alias="cognitoUserPoolId")
    app_client_id: str | None = Field(default=None, alias="cognitoAppClientId")
    identity_provider: str | None = Field(default=None, alias="externalOAuthIdpURL")
    identity_provider_client_id: str | None = Field(default=None, alias="externalOAuthIdpClientId")
    banner_html_message: str | None = None


class Switches(Wire):
    features_enabled: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the enabled features."""
        return tuple(name for name in self.features_enabled.split(",") if name)


class _Document(RootModel[dict[str, JsonValue]]):
    pass


class Configuration:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def sign_in(self) -> SignInSettings:
        """Return the sign-in settings. Needs no credentials."""
        return self._transport.read(SignInSettings, path_of("api", "amplify-config"))

    def switches(self) -> Switches:
        return self._transport.read(Switches, path_of("secure-config"))

    def openapi(self) -> dict[str, JsonValue]:
        """Return the OpenAPI document of the deployment."""
        return self._transport.read(_Document, path_of("openapi.json")).root
