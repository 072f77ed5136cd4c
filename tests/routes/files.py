"""Routes of files, of facts about them, of uploads and downloads."""

import base64
from typing import Any

from backend.domains.files.models.views import ViewContent
from backend.spec import routes
from backend.spec.inspection_outputs import PNG_MAGIC
from tests.routes import contents
from tests.routes.assets import described
from tests.routes.model import (
    IN_DATABASES,
    OF_ASSETS,
    OF_NEW_ASSETS,
    Case,
    PathField,
    Request,
    Rows,
    Target,
    in_body,
    on_asset,
)
from tests.routes.needs import allow_all, check_copy, check_ingest
from tests.routes.rows import files_of, make_files, under
from tests.routes.rows_on_assets import make_references, make_upload
from tests.unit.domains.access.matrix.seeding import VIEW_ID, upload_of
from tests.unit.domains.access.matrix.world import Question

FILE = {"filePath": "/a.txt"}
_ENTITY = "file:museum:statue:/a.txt"
_COPIED = "file:museum:statue:/parts/c.txt copy_file_metadata"
_DELETED = f"{_ENTITY} delete_file_metadata"
_CONFIRMED = {"confirmPermanentDelete": True}
_TO = {"sourcePath": "/a.txt", "destinationPath": "/parts/c.txt"}
_ENDS = (PathField("sourcePath", {"destinationPath": "/b.txt"}), PathField("destinationPath"))
_FOLDER_TO = {"sourcePath": "/scans/", "destinationPath": "/old/scans/"}
_FOLDER_ENDS = (PathField("sourcePath"), PathField("destinationPath"))
_PATH = (PathField("filePath"),)
_OF_FOLDERS = (*_PATH, PathField("filePath", {"isPrefix": True}, label=" of a folder"))
_KEY = (PathField("relativeKey"),)
_PROXY = (PathField("proxy"),)
_VIEW = {"name": "Front", "filePath": "/a.txt", "view": "c1_2_3_0_0_0"}
_PICTURE = base64.b64encode(PNG_MAGIC).decode()


def _revert(target: Target) -> Question:
    key = f"{target.asset_id}/a.txt"
    versions = target.world.objects.list_versions("assetbucket", key).versions
    version_id = versions[0].version_id if versions else "v000000001"
    return Question({**target.asset, "versionId": version_id}, body=FILE)


def _new_upload(target: Target) -> Any:
    files = [{"relativeKey": "/new.txt", "file_size": 0}]
    return {**target.asset, "uploadType": "assetFile", "files": files}


def _upload_id(target: Target) -> str:
    return upload_of(target.user_id, target.state)


def _on_upload(body: Any = None) -> Request:
    return lambda target: Question({"uploadId": _upload_id(target)}, body=body)


def _complete(target: Target) -> Question:
    sent: dict[str, Any] = {"relativeKey": "/new.txt", "uploadIdS3": "zero-byte", "parts": []}
    body = {**target.asset, "uploadType": "assetFile", "files": [sent]}
    return Question({"uploadId": _upload_id(target)}, body=body)


def _ingested(target: Target) -> Any:
    """The asset with a file in it; an absent one is in an absent database."""
    database_id = target.database_id if target.state == "absent" else target.asset["databaseId"]
    files = [{"relativeKey": f"{target.asset_id}/new.txt", "file_size": 0}]
    named = {"databaseId": database_id, "assetId": target.asset_id}
    return {**described(target), **named, "files": files}


CASES = (
    Case(routes.LIST_FILES, on_asset(query={"includeArchived": "true"}), IN_DATABASES,
         paths=(PathField("prefix"),), rows=Rows(make_files, "key", 3000, files_of,
         more={"basic": "true"}), sees_archived=True),
    Case(routes.GET_FILE, on_asset(query=FILE), IN_DATABASES, paths=_PATH, sees_archived=True),
    Case(routes.CREATE_FOLDER, on_asset({"relativeKey": "/parts/"}), IN_DATABASES,
         audit="file:museum:statue:/parts/", paths=(PathField("relativeKey", ending="/"),)),
    Case(routes.MOVE_FILE, on_asset(_TO), IN_DATABASES, audit=(_ENTITY, _COPIED, _DELETED),
         paths=_ENDS),
    Case(routes.MOVE_FOLDER, on_asset(_FOLDER_TO), IN_DATABASES,
         audit="file:museum:statue:/scans/", paths=_FOLDER_ENDS),
    Case(routes.COPY_FILE, on_asset(_TO), IN_DATABASES, audit=(_ENTITY, _COPIED), paths=_ENDS,
         needs=check_copy),
    Case(routes.ARCHIVE_FILE, on_asset(FILE), IN_DATABASES, audit=_ENTITY, paths=_OF_FOLDERS),
    Case(routes.UNARCHIVE_FILE, on_asset({"filePath": "/old.txt"}), IN_DATABASES,
         audit="file:museum:statue:/old.txt", paths=_PATH),
    Case(routes.UNARCHIVE_FOLDER, on_asset({"folderPath": "/gone/"}), IN_DATABASES,
         audit="file:museum:statue:/gone/", paths=(PathField("folderPath"),)),
    Case(routes.DELETE_FILE, on_asset({**FILE, **_CONFIRMED}), IN_DATABASES, audit=(_ENTITY,
         _DELETED), paths=_OF_FOLDERS),
    Case(routes.REVERT_FILE_VERSION, _revert, IN_DATABASES, audit=_ENTITY, paths=_PATH),
    Case(routes.SET_PRIMARY_FILE, on_asset({**FILE, "primaryType": "primary"}), IN_DATABASES,
         audit=_ENTITY, paths=_PATH),
    Case(routes.DELETE_ASSET_PREVIEW, on_asset(), IN_DATABASES, audit="asset:museum:statue"),
    Case(routes.DELETE_AUXILIARY_FILES, on_asset(FILE), IN_DATABASES, audit=_ENTITY, paths=_PATH),
    Case(routes.LIST_DEPENDENCIES, on_asset(), IN_DATABASES, paths=_PATH, rows=Rows(make_references,
         "filePath", 60, under("items"))),
    Case(routes.LIST_DEPENDENTS, on_asset(query=FILE), IN_DATABASES, paths=_PATH,
         rows=Rows(make_references, "filePath", 250, under("items"),
         more={"filePath": "/used.png"})),
    Case(routes.LIST_SIMILAR_FILES, on_asset(query=FILE), IN_DATABASES, paths=_PATH),
    Case(routes.GET_GLB, on_asset(query={"key": "/a.txt"}), IN_DATABASES,
         paths=(PathField("key"),)),
    Case(routes.INITIALISE_UPLOAD, in_body(_new_upload), IN_DATABASES,
         without_entry="creates only what expires; what becomes of it has an entry", paths=_KEY),
    Case(routes.COMPLETE_UPLOAD, _complete, OF_ASSETS, audit="asset:museum:statue", paths=_KEY),
    Case(routes.LIST_UPLOADS, lambda target: Question({}, shows=f"'{_upload_id(target)}'"),
         OF_ASSETS, rows=Rows(make_upload, "uploadId", 120, under("items")),
         needs=allow_all, content=contents.ASSET),
    Case(routes.RENEW_UPLOAD, _on_upload({"files": [{"relativeKey": "/new.txt"}]}), OF_ASSETS,
         without_entry="extends only the life of what expires", paths=_KEY),
    Case(routes.GET_UPLOAD, _on_upload(), OF_ASSETS),
    Case(routes.ABORT_UPLOAD, _on_upload(), OF_ASSETS,
         audit=lambda target: f"upload:{_upload_id(target)}"),
    Case(routes.INGEST_ASSET, in_body(_ingested), OF_NEW_ASSETS,
         without_entry="its steps make the entries of the routes that they perform", paths=(*_KEY,
         PathField("relativeKey", beginning="statue/", label=" in the asset")), needs=check_ingest),
    Case(routes.DOWNLOAD, on_asset({"downloadType": "assetFile", "key": "/a.txt"}), IN_DATABASES,
         without_entry="reads",
         paths=(PathField("key"), PathField("keys", {"key": None}, is_list=True))),
    Case(routes.STREAM_FILE, on_asset(proxy="a.txt"), IN_DATABASES, paths=_PROXY),
    Case(routes.HEAD_FILE, on_asset(proxy="a.txt"), IN_DATABASES, paths=_PROXY),
    Case(routes.STREAM_AUXILIARY_FILE, on_asset(proxy="a.txt/1.bin"), IN_DATABASES, paths=_PROXY),
    Case(routes.HEAD_AUXILIARY_FILE, on_asset(proxy="a.txt/1.bin"), IN_DATABASES, paths=_PROXY),
    Case(routes.LIST_VIEWS, on_asset(), IN_DATABASES),
    Case(routes.GET_VIEW, on_asset(viewId=VIEW_ID), IN_DATABASES),
    Case(routes.SAVE_VIEW, on_asset({**_VIEW, "picture": _PICTURE},
         viewId=ViewContent.model_validate(_VIEW).content_id), IN_DATABASES,
         audit="asset:museum:statue", paths=_PATH),
    # The view is another user's.
    Case(routes.DELETE_VIEW, on_asset(viewId=VIEW_ID), IN_DATABASES, audit="asset:museum:statue",
         needs=check_copy),
)  # fmt: skip
