"""Finds or creates the database and the assets that an import writes to."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from vitrine.client import Vitrine
from vitrine.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RevisionConflictError,
    VitrineError,
)
from vitrine.models import Asset
from vitrine.quoting import quote_text
from vitrine.transfer import names


class TargetError(VitrineError):
    """The import has no target; the message is the reason."""


def ensure_database(client: Vitrine, database_id: str, *, origin: str) -> bool:
    """Ensure that the database exists; return True if it was created.

    Raises:
        TargetError: it does not exist and there is no bucket for it.
    """
    try:
        client.databases.get(database_id)
    except NotFoundError:
        bucket = client.buckets.usual()
        if bucket is None:
            raise TargetError("the deployment has no bucket for a new database") from None
    else:
        return False
    try:
        client.databases.create(
            database_id,
            description=_description(origin),
            default_bucket_id=bucket.bucket_id,
        )
    except ConflictError:
        # Another import may have created it meanwhile; if it still does not exist, that is an
        # error.
        client.databases.get(database_id)
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class Target:
    asset: Asset
    created: bool


class AssetTargets:
    """Finds or creates the asset for a folder; the database is listed once, when needed."""

    def __init__(self, client: Vitrine, database_id: str, tags: Sequence[str]) -> None:
        self._client = client
        self._database_id = database_id
        self._tags = tuple(dict.fromkeys(tags))
        self._lock = threading.Lock()
        self._by_name: dict[str, list[str]] | None = None

    def ensure(self, folder: str) -> Target:
        """Return the asset for the folder: by its derived id, else by its name, else a new one.

        Raises:
            TargetError: it is archived, or several assets have its name.
            ApiError: the server rejected the request.
        """
        derived = names.asset_id(self._database_id, folder)
        try:
            asset = self._client.assets.get(self._database_id, derived)
        except NotFoundError:
            named = self._find_named(folder)
            if named is None:
                return self._create(folder, derived)
            asset = self._client.assets.get(self._database_id, named)
        return Target(asset=self._ensure_tags(asset), created=False)

    def _find_named(self, folder: str) -> str | None:
        with self._lock:
            if self._by_name is None:
                self._by_name = {}
                for asset in self._client.assets.list(self._database_id):
                    self._by_name.setdefault(asset.asset_name, []).append(asset.asset_id)
            wanted = dict.fromkeys([names.compose_name(folder), names.object_name(folder)])
            asset_ids = [asset_id for name in wanted for asset_id in self._by_name.get(name, [])]
        if len(asset_ids) > 1:
            raise TargetError(
                f"several assets are named {quote_text(folder)}: {', '.join(sorted(asset_ids))}"
            )
        return asset_ids[0] if asset_ids else None

    def _create(self, folder: str, derived: str) -> Target:
        # Under the folder's own name, or, if that is rejected, under a plain one.
        exact, plain = names.compose_name(folder), names.object_name(folder)
        try:
            try:
                self._post(exact, derived, folder)
            except InvalidInputError as error:
                names_it = any("assetName" in fact.field for fact in error.errors)
                # Any other field is refused under a plain name, too.
                if exact == plain or not (names_it or "assetName" in error.message):
                    raise
                self._post(plain, derived, folder)
        except ConflictError:
            asset = self._client.assets.get(self._database_id, derived, show_archived=True)
            if asset.status == "archived":
                raise TargetError(f"the asset {derived} is archived; unarchive it first") from None
            return Target(asset=self._ensure_tags(asset), created=False)
        return Target(asset=self._client.assets.get(self._database_id, derived), created=True)

    def _post(self, name: str, derived: str, folder: str) -> None:
        self._client.assets.create(
            self._database_id,
            name,
            description=_description(folder),
            tags=self._tags,
            asset_id=derived,
        )

    def _ensure_tags(self, asset: Asset) -> Asset:
        """Add the requested tags; a simultaneous edit of another user is kept."""
        missing = [tag for tag in self._tags if tag not in (asset.tags or ())]
        if not missing:
            return asset
        try:
            self._add_tags(asset, missing)
        except RevisionConflictError:
            # Once: a second conflict within moments is reported.
            self._add_tags(self._client.assets.get(self._database_id, asset.asset_id), missing)
        return self._client.assets.get(self._database_id, asset.asset_id)

    def _add_tags(self, asset: Asset, missing: Sequence[str]) -> None:
        self._client.assets.update(
            self._database_id,
            asset.asset_id,
            tags=list(dict.fromkeys([*(asset.tags or ()), *missing])),
            revision=asset.revision,
        )


def _description(origin: str) -> str:
    """Return a description within the limits of 4 to 256 characters."""
    printable = "".join(mark if mark.isprintable() else "_" for mark in names.shown(origin))
    return f"Imported from {printable}"[:256]
