"""Routes of files and their bytes: changes, uploads, ingest, downloads."""

from backend.spec.routes.model import ASSET_PATH, ETAG, Route, Touched

_FILE = (Touched(file="body.filePath"),)

LIST_FILES = Route(
    "GET", f"{ASSET_PATH}/listFiles", "files", "list_files", "List the files of an asset", "asset"
)
GET_FILE = Route("GET", f"{ASSET_PATH}/fileInfo", "files", "get_file", "Describe a file", "asset")
CREATE_FOLDER = Route(
    "POST", f"{ASSET_PATH}/createFolder", "files", "create_folder", "Create a folder", "asset"
)
MOVE_FILE = Route(
    "POST", f"{ASSET_PATH}/moveFile", "files", "move_file",
    "Move a file within its asset, with all that belongs to it", "asset",
    touches=(
        Touched(file="body.sourcePath", records=True),
        Touched(file="body.destinationPath", records=True),
    ),
)  # fmt: skip
COPY_FILE = Route(
    "POST", f"{ASSET_PATH}/copyFile", "files", "copy_file",
    "Copy a file, also to another asset or database, with all that belongs to it", "asset",
    tier2="GET",
    touches=(
        Touched(
            "body.destinationDatabaseId|path.databaseId", "body.destinationAssetId|path.assetId",
            file="body.destinationPath", records=True,
        ),
    ),
)  # fmt: skip
ARCHIVE_FILE = Route(
    "DELETE", f"{ASSET_PATH}/archiveFile", "files", "archive_file",
    "Archive a file or a folder of files", "asset", tier2="POST",
    touches=_FILE,
)  # fmt: skip
UNARCHIVE_FILE = Route(
    "POST", f"{ASSET_PATH}/unarchiveFile", "files", "unarchive_file",
    "Bring an archived file back", "asset",
    touches=_FILE,
)  # fmt: skip
DELETE_FILE = Route(
    "DELETE", f"{ASSET_PATH}/deleteFile", "files", "delete_file",
    "Delete a file or a folder of files for good, with all that belongs to them", "asset",
    tier2="POST",
    touches=_FILE,
)  # fmt: skip
REVERT_FILE_VERSION = Route(
    "POST", f"{ASSET_PATH}/revertFileVersion/{{versionId}}", "files", "revert_file_version",
    "Make an old version of a file its newest one", "asset",
    touches=_FILE,
)  # fmt: skip
SET_PRIMARY_FILE = Route(
    "PUT", f"{ASSET_PATH}/setPrimaryFile", "files", "set_primary_file",
    "Say what a file is to its asset", "asset", tier2="POST",
    touches=_FILE,
)  # fmt: skip
DELETE_ASSET_PREVIEW = Route(
    "DELETE", f"{ASSET_PATH}/deleteAssetPreview", "files", "delete_asset_preview",
    "Delete the preview of an asset", "asset", tier2="POST",
    touches=(Touched(),),
)  # fmt: skip
DELETE_AUXILIARY_FILES = Route(
    "DELETE", f"{ASSET_PATH}/deleteAuxiliaryPreviewAssetFiles", "files",
    "delete_auxiliary_files", "Delete what viewers and pipelines made of a file", "asset",
    tier2="POST",
)  # fmt: skip
LIST_DEPENDENCIES = Route(
    "GET", f"{ASSET_PATH}/dependencies", "facts", "list_dependencies",
    "List the references of an asset's files and where they lead", "asset", ours=True,
)  # fmt: skip
LIST_DEPENDENTS = Route(
    "GET", f"{ASSET_PATH}/dependents", "facts", "list_dependents",
    "List the files of an asset that refer to a file", "asset", ours=True,
)  # fmt: skip
LIST_SIMILAR_FILES = Route(
    "GET", f"{ASSET_PATH}/files/similar", "facts", "list_similar_files",
    "List files whose shape is similar to that of a file", "asset", ours=True,
    statuses=(404, 409), throttle="search",
)  # fmt: skip
INITIALISE_UPLOAD = Route(
    "POST", "/uploads", "uploads", "initialise_upload", "Start an upload", "asset"
)
COMPLETE_UPLOAD = Route(
    "POST", "/uploads/{uploadId}/complete", "uploads", "complete_upload", "Finish an upload",
    "asset",
    touches=(
        Touched("body.databaseId", "body.assetId"),
        Touched("body.databaseId", "body.assetId", "body.files.*.relativeKey"),
    ),
)  # fmt: skip
RENEW_UPLOAD = Route(
    "POST", "/uploads/{uploadId}/renew", "uploads", "renew_upload",
    "Go on with an upload: fresh URLs, and the parts that are there", "asset", ours=True,
)  # fmt: skip
GET_UPLOAD = Route(
    "GET", "/uploads/{uploadId}", "uploads", "get_upload",
    "What has become of the files of an upload", "asset", tier2="POST", ours=True,
)  # fmt: skip
ABORT_UPLOAD = Route(
    "DELETE", "/uploads/{uploadId}", "uploads", "abort_upload", "Give an upload up",
    "asset", tier2="POST", ours=True,
)  # fmt: skip
INGEST_ASSET = Route(
    "POST", "/ingest-asset", "ingest", "ingest_asset",
    "Make an asset and start the upload of its files, or finish that", "asset",
    touches=(
        Touched("body.databaseId", "body.assetId"),
        Touched("body.databaseId", "body.assetId", "body.files.*.relativeKey", below_asset=True),
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
    "Get the bytes of a file, or a redirect to them", "asset", statuses=(*STREAMED, 409),
    reads=_RANGES,
    tells=_BYTES,
)  # fmt: skip
HEAD_FILE = Route(
    "HEAD", f"{ASSET_PATH}/download/stream/{{proxy+}}", "downloads", "head_file",
    "Get size and type of a file", "asset", statuses=(304, 409, 410), reads=_KNOWN,
    tells=_BYTES,
)  # fmt: skip
STREAM_AUXILIARY_FILE = Route(
    "GET", f"{ASSET_PATH}/auxiliaryPreviewAssets/stream/{{proxy+}}", "downloads",
    "stream_auxiliary_file", "Get the bytes of a viewer's file, or a redirect to them", "asset",
    statuses=STREAMED,
    reads=_RANGES,
    tells=_BYTES,
)  # fmt: skip
HEAD_AUXILIARY_FILE = Route(
    "HEAD", f"{ASSET_PATH}/auxiliaryPreviewAssets/stream/{{proxy+}}", "downloads",
    "head_auxiliary_file", "Get size and type of a viewer's file", "asset", statuses=(304, 410),
    reads=_KNOWN,
    tells=_BYTES,
)  # fmt: skip
