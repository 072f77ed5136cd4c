"""The function of the domain comments."""

from backend.domains.comments.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.comments import comments
from backend.spec.functions.apis import COMMENTS_API

handler = serve(COMMENTS_API, lambda context: build_router(comments(context)))
