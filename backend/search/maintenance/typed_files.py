"""Corrects the rows of assets that do not name all files with a primary type.

Only objects contain primary types; a row names the files that may have one, so that lists request
no others. Changes note a file before they write its type, but another program may write an object
with a type.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from backend.core.errors import NotFoundError, RevisionConflictError
from backend.core.objects import ObjectHead, Objects
from backend.core.parallel import in_parallel
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.search.indexing.projections import FileSource, is_archived
from backend.spec.buckets import PRIMARY_TYPE_METADATA

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class TypedFiles:
    assets: AssetService
    objects: Objects

    def correct(self, files: Iterable[FileSource], since: datetime | None = None) -> int:
        """Note files with a primary type that the rows of their assets lack; return their number.

        Only files whose latest version was written after `since` are requested, one HEAD each.
        Rows that name no files remain: their types are not known, or too many.

        Raises:
            UnavailableError: a table or a bucket does not respond.
        """
        wanted = [
            file
            for file in files
            if isinstance(named := file.asset.get("typedFiles"), list)
            and not (file.version.is_delete_marker or is_archived(file.asset))
            and (since is None or file.version.last_modified >= since)
            and _path(file) not in named
        ]
        heads = in_parallel(
            lambda file: self.objects.head(file.bucket.bucket_name, file.version.key), wanted
        )
        return sum(
            self._record(file)
            for file, head in zip(wanted, heads, strict=True)
            if isinstance(head, ObjectHead) and head.metadata.get(PRIMARY_TYPE_METADATA)
        )

    def _record(self, file: FileSource) -> bool:
        asset, path = Asset.model_validate(file.asset), _path(file)
        try:
            self.assets.record_typed_file(asset, path)
        except (NotFoundError, RevisionConflictError) as error:  # the next check notes it
            _log.warning(
                "the type of %s of asset %s is not recorded: %s",
                path,
                asset.asset_id,
                error.message,
            )
            return False
        _log.warning("asset %s did not record the primary type of %s", asset.asset_id, path)
        return True


def _path(file: FileSource) -> str:
    return "/" + file.version.key.removeprefix(str(file.asset["assetLocation"]["Key"]))
