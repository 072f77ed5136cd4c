"""Saved views of models: a camera, a section and hidden parts, for links that are too long."""

import base64
from collections.abc import Callable
from dataclasses import dataclass

from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError, NotFoundError
from backend.core.file_kinds import serving_of
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.domains.assets.errors import NotDistributableError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.queries import AssetQueries
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditNotes
from backend.domains.files.errors import TooManyViewsError, ViewNotFoundError
from backend.domains.files.models.views import SavedView, SaveViewBody, ViewItem, ViewReply
from backend.domains.files.service.queries import FileQueries
from backend.spec import routes
from backend.spec.key_layouts import views_folder

# Of one asset. A list reads each of them.
MAX_VIEWS = 200
_VIEW, _PICTURE = ".json", ".png"


@dataclass(eq=False, repr=False)
class ViewQueries:
    """Reads saved views; `auxiliary` is the bucket that they are stored in."""

    assets: AssetQueries
    objects: Objects
    auxiliary: Callable[[], str]

    def list_views(self, caller: Identity, ref: AssetRef, *, url_seconds: int) -> list[ViewItem]:
        """Return the views of an asset, newest first, with URLs of their pictures.

        S3 requests: one list, and one GET a view.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            NotDistributableError: the asset is not distributable.
        """
        asset = self._shown_asset(caller, ref)
        bucket, folder = self.auxiliary(), views_folder(asset.asset_id)
        items: list[ViewItem] = []
        ids = self._ids(asset)
        views = in_parallel(lambda view_id: self._find(asset, view_id), ids)
        for view_id, view in zip(ids, views, strict=True):
            if view is None:  # deleted since it was listed
                continue
            key = f"{folder}{view_id}{_PICTURE}"
            url = self.objects.presign_get(
                bucket, key, version_id=None, serving=serving_of(key), expires=url_seconds
            )
            facts = view.model_dump(exclude={"view"})
            items.append(ViewItem(**facts, view_id=view_id, picture_url=url))
        return sorted(items, key=lambda item: (item.date_created, item.view_id), reverse=True)

    def get_view(self, caller: Identity, ref: AssetRef, view_id: str) -> ViewReply:
        """Return a saved view.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            NotDistributableError: the asset is not distributable.
            ViewNotFoundError: the asset has no such view.
        """
        view = self._view(self._shown_asset(caller, ref), view_id)
        return ViewReply(**view.model_dump(), view_id=view_id)

    def _shown_asset(self, caller: Identity, ref: AssetRef) -> Asset:
        """Return an asset whose models may be shown: a picture is as much of one as a preview."""
        asset = self.assets.asset_for(caller, "GET", *ref.ids)
        if not asset.is_distributable:
            raise NotDistributableError
        return asset

    def _ids(self, asset: Asset) -> list[str]:
        folder = views_folder(asset.asset_id)
        objects = self.objects.list_objects(self.auxiliary(), folder).objects
        names = (item.key.removeprefix(folder) for item in objects)
        return [name.removesuffix(_VIEW) for name in names if name.endswith(_VIEW)]

    def _view(self, asset: Asset, view_id: str) -> SavedView:
        view = self._find(asset, view_id)
        if view is None:
            raise ViewNotFoundError(asset.asset_id, view_id)
        return view

    def _find(self, asset: Asset, view_id: str) -> SavedView | None:
        key = views_folder(asset.asset_id) + view_id + _VIEW
        try:
            stored = b"".join(self.objects.read_chunks(self.auxiliary(), key))
        except NotFoundError:
            return None
        return SavedView.model_validate_json(stored)


@dataclass(eq=False, repr=False)
class SavedViews(ViewQueries):
    """Saves and deletes views."""

    files: FileQueries
    notes: AuditNotes
    clock: Clock

    def save_view(self, caller: Identity, ref: AssetRef, view_id: str, body: SaveViewBody) -> None:
        """Save a view under the id of its content. One that is already saved is unchanged.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionNotFoundError: it has no such version.
            FileNotFoundInAssetError: the version does not contain the file.
            FileQuarantinedError: a malware scan found a threat in the file.
            InvalidInputError: the id is not that of the content, or the file does not exist.
            NotDistributableError: the asset is not distributable.
            TooManyViewsError: the asset has as many views as it may have.
        """
        asset = self._shown_asset(caller, ref)
        if view_id != body.content_id:
            # Whoever chooses the id could otherwise replace what a link of someone else shows.
            fact = (
                f"must be {body.content_id}, the first 32 digits of the SHA-256 of name, filePath, "
                "assetVersionId, versionId and view, one a line"
            )
            raise InvalidInputError.of("viewId", fact)
        target = self.files.target(asset, body.file_path, field="filePath")
        version = self.assets.wanted_version(asset, body.asset_version_id, None)
        version_id = body.version_id
        if version is not None:
            version_id = self.files.version_id_in(target, version)
        head = self.objects.head(target.bucket, target.key, version_id=version_id)
        if not isinstance(head, ObjectHead):
            fact = f"asset {asset.asset_id} has no file {target.path}, or it is archived"
            raise InvalidInputError.of("filePath", fact)
        self.files.check_clean(target.bucket, target.key, head.version.version_id)
        ids = self._ids(asset)
        if view_id in ids:
            return
        # Requests at the same time may exceed the limit by a few, which does no harm.
        if len(ids) >= MAX_VIEWS:
            raise TooManyViewsError(asset.asset_id, MAX_VIEWS)
        view = SavedView(
            **body.model_dump(exclude={"picture"}),
            created_by=caller.user_id,
            date_created=iso(self.clock()),
        )
        self._record(caller, routes.SAVE_VIEW.name, asset, view_id, view)
        place = views_folder(asset.asset_id) + view_id
        stored = view.model_dump_json(by_alias=True, exclude_none=True).encode()
        # The picture first: a list finds views by their JSON.
        for ending, content, kind in (
            (_PICTURE, base64.b64decode(body.picture), "image/png"),
            (_VIEW, stored, "application/json"),
        ):
            self.objects.put(
                self.auxiliary(), place + ending, content, content_type=kind, metadata={}
            )

    def delete_view(self, caller: Identity, ref: AssetRef, view_id: str) -> None:
        """Delete a view of the caller, or any view for callers who may change the asset's files.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            PermissionDeniedError: another user saved it, and the caller may not change the asset.
            ViewNotFoundError: the asset has no such view.
        """
        asset = self.assets.asset_for(caller, "GET", *ref.ids)
        view = self._view(asset, view_id)
        if view.created_by != caller.user_id:
            self.assets.asset_for(caller, "POST", *ref.ids)
        self._record(caller, routes.DELETE_VIEW.name, asset, view_id, view)
        place = views_folder(asset.asset_id) + view_id
        # In this order, so that a request that dies leaves a picture that no list has.
        for ending in (_VIEW, _PICTURE):
            self.objects.delete(self.auxiliary(), place + ending)

    def _record(
        self, caller: Identity, operation: str, asset: Asset, view_id: str, view: SavedView
    ) -> None:
        entity = audit_entity("asset", asset.database_id, asset.asset_id)
        request = {"viewId": view_id, "name": view.name, "filePath": view.file_path}
        self.notes.record(caller, operation, entity, request=request)
