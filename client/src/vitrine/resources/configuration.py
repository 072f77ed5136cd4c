"""The public configuration of a deployment: sign-in, enabled features, OpenAPI document."""

from pydantic import JsonValue, RootModel

from vitrine import api_models
from vitrine.api_models import SignInSettings as SignInSettings
from vitrine.resources.resource import Resource
from vitrine.transport import path_of


class Switches(api_models.Switches):
    @property
    def features(self) -> tuple[str, ...]:
        """The names of the enabled features."""
        return tuple(name for name in self.features_enabled.split(",") if name)


class _Document(RootModel[dict[str, JsonValue]]):
    pass


class Configuration(Resource):
    def sign_in(self) -> SignInSettings:
        """Return the sign-in settings. Needs no credentials."""
        return self._transport.read(SignInSettings, path_of("api", "amplify-config"))

    def switches(self) -> Switches:
        return self._transport.read(Switches, path_of("secure-config"))

    def openapi(self) -> dict[str, JsonValue]:
        """Return the OpenAPI document of the deployment."""
        return self._transport.read(_Document, path_of("openapi.json")).root
