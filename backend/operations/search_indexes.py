"""Search indexes for administrators: consistency, check, repair, reindex."""

from dataclasses import dataclass
from typing import Any

from backend.core.authorization import Authorization, Secured, require
from backend.core.identity import Identity
from backend.core.references import AssetRef, FileKeyRef
from backend.core.search_engine import SearchEngine
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.service import DatabaseService
from backend.domains.jobs.models import Job
from backend.operations.search_models import (
    ConsistencyReply,
    DocumentName,
    IndexReply,
    RepairBody,
    RunningWork,
)
from backend.search.indexing.indexes import differences
from backend.search.indexing.references import Reference, at_path, to_entries
from backend.search.indexing.state import Pointer, SearchState
from backend.search.maintenance.work import Reports, SearchWork
from backend.search.query.service import SearchNotDeployedError
from backend.spec.jobs import CHECK_SEARCH, REINDEX_SEARCH, REPAIR_SEARCH, JobKind
from backend.spec.routes import Action
from backend.spec.search_indexes import SEARCH_INDEXES, SearchIndex

_INDEXES = Secured("searchIndex")
_REINDEX = "POST /admin/search/reindex: a mapping differs from the declared one"
_REPAIR = "POST /admin/search/repair: documents differ from their sources"


@dataclass(eq=False, repr=False)
class SearchIndexService:
    """Starts and reports jobs on the search indexes.

    `engine` is None if search is not deployed.
    """

    engine: SearchEngine | None
    state: SearchState
    work: SearchWork
    reports: Reports
    assets: AssetService
    databases: DatabaseService
    authorization: Authorization

    def get_consistency(self, caller: Identity) -> ConsistencyReply:
        """Return the last report, the running jobs, and the differences of the mappings.

        Raises:
            PermissionDeniedError: the caller may not administer the indexes.
            SearchNotDeployedError: search is not deployed.
            UnavailableError: OpenSearch does not respond, or the indexes are not set up.
        """
        engine = self._engine(caller, "GET")
        pointer, report = self.state.pointer(), self.reports.last()
        indexes = [_index(engine, index, pointer) for index in SEARCH_INDEXES]
        jobs = [self.work.last(kind) for kind in (CHECK_SEARCH, REPAIR_SEARCH, REINDEX_SEARCH)]
        work = [
            RunningWork(
                job_id=job.job_id,
                kind=job.kind,
                state=job.state,
                items_done=job.items_done,
                phase=job.cursor.get("phase"),
            )
            for job in jobs
            if job is not None and (not job.is_finished or job.state == "failed")
        ]
        corrections = [_REINDEX] if any(index.differences for index in indexes) else []
        if report is not None and report.drift > report.repaired:
            corrections.append(_REPAIR)
        return ConsistencyReply(report=report, work=work, indexes=indexes, corrections=corrections)

    def check_consistency(self, caller: Identity) -> tuple[Job, bool]:
        """Start a check of all documents, unless one is running; return whether it was started.

        Raises:
            PermissionDeniedError: the caller may not administer the indexes.
            SearchNotDeployedError: search is not deployed.
        """
        return self._start(caller, CHECK_SEARCH, {})

    def repair(self, caller: Identity, body: RepairBody) -> tuple[Job, bool]:
        """Start a repair, unless one is running.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            DatabaseNotFoundError: the database does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may not administer the indexes.
            SearchNotDeployedError: search is not deployed.
        """
        self._engine(caller, "POST")
        parameters: dict[str, Any] = {}
        if body.documents is not None:
            # Not required to exist: a document that outlived its asset is removed by its name.
            parameters["references"] = to_entries({_reference(name) for name in body.documents})
        elif body.database_id is not None:
            parameters["databaseId"] = body.database_id
            if body.asset_id is None:
                self.databases.check_known(caller, body.database_id)
            else:
                named = (body.database_id, body.asset_id)
                self.assets.get_asset(caller, *named, show_archived=True)
                parameters["assetId"] = body.asset_id
        return self.work.start(caller, REPAIR_SEARCH, parameters)

    def reindex(self, caller: Identity) -> tuple[Job, bool]:
        """Start a reindex, unless one is running.

        Raises:
            PermissionDeniedError: the caller may not administer the indexes.
            ReindexUnfinishedError: a reindex has failed and is incomplete.
        """
        return self._start(caller, REINDEX_SEARCH, {})

    def _start(
        self, caller: Identity, kind: JobKind, parameters: dict[str, Any]
    ) -> tuple[Job, bool]:
        self._engine(caller, "POST")
        return self.work.start(caller, kind, parameters)

    def _engine(self, caller: Identity, action: Action) -> SearchEngine:
        require(self.authorization, caller, action, _INDEXES)
        if self.engine is None:
            raise SearchNotDeployedError
        return self.engine


def _index(engine: SearchEngine, index: SearchIndex, pointer: Pointer) -> IndexReply:
    reads = pointer.current(index)
    return IndexReply(
        alias=index.alias,
        reads=reads,
        writes=list(pointer.targets(index)),
        differences=differences(engine, reads, index),
    )


def _reference(name: DocumentName) -> Reference:
    if name.key is not None:
        return FileKeyRef(name.database_id, name.asset_id, name.key)
    if name.path is not None:
        return at_path(name.database_id, name.asset_id, name.path)
    return AssetRef(name.database_id, name.asset_id)
