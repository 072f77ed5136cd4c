"""Wires tags, and the rules that use them."""

from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.tags.repository import TagRepository, TagTypeRepository
from backend.domains.tags.service import TagService
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.deleted_names import deleted_names
from backend.entrypoints.wiring.jobs import jobs


@once
def tags(context: Context) -> TagService:
    return TagService(
        tags=TagRepository(context.tables),
        types=TagTypeRepository(context.tables),
        databases=databases(context),
        rules=PolicyRepository(context.tables),
        names=deleted_names(context),
        authorization=context.authorization,
        audit=context.audit,
        jobs=jobs(context),
        clock=context.clock,
    )
