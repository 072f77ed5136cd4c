"""The pages of archived files, and the rows that a deleted asset leaves, by access pattern.

The rows of other slices are only ever removed here, by their keys; what they mean is not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.core.errors import AlreadyExistsError, ConflictError, StateForbidsError
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Condition,
    Delete,
    Item,
    Update,
    Write,
    equals,
    exists,
    put_new,
)
from backend.core.wired import wired
from backend.domains.asset_lifecycle.models import ArchivedPage
from backend.domains.asset_lifecycle.rules import Traces, other_end, subscription_key
from backend.domains.assets.models import Asset
from backend.spec import keys
from backend.spec.tables.assets import (
    ARCHIVE_PAGE,
    ARCHIVED_FILES,
    ASSET_ID,
    ASSET_LINK_ID,
    ASSET_LINKS,
    ASSET_LINKS_METADATA,
    ASSET_UPLOADS,
    ASSETS,
    DATABASE_ID,
    LINKS_FROM,
    LINKS_TO,
    UPLOAD_ID,
    UPLOADS_BY_ASSET,
)
from backend.spec.tables.model import Index, Table
from backend.spec.tables.registry import SUBSCRIPTIONS

ROWS = 250
"""Rows that are removed in one step."""
_LINKS = 25
_UPLOADS = 10
_ATTEMPTS = 8  # of the removal of a link, while the other asset changes


class JobOvertakenError(StateForbidsError):
    """The asset is no longer in the state that the job works on."""

    code = "JobOvertaken"

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} is gone, or its state was changed again since")


class _NotedError(AlreadyExistsError):
    """The page is noted already: the step is a repetition."""


class _LinkChangedError(ConflictError):
    """The link, or the asset at its other end, is not as it was read."""


@wired
class LifecycleRepository:
    tables: Tables

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out what several services composed, all or nothing."""
        self.tables.transact(writes)

    def note_page(self, asset: Asset, page: ArchivedPage) -> tuple[ArchivedPage, bool]:
        """Note the files that the archiving takes next, before it takes them.

        Answers with the page that was noted first, and whether that is this one.

        Raises:
            JobOvertakenError: the asset is not archived any more, or by another job.
        """
        row = {**_page_key(asset, page.page), "paths": page.paths}
        still = Check(
            table=ASSETS,
            key={DATABASE_ID.name: asset.partition, ASSET_ID.name: asset.asset_id},
            conditions=(equals("lifecycleJobId", asset.lifecycle_job_id),),
            refused=JobOvertakenError(asset.asset_id),
        )
        noted = put_new(ARCHIVED_FILES, row, _NotedError(f"page {page.page} is noted"))
        try:
            self.tables.transact([still, noted])
        except _NotedError:
            found = self.tables.get(ARCHIVED_FILES, _page_key(asset, page.page))
            return (page if found is None else ArchivedPage.model_validate(found)), False
        return page, True

    def first_page(self, asset: Asset) -> ArchivedPage | None:
        """The first page of archived files that have not come back."""
        query = Query(
            table=ARCHIVED_FILES,
            partition=keys.ASSET.build(asset.database_id, asset.asset_id),
            consistent=True,
        )
        found = self.tables.query(query, PageRequest(1)).items
        return ArchivedPage.model_validate(found[0]) if found else None

    def forget_page(self, asset: Asset, page: ArchivedPage) -> None:
        self.tables.write(Delete(table=ARCHIVED_FILES, key=_page_key(asset, page.page)))

    def remove_traces(self, traces: Traces, after: Position | None) -> Page[Item]:
        """Remove a page of rows; answers with their keys and where the next page begins."""
        wanted = Query(
            table=traces.table,
            partition=traces.partition,
            index=traces.index,
            consistent=traces.index is None,
            attributes=traces.table.key_names,
        )
        found = self.tables.query(wanted, PageRequest(ROWS, after))
        self._remove(traces.table, found.items)
        return found

    def remove_subscription(self, asset_id: str) -> None:
        self.tables.write(Delete(table=SUBSCRIPTIONS, key=subscription_key(asset_id)))

    def uploads_of(self, asset_id: str, after: Position | None) -> Page[str]:
        """Ids of some uploads to the asset, as the index knows them."""
        query = Query(table=ASSET_UPLOADS, partition=asset_id, index=UPLOADS_BY_ASSET)
        found = self.tables.query(query, PageRequest(_UPLOADS, after))
        return Page(tuple(str(item[UPLOAD_ID.name]) for item in found.items), found.after)

    def remove_upload(self, upload_id: str) -> None:
        """Remove all rows of an upload."""
        rows = Query(
            table=ASSET_UPLOADS,
            partition=upload_id,
            consistent=True,
            attributes=ASSET_UPLOADS.key_names,
        )
        self._remove(ASSET_UPLOADS, self.tables.query_all(rows))

    def remove_links(
        self, database_id: str, asset_id: str, index: Index, after: Position | None
    ) -> Page[Item]:
        """Remove a page of the asset's links, with their metadata and the other ends' counts."""
        composite = keys.LINK_FROM if index == LINKS_FROM else keys.LINK_TO
        partition = composite.build(database_id, asset_id)
        query = Query(table=ASSET_LINKS, partition=partition, index=index)
        found = self.tables.query(query, PageRequest(_LINKS, after))
        for item in found.items:
            self._remove_link(str(item[ASSET_LINK_ID.name]), database_id, asset_id)
        return found

    def _remove_link(self, link_id: str, database_id: str, asset_id: str) -> None:
        metadata = Query(
            table=ASSET_LINKS_METADATA,
            partition=link_id,
            consistent=True,
            attributes=ASSET_LINKS_METADATA.key_names,
        )
        self._remove(ASSET_LINKS_METADATA, self.tables.query_all(metadata))
        key = {ASSET_LINK_ID.name: link_id}
        changed = _LinkChangedError(f"Link {link_id} changes all the time; resume the job")
        for _ in range(_ATTEMPTS):
            link = self.tables.get(ASSET_LINKS, key)
            if link is None:
                return
            gone = Delete(
                table=ASSET_LINKS,
                key=key,
                conditions=(exists(ASSET_LINK_ID.name),),
                refused=changed,
            )
            counted = self._uncounted(other_end(link, database_id, asset_id), changed)
            try:
                self.tables.transact([gone, *counted])
            except _LinkChangedError:
                continue
            return
        raise changed

    def _uncounted(
        self, other: tuple[str, str, str], changed: _LinkChangedError
    ) -> Iterator[Update]:
        """One link fewer at the other end, if that asset is there and counts it."""
        database_id, asset_id, counter = other
        places = [
            {DATABASE_ID.name: partition, ASSET_ID.name: asset_id}
            for partition in (database_id, keys.archived(database_id))
        ]
        for _, row in self.tables.get_many([(ASSETS, place) for place in places]):
            if row.get(counter, 0) > 0:
                yield Update(
                    table=ASSETS,
                    key={name: row[name] for name in ASSETS.key_names},
                    add={counter: -1, "revision": 1},
                    conditions=(Condition(counter, ">=", 1),),
                    refused=changed,
                )

    def _remove(self, table: Table, items: Sequence[Mapping[str, Any]]) -> None:
        if items:
            names = table.key_names
            self.tables.delete_many(table, [{name: item[name] for name in names} for item in items])


LINK_INDEXES = (LINKS_FROM, LINKS_TO)


def _page_key(asset: Asset, page: str) -> dict[str, str]:
    return {
        keys.ASSET.name: keys.ASSET.build(asset.database_id, asset.asset_id),
        ARCHIVE_PAGE.name: page,
    }
