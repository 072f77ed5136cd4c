"""Wires saved views."""

from functools import partial

from backend.domains.files.service.views import SavedViews, ViewQueries
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.audit import audit_notes
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.files import files
from backend.spec.buckets import AUXILIARY_BUCKET


def view_queries(context: Context) -> ViewQueries:
    auxiliary = partial(context.settings.bucket, AUXILIARY_BUCKET)
    return ViewQueries(assets(context), context.objects, auxiliary)


def saved_views(context: Context) -> SavedViews:
    return SavedViews(
        assets=assets(context),
        objects=context.objects,
        auxiliary=partial(context.settings.bucket, AUXILIARY_BUCKET),
        files=files(context),
        notes=audit_notes(context),
        clock=context.clock,
    )
