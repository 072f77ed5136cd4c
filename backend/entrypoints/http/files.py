"""The function of the domain files."""

from backend.domains.files.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import FILES_API

_wiring = Wiring(FILES_API)
_router = build_router(_wiring.files, _wiring.file_changes, _wiring.file_rewrites)
handler = ready(_wiring.app.handler(_router))
