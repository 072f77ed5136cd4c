"""Wires the names of deleted databases, roles and tags."""

from backend.domains.access.repository.deleted_names import DeletedNameRepository
from backend.domains.access.service.deleted_names import DeletedNames
from backend.entrypoints.wiring.context import Context, once


@once
def deleted_names(context: Context) -> DeletedNames:
    return DeletedNames(DeletedNameRepository(context.tables), context.authorization)
