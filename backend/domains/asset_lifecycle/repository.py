"""The pages of archived files, and the rows that a deleted asset leaves, by access pattern.

Rows of other slices are only removed here, by their keys.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.core.errors import AlreadyExistsError, StateForbidsError
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Delete,
    Item,
    Update,
    Write,
    equals,
    exists,
    put_new,
)
from backend.domains.asset_lifecycle.errors import JobOvertakenError
from backend.domains.asset_lifecycle.models import ArchivedPage
from backend.domains.asset_lifecycle.rules import Traces, subscription_key
from backend.domains.assets.models import Asset
from backend.spec import keys
from backend.spec.tables.assets import (
    ARCHIVE_PAGE,
    ARCHIVED_FILES,
    ASSET_ID,
    ASSET_UPLOADS,
    ASSETS,
    DATABASE_ID,
    UPLOAD_ID,
    UPLOADS_BY_ASSET,
)
from backend.spec.tables.model import Table
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.registry import SUBSCRIPTIONS

# Rows that one step deletes: ten batch requests of 25, well within a lease.
ROWS = 250
# Each may have a thousand files, whose objects and parts are removed within the same step.
_UPLOADS = 10


class _StoredError(AlreadyExistsError):
    """The page is already stored: the step is a repetition."""


class _NoNumbersError(StateForbidsError):
    """No version of the asset was ever started."""


@dataclass(eq=False, repr=False)
class LifecycleRepository:
    tables: Tables

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out writes of several services, all or nothing."""
        self.tables.transact(writes)

    def archived_assets(self, database_id: str, limit: int) -> list[str]:
        """Return the ids of the first archived assets of a database."""
        query = Query(
            table=ASSETS,
            partition=keys.archived(database_id),
            consistent=True,
            attributes=ASSETS.key_names,
        )
        rows = self.tables.query(query, PageRequest(limit)).items
        return [str(item[ASSET_ID.name]) for item in rows]

    def store_page(self, asset: Asset, page: ArchivedPage) -> tuple[ArchivedPage, bool]:
        """Store the files that the archiving processes next, before it processes them.

        Returns the page that was stored first, and whether that is this one.

        Raises:
            JobOvertakenError: the asset is no longer archived, or was archived by another job.
        """
        row = {**_page_key(asset, page.page), "paths": page.paths}
        still = Check(
            table=ASSETS,
            key={DATABASE_ID.name: asset.partition, ASSET_ID.name: asset.asset_id},
            conditions=(equals("lifecycleJobId", asset.lifecycle_job_id),),
            refused=JobOvertakenError(asset.asset_id),
        )
        noted = put_new(ARCHIVED_FILES, row, _StoredError(f"page {page.page} is noted"))
        try:
            self.tables.transact([still, noted])
        except _StoredError:
            stored = self.tables.get(ARCHIVED_FILES, _page_key(asset, page.page))
            return (page if stored is None else ArchivedPage.model_validate(stored)), False
        return page, True

    def first_page(self, asset: Asset) -> ArchivedPage | None:
        """Return the first page of archived files that are not restored yet."""
        query = Query(
            table=ARCHIVED_FILES,
            partition=keys.ASSET.build(asset.database_id, asset.asset_id),
            consistent=True,
        )
        rows = self.tables.query(query, PageRequest(1)).items
        return ArchivedPage.model_validate(rows[0]) if rows else None

    def delete_page(self, asset: Asset, page: ArchivedPage) -> None:
        self.tables.write(Delete(table=ARCHIVED_FILES, key=_page_key(asset, page.page)))

    def remove_traces(
        self, traces: Traces, after: Position | None, still: Callable[[], None]
    ) -> Page[Item]:
        """Remove a page of rows; return their keys and the position of the next page.

        `still` is called after they are found, and raises if they belong to another asset.
        """
        wanted = Query(
            table=traces.table,
            partition=traces.partition,
            index=traces.index,
            consistent=traces.index is None,
            attributes=traces.table.key_names,
        )
        page = self.tables.query(wanted, PageRequest(ROWS, after))
        if page.items:
            still()
        self._remove(traces.table, page.items)
        return page

    def remove_subscription(self, asset_id: str) -> None:
        self.tables.write(Delete(table=SUBSCRIPTIONS, key=subscription_key(asset_id)))

    def remove_changes(self, asset_id: str) -> None:
        """Remove the reservation for jobs that change the asset's files, which no longer exist."""
        key = {RESERVATIONS.partition_key.name: keys.changes_of_files(asset_id)}
        self.tables.write(Delete(table=RESERVATIONS, key=key))

    def expire_numbers(self, database_id: str, asset_id: str, expires_at: int) -> None:
        """Let the counter of version numbers expire, if the asset has one.

        It outlives the jobs that may still hold one of its numbers.
        """
        with suppress(_NoNumbersError):
            self.tables.write(
                Update(
                    table=RESERVATIONS,
                    key={
                        RESERVATIONS.partition_key.name: keys.version_numbers(database_id, asset_id)
                    },
                    set={"expiresAt": expires_at},
                    conditions=(exists(RESERVATIONS.partition_key.name),),
                    refused=_NoNumbersError(asset_id),
                )
            )

    def uploads_of(self, asset_id: str, after: Position | None) -> Page[str]:
        """Return ids of some uploads to the asset, from the index."""
        query = Query(table=ASSET_UPLOADS, partition=asset_id, index=UPLOADS_BY_ASSET)
        return self.tables.query(query, PageRequest(_UPLOADS, after)).map(
            lambda item: str(item[UPLOAD_ID.name])
        )

    def remove_upload(self, upload_id: str) -> None:
        """Remove all rows of an upload."""
        rows = Query(
            table=ASSET_UPLOADS,
            partition=upload_id,
            consistent=True,
            attributes=ASSET_UPLOADS.key_names,
        )
        self._remove(ASSET_UPLOADS, self.tables.query_all(rows))

    def _remove(self, table: Table, items: Sequence[Mapping[str, Any]]) -> None:
        if items:
            names = table.key_names
            self.tables.delete_many(table, [{name: item[name] for name in names} for item in items])


def _page_key(asset: Asset, page: str) -> dict[str, str]:
    return {
        keys.ASSET.name: keys.ASSET.build(asset.database_id, asset.asset_id),
        ARCHIVE_PAGE.name: page,
    }
