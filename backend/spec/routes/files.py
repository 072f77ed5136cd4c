"""Routes of files and their content: changes, uploads, ingest, downloads."""

from backend.spec.routes.model import ASSET_PATH, ETAG, Route, SyncTarget

_FILE = (SyncTarget(file="body.filePath"),)

LIST_FILES = Route(
    "GET", f"{ASSET_PATH}/listFiles", "files", "list_files", "List the files of an asset", "asset"
)
GET_FILE = Route(
    "GET", f"{ASSET_PATH}/fileInfo", "files", "get_file", "Get the details of a file", "asset"
)
CREATE_FOLDER = Route(
    "POST", f"{ASSET_PATH}/createFolder", "files", "create_folder", "Create a folder", "asset"
)
MOVE_FILE = Route(
    "POST", f"{ASSET_PATH}/moveFile", "files", "move_file",
    "Move a file within its asset, with its metadata", "asset",
    writes_documents=(
        SyncTarget(file="body.sourcePath", records=True),
        SyncTarget(file="body.destinationPath", records=True),
    ),
)  # fmt: skip
MOVE_FOLDER = Route(
    "POST", f"{ASSET_PATH}/moveFolder", "files", "move_folder",
    "Move or rename a folder within its asset, with all files and their metadata", "asset",
    ours=True,
)  # fmt: skip
COPY_FILE = Route(
    "POST", f"{ASSET_PATH}/copyFile", "files", "copy_file",
    "Copy a file with its metadata, also to another asset or database", "asset",
    tier2="GET",
    writes_documents=(
        SyncTarget(
            "body.destinationDatabaseId|path.databaseId", "body.destinationAssetId|path.assetId",
            file="body.destinationPath", records=True,
        ),
    ),
)  # fmt: skip
ARCHIVE_FILE = Route(
    "DELETE", f"{ASSET_PATH}/archiveFile", "files", "archive_file",
    "Archive a file or a folder of files", "asset", tier2="POST",
    writes_documents=_FILE,
)  # fmt: skip
UNARCHIVE_FILE = Route(
    "POST", f"{ASSET_PATH}/unarchiveFile", "files", "unarchive_file",
    "Restore an archived file", "asset",
    writes_documents=_FILE,
)  # fmt: skip
UNARCHIVE_FOLDER = Route(
    "POST", f"{ASSET_PATH}/unarchiveFolder", "files", "unarchive_folder",
    "Restore the archived files of a folder", "asset", ours=True,
)  # fmt: skip
DELETE_FILE = Route(
    "DELETE", f"{ASSET_PATH}/deleteFile", "files", "delete_file",
    "Permanently delete a file or a folder, with metadata", "asset",
    tier2="POST",
    writes_documents=_FILE,
)  # fmt: skip
REVERT_FILE_VERSION = Route(
    "POST", f"{ASSET_PATH}/revertFileVersion/{{versionId}}", "files", "revert_file_version",
    "Restore an old version of a file as its newest version", "asset",
    writes_documents=_FILE,
)  # fmt: skip
SET_PRIMARY_FILE = Route(
    "PUT", f"{ASSET_PATH}/setPrimaryFile", "files", "set_primary_file",
    "Set or clear the primary type of a file", "asset", tier2="POST",
    writes_documents=_FILE,
)  # fmt: skip
DELETE_ASSET_PREVIEW = Route(
    "DELETE", f"{ASSET_PATH}/deleteAssetPreview", "files", "delete_asset_preview",
    "Delete the preview of an asset", "asset", tier2="POST",
    writes_documents=(SyncTarget(),),
)  # fmt: skip
DELETE_AUXILIARY_FILES = Route(
    "DELETE", f"{ASSET_PATH}/deleteAuxiliaryPreviewAssetFiles", "files",
    "delete_auxiliary_files", (
        "Delete the files that viewers and pipelines generated for a file"
    ), "asset",
    tier2="POST",
)  # fmt: skip
LIST_DEPENDENCIES = Route(
    "GET", f"{ASSET_PATH}/dependencies", "facts", "list_dependencies",
    "List the references in an asset's files and the files they resolve to", "asset", ours=True,
)  # fmt: skip
LIST_DEPENDENTS = Route(
    "GET", f"{ASSET_PATH}/dependents", "facts", "list_dependents",
    "List the files of an asset that refer to a file", "asset", ours=True,
)  # fmt: skip
LIST_SIMILAR_FILES = Route(
    "GET", f"{ASSET_PATH}/files/similar", "facts", "list_similar_files",
    "List the files whose shape is similar to a file's", "asset", ours=True,
    statuses=(404, 409), throttle="search",
)  # fmt: skip
INITIALISE_UPLOAD = Route(
    "POST", "/uploads", "uploads", "initialise_upload", "Start an upload", "asset"
)
COMPLETE_UPLOAD = Route(
    "POST", "/uploads/{uploadId}/complete", "uploads", "complete_upload", "Complete an upload",
    "asset",
    writes_documents=(
        SyncTarget("body.databaseId", "body.assetId"),
        SyncTarget("body.databaseId", "body.assetId", "body.files.*.relativeKey"),
    ),
)  # fmt: skip
LIST_UPLOADS = Route(
    "GET", "/uploads", "uploads", "list_uploads", "List the uploads that you started, newest first",
    ours=True,
)  # fmt: skip
RENEW_UPLOAD = Route(
    "POST", "/uploads/{uploadId}/renew", "uploads", "renew_upload",
    "Get new URLs for an upload, and the parts already stored", "asset", ours=True,
)  # fmt: skip
GET_UPLOAD = Route(
    "GET", "/uploads/{uploadId}", "uploads", "get_upload",
    "Get the state of an upload and its files", "asset", tier2="POST", ours=True,
)  # fmt: skip
ABORT_UPLOAD = Route(
    "DELETE", "/uploads/{uploadId}", "uploads", "abort_upload", "Cancel an upload",
    "asset", tier2="POST", ours=True,
)  # fmt: skip
INGEST_ASSET = Route(
    "POST", "/ingest-asset", "ingest", "ingest_asset",
    "Create an asset and start its upload, or complete that upload", "asset",
    writes_documents=(
        SyncTarget("body.databaseId", "body.assetId"),
        SyncTarget("body.databaseId", "body.assetId", "body.files.*.relativeKey", below_asset=True),
    ),
)  # fmt: skip
DOWNLOAD = Route(
    "POST", f"{ASSET_PATH}/download", "downloads", "get_download_url",
    "Get a presigned URL of a file or preview", "asset", tier2="GET", statuses=(410,),
)  # fmt: skip
STREAMED = (206, 304, 307, 410, 416)
_KNOWN = ("If-None-Match", "If-Modified-Since")
_RANGES = ("Range", "If-Range", *_KNOWN)
_BYTES = ("Accept-Ranges", "Content-Disposition", ETAG, "Last-Modified", "X-Amz-Version-Id")
STREAM_FILE = Route(
    "GET", f"{ASSET_PATH}/download/stream/{{proxy+}}", "downloads", "stream_file",
    "Download a file, or redirect to it", "asset", statuses=(*STREAMED, 409),
    reads=_RANGES,
    response_headers=_BYTES,
)  # fmt: skip
HEAD_FILE = Route(
    "HEAD", f"{ASSET_PATH}/download/stream/{{proxy+}}", "downloads", "head_file",
    "Get the size and type of a file", "asset", statuses=(304, 409, 410), reads=_KNOWN,
    response_headers=_BYTES,
)  # fmt: skip
STREAM_AUXILIARY_FILE = Route(
    "GET", f"{ASSET_PATH}/auxiliaryPreviewAssets/stream/{{proxy+}}", "downloads",
    "stream_auxiliary_file", "Download an auxiliary file, or redirect to it", "asset",
    statuses=(*STREAMED, 409),
    reads=_RANGES,
    response_headers=_BYTES,
)  # fmt: skip
HEAD_AUXILIARY_FILE = Route(
    "HEAD", f"{ASSET_PATH}/auxiliaryPreviewAssets/stream/{{proxy+}}", "downloads",
    "head_auxiliary_file", "Get the size and type of an auxiliary file", "asset",
    statuses=(304, 409, 410),
    reads=_KNOWN,
    response_headers=_BYTES,
)  # fmt: skip
GET_GLB = Route(
    "GET", f"{ASSET_PATH}/files/glb", "facts", "get_glb",
    "Get presigned URLs of the GLB of a file and what is beside it", "asset", ours=True,
    also_one_of=(STREAM_AUXILIARY_FILE, DOWNLOAD),
)  # fmt: skip
# Saving needs only the right to see the asset: it changes nothing of it, as sending a link does.
SAVE_VIEW = Route(
    "PUT", f"{ASSET_PATH}/views/{{viewId}}", "files", "save_view",
    "Save a view of a model for everyone who may see the asset", "asset", tier2="GET", ours=True,
    statuses=(409,),
)  # fmt: skip
# The caller must have saved the view, or have the permission POST of the asset.
DELETE_VIEW = Route(
    "DELETE", f"{ASSET_PATH}/views/{{viewId}}", "files", "delete_view", "Delete a saved view",
    "asset", tier2="GET", ours=True,
)  # fmt: skip
LIST_VIEWS = Route(
    "GET", f"{ASSET_PATH}/views", "downloads", "list_views",
    "List the saved views of an asset, newest first", "asset", ours=True,
)  # fmt: skip
GET_VIEW = Route(
    "GET", f"{ASSET_PATH}/views/{{viewId}}", "downloads", "get_view", "Get a saved view", "asset",
    ours=True,
)  # fmt: skip
