"""Wires assets."""

from typing import TYPE_CHECKING

from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.commands import AssetService
from backend.entrypoints.wiring.buckets import buckets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases
from backend.spec.tables.registry import TAGS

if TYPE_CHECKING:
    from backend.domains.tags.service import TagService


@once
def assets(context: Context) -> AssetService:
    return AssetService(
        assets=AssetRepository(context.tables),
        databases=databases(context),
        buckets=buckets(context),
        tags=context.over(TAGS, _tags),
        objects=context.objects,
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
    )


def _tags(context: Context) -> "TagService":
    from backend.entrypoints.wiring.tags import tags  # noqa: PLC0415 - few functions use tags

    return tags(context)
