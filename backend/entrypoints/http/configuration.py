"""The function of the domain configuration."""

from backend.domains.configuration.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.configuration import ConfigurationWiring
from backend.spec.functions.apis import CONFIGURATION_API

_wiring = ConfigurationWiring(CONFIGURATION_API)
handler = ready(_wiring.app.handler(build_router(_wiring.configuration)))
