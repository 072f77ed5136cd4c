"""The routes of versions; those that archive one are in `asset_lifecycle`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from backend.core.clock import iso
from backend.domains.asset_versions.models import (
    HeldFile,
    HeldRecord,
    Operation,
    UpdateVersionBody,
    VersionPath,
    VersionReply,
)
from backend.domains.asset_versions.models.replies import (
    CompareReply,
    FileDifference,
    FileDifferences,
    FileSide,
    GeometryDifference,
    ListedVersion,
    RecordDifference,
    RecordDifferences,
    RecordSide,
    VersionRecord,
    VersionsReply,
    WholeVersionReply,
)
from backend.domains.asset_versions.models.requests import (
    CompareQuery,
    CreateVersionBody,
    RevertBody,
    VersionsQuery,
    WholeVersionQuery,
)
from backend.domains.asset_versions.rules import Difference
from backend.domains.asset_versions.service.queries import VersionQueries, WholeVersion
from backend.domains.asset_versions.service.updates import VersionUpdates
from backend.domains.assets.models import Asset, AssetPath, AssetVersion
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes
from backend.spec.facts import FACT_BY_KEY, GEOMETRY

if TYPE_CHECKING:
    from backend.domains.asset_versions.service.commands import Started, VersionCreation


def build_router(
    creation: "Callable[[], VersionCreation]", queries: VersionQueries, updates: VersionUpdates
) -> Router:
    """Bind the routes of versions to the services; `creation` loads its modules when called."""
    router = Router()
    _bind_writes(router, creation, updates)
    _bind_reads(router, queries)
    return router


def _bind_writes(
    router: Router, creation: "Callable[[], VersionCreation]", updates: VersionUpdates
) -> None:
    @router.bind(routes.CREATE_ASSET_VERSION)
    def create_asset_version(call: Call, path: AssetPath, body: CreateVersionBody) -> VersionReply:
        return _made(creation().create_version(call.caller, path.ref, body), "create")

    @router.bind(routes.REVERT_ASSET_VERSION)
    def revert_asset_version(call: Call, path: VersionPath, body: RevertBody) -> VersionReply:
        started = creation().revert_version(call.caller, path.ref, path.asset_version_id, body)
        return _made(started, "revert")

    @router.bind(routes.UPDATE_ASSET_VERSION)
    def update_asset_version(
        call: Call, path: VersionPath, body: UpdateVersionBody
    ) -> VersionReply:
        version = updates.update_version(call.caller, path.ref, path.asset_version_id, body)
        return VersionReply(
            message=f"Version {version.asset_version_id} was changed",
            asset_id=path.asset_id,
            asset_version_id=version.asset_version_id,
            operation="update",
            timestamp=iso(updates.clock()),
        )


def _bind_reads(router: Router, queries: VersionQueries) -> None:
    @router.bind(routes.LIST_ASSET_VERSIONS)
    def list_asset_versions(call: Call, path: AssetPath, query: VersionsQuery) -> VersionsReply:
        asset, page = queries.list_versions(
            call.caller, path.ref, call.page(query), show_archived=query.show_archived
        )
        return VersionsReply(
            versions=[
                ListedVersion(
                    version=version.asset_version_id,
                    date_modified=version.date_created,
                    comment=version.comment,
                    description=version.description,
                    created_by=version.created_by,
                    is_current=_is_current(asset, version),
                    file_count=version.file_count,
                    version_alias=version.version_alias,
                    is_archived=version.is_archived,
                    asset_id=asset.asset_id,
                    database_id=asset.database_id,
                )
                for version in page.items
            ],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.GET_ASSET_VERSION)
    def get_asset_version(
        call: Call, path: VersionPath, query: WholeVersionQuery
    ) -> WholeVersionReply:
        version_id = path.asset_version_id
        version = queries.get_version(call.caller, path.ref, version_id, call.page(query))
        return _whole(call, version)

    @router.bind(routes.COMPARE_ASSET_VERSIONS)
    def compare_asset_versions(call: Call, path: AssetPath, query: CompareQuery) -> CompareReply:
        ids = (query.before, query.after)
        comparison = queries.compare_versions(call.caller, path.ref, ids, call.page(query))
        files = [difference for difference in comparison.differences if _is_of_files(difference)]
        records = [
            difference for difference in comparison.differences if not _is_of_files(difference)
        ]
        return CompareReply(
            asset_id=path.asset_id,
            database_id=path.database_id,
            before=query.before,
            after=query.after,
            files=_file_differences(files),
            metadata=_record_differences(
                [record for record in records if _kind(record) == "metadata"]
            ),
            attributes=_record_differences(
                [record for record in records if _kind(record) == "attribute"]
            ),
            geometry=[
                row for record in records if (row := _geometry_difference(record)) is not None
            ],
            next_token=call.next_token(comparison.after),
        )


def _made(started: "Started", operation: Operation) -> VersionReply:
    made = started.made
    if made is None:
        job = started.job
        return VersionReply(
            message=(
                f"Job {job.job_id}, which creates the version, is {job.state}"
                if started.number is None
                else f"Job {job.job_id} creates version {started.number}"
            ),
            asset_id=started.asset_id,
            asset_version_id=started.number,
            operation=operation,
            timestamp=started.at,
            job_id=started.job.job_id,
            job_state=started.job.state,
        )
    more = made.skipped_count - len(made.skipped)
    rest = f"; {made.skipped_count} files were skipped" if made.skipped_count else ""
    rest += f", {more} of them not listed here" if more else ""
    return VersionReply(
        message=f"Version {made.asset_version_id} was created{rest}",
        asset_id=started.asset_id,
        asset_version_id=made.asset_version_id,
        operation=operation,
        timestamp=started.at,
        skipped_files=made.skipped,
    )


def _is_current(asset: Asset, version: AssetVersion) -> bool:
    return version.asset_version_id == asset.current_version.version


def _whole(call: Call, whole: WholeVersion) -> WholeVersionReply:
    version = whole.version
    return WholeVersionReply(
        asset_id=whole.asset.asset_id,
        asset_version_id=version.asset_version_id,
        database_id=whole.asset.database_id,
        date_created=version.date_created,
        comment=version.comment,
        description=version.description,
        created_by=version.created_by,
        version_alias=version.version_alias,
        is_archived=version.is_archived,
        is_current=_is_current(whole.asset, version),
        file_count=version.file_count,
        files=list(whole.files),
        versioned_metadata=[_record(record) for record in whole.records],
        next_token=call.next_token(whole.after),
    )


def _record(record: HeldRecord) -> VersionRecord:
    return VersionRecord(
        type=record.kind,
        file_path=record.path,
        metadata_key=record.key,
        metadata_value=record.value,
        metadata_value_type=record.value_type,
    )


def _is_of_files(difference: Difference) -> bool:
    return isinstance(difference.before or difference.after, HeldFile)


def _kind(difference: Difference) -> str:
    record = difference.before or difference.after
    return record.kind if isinstance(record, HeldRecord) else ""


def _file_differences(differences: list[Difference]) -> FileDifferences:
    def shown(difference: Difference) -> FileDifference:
        file = difference.before or difference.after
        path = "" if file is None else file.path
        before, after = _file_side(difference.before), _file_side(difference.after)
        return FileDifference(relative_key=path, before=before, after=after)

    return FileDifferences(
        added=[shown(difference) for difference in differences if difference.before is None],
        removed=[shown(difference) for difference in differences if difference.after is None],
        changed=[shown(difference) for difference in differences if None not in difference],
    )


def _record_differences(differences: list[Difference]) -> RecordDifferences:
    def shown(difference: Difference) -> RecordDifference:
        record = difference.before or difference.after
        path, key = ("", "") if not isinstance(record, HeldRecord) else (record.path, record.key)
        before, after = _record_side(difference.before), _record_side(difference.after)
        return RecordDifference(file_path=path, metadata_key=key, before=before, after=after)

    return RecordDifferences(
        added=[shown(difference) for difference in differences if difference.before is None],
        removed=[shown(difference) for difference in differences if difference.after is None],
        changed=[shown(difference) for difference in differences if None not in difference],
    )


def _file_side(side: HeldFile | HeldRecord | None) -> FileSide | None:
    if not isinstance(side, HeldFile):
        return None
    return FileSide(version_id=side.version_id, size=side.size, etag=side.etag)


def _record_side(side: HeldFile | HeldRecord | None) -> RecordSide | None:
    if not isinstance(side, HeldRecord):
        return None
    return RecordSide(metadata_value=side.value, metadata_value_type=side.value_type)


def _geometry_difference(difference: Difference) -> GeometryDifference | None:
    """Return a difference as one of geometry; None if it is none."""
    record = difference.before or difference.after
    if not isinstance(record, HeldRecord) or record.kind != "attribute":
        return None
    fact = FACT_BY_KEY.get(record.key)
    if fact is None or fact.name not in GEOMETRY:
        return None
    before, after = (
        fact.typed(side.value) if isinstance(side, HeldRecord) else None for side in difference
    )
    return GeometryDifference(file_path=record.path, fact=fact.name, before=before, after=after)
