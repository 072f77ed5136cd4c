"""Wires the storage of executions' outputs, for the users who started them."""

from typing import Any

from aws_lambda_powertools import Logger

from backend.core.deliveries import Event
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.service.records import ExecutionRecords
from backend.domains.facts.service.commands import FactCommands
from backend.domains.outputs.repository import ProgressRepository
from backend.domains.outputs.service.commands import OutputCommands, Stored
from backend.domains.outputs.service.inspections import Inspections
from backend.domains.outputs.service.previews import GeneratedPreviews
from backend.domains.uploads.service.deposits import Deposits
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.files import asset_pictures, files, origin_records, part_copies
from backend.entrypoints.wiring.metadata import metadata, records
from backend.spec.buckets import AUXILIARY_BUCKET

_logger = Logger()


def outputs(context: Context) -> Run:
    """Return the function, which uses only the execution's id of its input.

    The owner and the permissions are read from the execution's row.
    """
    commands = _commands(context)

    def store(event: Event) -> dict[str, Any]:
        stored: Stored = commands.store_outputs(str(event["body"]["executionId"]))
        if stored.state == "refused":
            _logger.info("outputs were refused", extra={"execution": event["body"]["executionId"]})
        return {"state": stored.state, "error": stored.error, "cause": stored.cause}

    return store


def _commands(context: Context) -> OutputCommands:
    auxiliary, objects = context.settings.bucket(AUXILIARY_BUCKET), context.objects
    return OutputCommands(
        executions=ExecutionRecords(ExecutionRepository(context.tables)),
        progress=ProgressRepository(context.tables, context.clock),
        assets=assets(context),
        files=files(context),
        deposits=Deposits(
            assets(context),
            databases(context),
            objects,
            part_copies(context),
            origin_records(context),
        ),
        metadata=metadata(context),
        inspections=Inspections(
            assets=assets(context),
            files=files(context),
            facts=FactCommands(assets(context), records(context), objects),
            previews=GeneratedPreviews(assets(context), objects, asset_pictures(context)),
            objects=objects,
            auxiliary=auxiliary,
        ),
        objects=objects,
        authorization=context.authorization,
        audit=context.audit,
        auxiliary=auxiliary,
        clock=context.clock,
    )
