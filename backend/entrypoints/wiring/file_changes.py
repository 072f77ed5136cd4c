"""Wires changes of files: requests, and steps of their jobs."""

from functools import partial

from backend.domains.files.repository import FileChangeRepository, FileRepository
from backend.domains.files.service.change_runner import ChangeRunner
from backend.domains.files.service.commands import FileCommands
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.folder_moves import FolderMoves
from backend.domains.files.service.jobs import FileChangeSteps
from backend.domains.files.service.lookup import FileLookup
from backend.domains.files.service.removal import FileArchival, FileDeletion
from backend.domains.files.service.restoration import FileRestoration
from backend.domains.files.service.rewrites import FileRewrites
from backend.domains.files.service.transfers import Transfers
from backend.domains.files.service.work import Endings
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.files import asset_pictures, copies, files
from backend.entrypoints.wiring.jobs import jobs, runner
from backend.entrypoints.wiring.metadata import records
from backend.entrypoints.wiring.rebuilds import reindexing
from backend.spec.buckets import AUXILIARY_BUCKET


@once
def changes(context: Context) -> FileCommands:
    repository = FileChangeRepository(context.tables)
    return FileCommands(
        _lookup(context), assets(context), context.objects, repository, _change_runner(context)
    )


@once
def rewrites(context: Context) -> FileRewrites:
    return FileRewrites(
        lookup=_lookup(context),
        files=files(context),
        assets=assets(context),
        objects=context.objects,
        runner=_change_runner(context),
        audit=context.audit,
        auxiliary=partial(context.settings.bucket, AUXILIARY_BUCKET),
        clock=context.clock,
    )


@once
def change_steps(context: Context) -> FileChangeSteps:
    repository, objects = FileChangeRepository(context.tables), context.objects
    rows = FileRepository(context.tables)
    companions = _companions(context)
    endings = Endings(
        repository,
        jobs(context),
        files(context),
        assets(context),
        reindexing(context),
        asset_pictures(context),
    )
    archival, copying = FileArchival(objects, endings, copies(context).origins), copies(context)
    transfers = Transfers(
        files(context), assets(context), copying, companions, objects, rows, archival, endings
    )
    return FileChangeSteps(
        changes=repository,
        assets=assets(context),
        objects=objects,
        copies=copying,
        companions=companions,
        archival=archival,
        transfers=transfers,
        folder_moves=FolderMoves(_lookup(context), objects, transfers, endings),
        deletion=FileDeletion(rows, companions, objects, endings),
        restoration=FileRestoration(
            rows, _lookup(context), objects, copying, endings, copying.origins
        ),
        endings=endings,
    )


@once
def _change_runner(context: Context) -> ChangeRunner:
    return ChangeRunner(
        changes=FileChangeRepository(context.tables),
        jobs=jobs(context),
        job_runner=runner(context),
        audit=context.audit,
        step=change_steps(context).step,
        clock=context.clock,
    )


@once
def _companions(context: Context) -> Companions:
    auxiliary, quarantine = context.settings.bucket(AUXILIARY_BUCKET), files(context).quarantine
    return Companions(context.objects, records(context), quarantine, auxiliary)


def _lookup(context: Context) -> FileLookup:
    return FileLookup(
        files(context),
        assets(context),
        databases(context),
        context.objects,
        _companions(context),
    )
