"""The function of the domain tags."""

from backend.domains.tags.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.tags import tags
from backend.spec.functions.apis import TAGS_API

handler = serve(TAGS_API, lambda context: build_router(tags(context)))
