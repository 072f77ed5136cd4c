"""Wires exports."""

from functools import partial

from backend.domains.exports.service import ExportService
from backend.entrypoints.wiring.asset_links import link_reader
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.files import files
from backend.entrypoints.wiring.metadata import records
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.settings import NAME_HIDDEN_ASSETS


def exports(context: Context) -> ExportService:
    return ExportService(
        assets=assets(context),
        files=files(context),
        records=records(context),
        links=link_reader(context),
        objects=context.objects,
        auxiliary=partial(context.settings.bucket, AUXILIARY_BUCKET),
        clock=context.clock,
        url_seconds=context.url_seconds,
        names_hidden=context.settings.number(NAME_HIDDEN_ASSETS) == 1,
    )
