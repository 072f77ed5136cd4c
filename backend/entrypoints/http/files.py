"""The function of the domain files. The first request that changes files loads what it needs."""
# ruff: noqa: PLC0415

from functools import partial
from typing import TYPE_CHECKING

from backend.domains.files.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.files import files
from backend.entrypoints.wiring.saved_views import saved_views
from backend.spec.functions.apis import FILES_API

if TYPE_CHECKING:
    from backend.domains.files.service.commands import FileCommands
    from backend.domains.files.service.rewrites import FileRewrites


def _changes(context: Context) -> "FileCommands":
    from backend.entrypoints.wiring.file_changes import changes

    return changes(context)


def _rewrites(context: Context) -> "FileRewrites":
    from backend.entrypoints.wiring.file_changes import rewrites

    return rewrites(context)


handler = serve(
    FILES_API,
    lambda context: build_router(
        files(context),
        partial(_changes, context),
        partial(_rewrites, context),
        saved_views(context),
    ),
)
