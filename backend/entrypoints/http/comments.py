"""The function of the domain comments."""

from backend.domains.comments.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.comments import CommentWiring
from backend.spec.functions.apis import COMMENTS_API

_wiring = CommentWiring(COMMENTS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.comments)))
