"""The table of uploads, by access pattern, and the counters of rate.

An upload of many files with long paths may exceed an item. Its row then contains the first files,
and further rows of the same partition the others; those have the sort key `<asset id>#<number>` and
are in no index.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.paging import Page, PageRequest, Position
from backend.core.parallel import in_parallel
from backend.core.rates import count_in_minute
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Condition,
    Delete,
    Item,
    Update,
    Write,
    equals,
    exists,
    put_new,
)
from backend.domains.uploads.errors import UploadBusyError, UploadNotFoundError
from backend.domains.uploads.models import LargeFileJob, Settled, Upload, UploadFile, UploadStatus
from backend.spec.tables.assets import (
    ASSET_ID,
    ASSET_UPLOADS,
    CREATED_AT,
    UPLOAD_ID,
    UPLOAD_USER_ID,
    UPLOADS_BY_USER,
)

# Size of the files in one row. The rest of its 400 KB is for the results of a thousand files.
_FILES_BYTES = 100_000
# Names of attributes and numbers of a file, besides its path and upload id.
_FILE_OVERHEAD = 100
_BY_FILE = ("results", "handed")
"""Attributes of a row with data by file number."""
# Length of an error in the row. A row may have a thousand of them.
MAX_RESULT_CHARS = 200


@dataclass(eq=False, repr=False)
class UploadRepository:
    tables: Tables

    def get(self, upload_id: str) -> Upload | None:
        """Return the upload with all its files.

        None also if its time to live has removed some rows.
        """
        query = Query(table=ASSET_UPLOADS, partition=upload_id, consistent=True)
        rows = self.tables.query_all(query)
        if not rows or "#" in rows[0][ASSET_ID.name]:
            return None
        files = [UploadFile.model_validate(file) for row in rows for file in row["files"]]
        named = (int(number) for name in _BY_FILE for number in rows[0].get(name, {}))
        if max(named, default=-1) >= len(files):
            return None
        return _upload(rows[0], files)

    def newest_of(self, user_id: str, asset_id: str, *, among: int) -> list[str]:
        """Return ids of a user's uploads to assets of this id, as far as they are among the newest.

        The index lags behind the table, usually by less than a second.
        """
        query = Query(
            table=ASSET_UPLOADS, partition=user_id, index=UPLOADS_BY_USER, newest_first=True
        )
        rows = self.tables.query(query, PageRequest(among)).items
        return [str(row[UPLOAD_ID.name]) for row in rows if row[ASSET_ID.name] == asset_id]

    def list_of_user(self, user_id: str, page: PageRequest) -> Page[Upload]:
        """List a user's uploads, newest first, from an eventually consistent index."""
        query = Query(
            table=ASSET_UPLOADS, partition=user_id, index=UPLOADS_BY_USER, newest_first=True
        )
        rows = self.tables.query(query, page)
        read = in_parallel(self.get, [str(row[UPLOAD_ID.name]) for row in rows.items])
        return Page(tuple(upload for upload in read if upload is not None), rows.after)

    def position_of(self, upload: Upload) -> Position:
        """Return the position of a page after an upload of a user's list."""
        return {
            **_key(upload),
            UPLOAD_USER_ID.name: upload.user_id,
            CREATED_AT.name: upload.created_at,
        }

    def put_new(self, upload: Upload) -> None:
        """Write an upload."""
        first, *more = list(_split(upload.files)) or [[]]
        further = [
            {**_key(upload, number), "files": _dump_files(part), "expiresAt": upload.expires_at}
            for number, part in enumerate(more, start=1)
        ]
        if further:
            self.tables.put_many(ASSET_UPLOADS, further)
        row = upload.model_dump(by_alias=True, exclude={"files"}) | {"files": _dump_files(first)}
        refused = UploadBusyError(upload.upload_id)
        # Written last, so that an upload is complete or missing.
        self.tables.write(put_new(ASSET_UPLOADS, row, refused))

    def lease(self, upload: Upload, *, now: int, until: int) -> Upload:
        """Lease the upload for one request, until a time (milliseconds since 1970).

        Raises:
            UploadBusyError: another request has the lease.
            UploadNotFoundError: it does not exist.
        """
        try:
            item = self.tables.write(
                Update(
                    table=ASSET_UPLOADS,
                    key=_key(upload),
                    set={"leaseUntil": until},
                    add={"attempts": 1},
                    conditions=(exists(UPLOAD_ID.name), Condition("leaseUntil", "<=", now)),
                    refused=UploadBusyError(upload.upload_id),
                )
            )
        except UploadBusyError:
            if self.get(upload.upload_id) is None:
                raise UploadNotFoundError(upload.upload_id) from None
            raise
        return _upload(item or {}, upload.files)

    def release(
        self,
        upload: Upload,
        *,
        results: Mapping[str, Settled],
        handed: Mapping[str, LargeFileJob],
        status: UploadStatus,
        expires_at: int | None = None,
        also: Sequence[Write] = (),
    ) -> None:
        """Release a leased upload, with results of its files, and the writes that follow.

        With `expires_at`, all its rows are kept until then.

        Raises:
            UploadBusyError: the lease ended, and another request has it.
            UploadNotFoundError: a row that should be kept longer does not exist.
        """
        longer = {} if expires_at is None else {"expiresAt": expires_at}
        numbers = {file.path: str(number) for number, file in enumerate(upload.files)}
        update = Update(
            table=ASSET_UPLOADS,
            key=_key(upload),
            set={
                "leaseUntil": 0,
                "status": status,
                "results": {numbers[path]: _bare(result) for path, result in results.items()},
                "handed": {numbers[path]: _bare(job) for path, job in handed.items()},
                **longer,
            },
            conditions=(equals("leaseUntil", upload.lease_until),),
            refused=UploadBusyError(upload.upload_id),
        )
        further = [self._kept(upload, number, longer) for number in _further(upload) if longer]
        if also or further:
            self.tables.transact([update, *further, *also])
        else:
            self.tables.write(update)

    def delete(self, upload: Upload, *, also: Sequence[Write] = ()) -> None:
        """Remove a leased upload, its own row first: without it, the others are not visible."""
        row = Delete(table=ASSET_UPLOADS, key=_key(upload))
        if also:
            self.tables.transact([row, *also])
        else:
            self.tables.write(row)
        keys = [_key(upload, number) for number in _further(upload)]
        if keys:
            self.tables.delete_many(ASSET_UPLOADS, keys)

    def _kept(self, upload: Upload, number: int, longer: Mapping[str, int]) -> Update:
        """Return the write that keeps a further row longer."""
        return Update(
            table=ASSET_UPLOADS,
            key=_key(upload, number),
            set=longer,
            conditions=(exists(UPLOAD_ID.name),),
            refused=UploadNotFoundError(upload.upload_id),
        )

    def count_initialisation(self, user_id: str, *, minute: int) -> int:
        """Count one for the user in this minute (of all since 1970); return the count."""
        return count_in_minute(self.tables, "Rate", user_id, 1, minute=minute)


def _key(upload: Upload, number: int = 0) -> dict[str, str]:
    sort = f"{upload.asset_id}#{number:04}" if number else upload.asset_id
    return {UPLOAD_ID.name: upload.upload_id, ASSET_ID.name: sort}


def _further(upload: Upload) -> range:
    """Return the numbers of the rows besides the upload's own."""
    return range(1, len(list(_split(upload.files))))


def _upload(row: Mapping[str, Any], files: Sequence[UploadFile]) -> Upload:
    """Return the upload of a row; its results use the numbers of files, which are shorter."""
    by_path = {
        name: {files[int(number)].path: stored for number, stored in row.get(name, {}).items()}
        for name in _BY_FILE
    }
    return Upload.model_validate({**row, **by_path, "files": files})


def _bare(state: Settled | LargeFileJob) -> Item:
    """Remove default values: a completed file then takes two bytes."""
    dumped: Item = state.model_dump(by_alias=True, exclude_defaults=True, exclude={"stalled"})
    return dumped


def _split(files: Sequence[UploadFile]) -> Iterator[list[UploadFile]]:
    """Split the files into groups that fit one row each."""
    group: list[UploadFile] = []
    size = 0
    for file in files:
        weight = len(file.path.encode()) + len(file.upload_id_s3) + _FILE_OVERHEAD
        if group and size + weight > _FILES_BYTES:
            yield group
            group, size = [], 0
        group.append(file)
        size += weight
    if group:
        yield group


def _dump_files(files: Sequence[UploadFile]) -> list[Item]:
    dumped: list[dict[str, Any]] = [
        file.model_dump(by_alias=True, exclude_none=True) for file in files
    ]
    return dumped
