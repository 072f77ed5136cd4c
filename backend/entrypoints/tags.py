"""Wires tags, and the rules that use them."""

from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.tags.repository import TagRepository, TagTypeRepository
from backend.domains.tags.service import TagService
from backend.entrypoints.wiring import Wiring


def tag_service(wiring: Wiring) -> TagService:
    return TagService(
        tags=TagRepository(wiring.tables),
        types=TagTypeRepository(wiring.tables),
        rules=PolicyRepository(wiring.tables),
        names=wiring.deleted_names,
        authorization=wiring.authorization,
        audit=wiring.audit,
        jobs=wiring.jobs,
        clock=wiring.clock,
    )
