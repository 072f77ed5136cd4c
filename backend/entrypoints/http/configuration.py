"""The function of the domain configuration, which also refuses routes of a later contract."""

from backend.domains.configuration.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.configuration import configuration
from backend.http.later_routes import later_router
from backend.spec.functions.apis import CONFIGURATION_API

handler = serve(
    CONFIGURATION_API, lambda context: build_router(configuration(context)) | later_router()
)
