"""The function of the domain databases."""

from functools import partial

from backend.domains.databases.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.databases import database_purges, databases
from backend.spec.functions.apis import DATABASES_API

handler = serve(
    DATABASES_API,
    lambda context: build_router(databases(context), partial(database_purges, context)),
)
