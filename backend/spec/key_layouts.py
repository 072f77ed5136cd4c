"""The layouts of all keys in the buckets: the kind of an object follows from its key.

Patterns name their variable parts in braces. `{key of a file}` is a whole key of the first layout.
"""

import re
from typing import Literal

from backend.spec.tables.model import Origin
from backend.values import frozen

DEFAULT_BASE_PREFIX: Literal["/"] = "/"
"""The `baseAssetsPrefix` of a bucket's root: keys then start with the asset id."""

TEMP_UPLOADS_PREFIX = "temp-uploads/"
"""The prefix of uploaded files until they are checked and copied."""
EXPORTS_PREFIX = f"{TEMP_UPLOADS_PREFIX}exports/"
"""The prefix of stored pages of exports in the auxiliary bucket."""
# Of these pages. Their URLs expire within an hour.
EXPORTS_DAYS = 1
PREVIEWS_PREFIX = "previews/"
RUNS_PREFIX = "pipelines/"
"""The prefix of execution outputs in the auxiliary bucket."""
# Of objects below that prefix, and of the item with the progress of storing them (decision 47).
RUNS_DAYS = 30
_GENERATED_PREVIEW = "generated/preview.png"
GLB_FOLDER = "glb"
_PATH_OF_GLB = re.compile(
    rf"/{GLB_FOLDER}(?P<path>/.+)/(?P<version>[^/]+)\.(?:glb|png|json\.gz)", re.DOTALL
)
# The empty object with which GuardDuty tests whether it may scan a bucket.
SCAN_PROBE_KEY = "malware-protection-resource-validation-object"
# First components of a key, below the base prefix, that are never an asset's folder: the contract
# reserves them for other objects.
RESERVED_FOLDERS = frozenset(
    {
        "temp-upload",
        "temp-uploads",
        "preview",
        "previews",
        "pipeline",
        "pipelines",
        "workspace",
        "workspaces",
    }
)

PREVIEW_EXTENSIONS = frozenset({".png", ".jpg", ".jpeg", ".svg", ".gif"})
PREVIEW_MARK = ".previewFile."
# The extension of the small image beside a generated preview; the rest of its key is the preview's.
SMALL_PREVIEW_EXTENSION = ".webp"
ASSET_PREVIEW_NAMES = frozenset("preview" + extension for extension in PREVIEW_EXTENSIONS)
PREVIEW_KEYS = (
    f"/*{PREVIEW_MARK}*",
    "/*/preview.*",
    f"/*/{PREVIEWS_PREFIX}*",
    f"/{PREVIEWS_PREFIX}*",
)
"""Key patterns of previews, for grants on objects."""
CLOUDTRAIL_LOG_PREFIX = "cloudtrail-logs/"
AUDIT_VALUES_PREFIX = "values/"
TRACKING_PREFIX = "mlflow/"
"""The prefix of MLflow's runs in the artifact bucket."""
TRACKING_ARCHIVE_PREFIX = "mlflow-archive/"
"""The prefix of expired MLflow runs and traces in the artifact bucket."""


@frozen
class KeyLayout:
    """The keys of one kind of object in one bucket, which is named by its logical id."""

    bucket: str
    pattern: str
    description: str
    origin: Origin = "data model"


KEY_LAYOUTS = (
    KeyLayout(
        "AssetBucket",
        "{baseAssetsPrefix}{assetId}/{relative_path}/{filename}",
        "A file of an asset.",
    ),
    KeyLayout(
        "AssetBucket",
        f"{{key of a file}}{PREVIEW_MARK}{{ext}}",
        (
            "A preview of that file: png, jpg, jpeg, svg or gif, in any case. It belongs "
            "to the file's row and document, and is moved, archived and deleted with it. "
            "If there are several, the newest is shown."
        ),
    ),
    KeyLayout(
        "AssetBucket",
        f"{{key of a file}}{PREVIEW_MARK}{SMALL_PREVIEW_EXTENSION[1:]}",
        (
            "The generated preview of that file in 256 pixels, for pages that show many. It is "
            "shown only if no other preview is newer, goes with the file as previews do, and "
            "cannot be uploaded."
        ),
        "ours",
    ),
    KeyLayout(
        "AssetBucket",
        "{baseAssetsPrefix}{assetId}/preview.{ext}",
        (
            "The preview of the asset, unless `previewLocation` names another: png, jpg, jpeg, svg "
            "or gif, in lower case. It is listed and downloaded as a file, has no file document, "
            "and does not count for the asset's type. Of several, the newest is shown."
        ),
    ),
    KeyLayout(
        "AssetBucket",
        "{baseAssetsPrefix}{assetId}/{relative_path}/metadata.json",
        "A metadata file written by a pipeline.",
    ),
    KeyLayout(
        "AssetBucket",
        f"{{baseAssetsPrefix}}{PREVIEWS_PREFIX}{{assetId}}/{{filename}}",
        "A preview that was uploaded for the asset; its `previewLocation` names it.",
        "ours",
    ),
    KeyLayout(
        "AssetBucket",
        f"{{baseAssetsPrefix}}{PREVIEWS_PREFIX}{{assetId}}/{_GENERATED_PREVIEW}",
        "A preview that the product made of the asset, which shows one of its files.",
        "ours",
    ),
    KeyLayout(
        "AssetBucket",
        f"{{baseAssetsPrefix}}{PREVIEWS_PREFIX}{{assetId}}/"
        f"{_GENERATED_PREVIEW.replace('.png', SMALL_PREVIEW_EXTENSION)}",
        "That preview in 256 pixels.",
        "ours",
    ),
    KeyLayout(
        "AssetBucket",
        f"{{baseAssetsPrefix}}{TEMP_UPLOADS_PREFIX}{{uploadId}}/{{hash of the path}}",
        "A file that is being uploaded.",
        "ours",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        "{assetId}/{viewer_type}/{generated_files}",
        "Data of an asset for viewers or pipelines. It is streamed, and deleted with the asset.",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        "{assetId}/{file path}/{generated_files}",
        (
            "Data of one file for viewers, as stock viewers store it. It is streamed, and "
            "copied, moved and deleted with the file; archiving the file leaves it "
            "unchanged."
        ),
        "ours",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        f"{{assetId}}/{GLB_FOLDER}/{{file path}}/{{S3 version id}}.glb",
        (
            "A version of a model as GLB, for viewers. It is streamed, copied with the file, and "
            "deleted with its version."
        ),
        "ours",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        f"{{assetId}}/{GLB_FOLDER}/{{file path}}/{{S3 version id}}.png",
        "An animated picture of that version from eight sides, or of frames of a film, if the "
        "deployment generates it.",
        "ours",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        f"{{assetId}}/{GLB_FOLDER}/{{file path}}/{{S3 version id}}.json.gz",
        "Types and properties of the elements of that version of an IFC model, as JSON.",
        "ours",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        f"{PREVIEWS_PREFIX}{{assetId}}/views/{{viewId}}.json",
        "A saved view of a model, which is deleted with the asset; beside it, its picture (PNG).",
        "ours",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        f"{RUNS_PREFIX}{{executionId}}/{{number}}/{{files, previews or metadata}}/{{path}}",
        (
            "Output of a pipeline in an execution, until it is stored with the asset. "
            f"Expires after {RUNS_DAYS} days."
        ),
        "ours",
    ),
    KeyLayout(
        "AssetAuxiliaryBucket",
        f"{EXPORTS_PREFIX}{{random id}}.json",
        f"A large page of an export. Expires after {EXPORTS_DAYS} day.",
        "ours",
    ),
    KeyLayout("WebAppBucket", "{path}", "A file of the web application."),
    KeyLayout("ArtefactsBucket", "{path}", "A template notebook or deployment artefact."),
    KeyLayout(
        "ArtefactsBucket",
        f"{TRACKING_PREFIX}{{experimentId}}/{{runId}}/artifacts/{{path}}",
        "An artifact of an MLflow run, where the setting `tracking` is on.",
        "ours",
    ),
    KeyLayout(
        "ArtefactsBucket",
        f"{TRACKING_ARCHIVE_PREFIX}{{experimentId}}/{{runs or traces}}/{{id}}/{{number}}.json.gz",
        "An MLflow run or trace that expired: its items as DynamoDB exports them.",
        "ours",
    ),
    KeyLayout(
        "AccessLogsBucket", "{log prefix of the bucket}{log file}", "Access logs of a bucket."
    ),
    KeyLayout(
        "AccessLogsBucket", f"{CLOUDTRAIL_LOG_PREFIX}{{log file}}", "Logs of AWS CloudTrail."
    ),
    KeyLayout(
        "FailureBucket", "{consumer}/{date}/{id}.json", "An event that was not indexed.", "ours"
    ),
    KeyLayout(
        "AuditArchiveBucket", "{yyyy}/{mm}/{dd}/{id}.jsonl.gz", "Expired audit entries.", "ours"
    ),
    KeyLayout(
        "AuditArchiveBucket",
        f"{AUDIT_VALUES_PREFIX}{{sha256}}",
        "A value that is too large for an audit entry.",
        "ours",
    ),
)


def uploaded_previews_folder(base: str, asset_id: str) -> str:
    """Return the folder of the previews that were uploaded for an asset."""
    return f"{base}{PREVIEWS_PREFIX}{asset_id}/"


def temporary_folder(base: str, upload_id: str) -> str:
    """Return the folder of the files that are being uploaded."""
    return f"{base}{TEMP_UPLOADS_PREFIX}{upload_id}/"


def auxiliary_folder(asset_id: str, path: str = "/") -> str:
    """Return the auxiliary folder of an asset, of one of its files, or of a folder of files.

    A viewer's folder and that of a file have one layout: a file named as a viewer shares its
    folder.
    """
    inner = path.strip("/")
    return f"{asset_id}/{inner}/" if inner else f"{asset_id}/"


def views_folder(asset_id: str) -> str:
    """Return the folder of the saved views of an asset in the auxiliary bucket."""
    # Outside the folder of the asset, in which files and viewers may have any name, and which a
    # request may empty. No asset has the reserved id `previews`.
    return f"{PREVIEWS_PREFIX}{asset_id}/views/"


def run_folder(execution_id: str) -> str:
    """Return the folder of an execution in the auxiliary bucket."""
    return f"{RUNS_PREFIX}{execution_id}/"


def generated_preview_key(base: str, asset_id: str) -> str:
    """Return the key of the generated preview of an asset."""
    # In a subfolder, which previews of uploads do not have: no upload writes this key.
    return uploaded_previews_folder(base, asset_id) + _GENERATED_PREVIEW


def small_preview_key(key: str) -> str:
    """Return the key of the small picture beside a generated preview, which is a PNG."""
    return key.removesuffix(".png") + SMALL_PREVIEW_EXTENSION


def is_generated_preview(asset_id: str, key: str) -> bool:
    """Return whether a key is that of the asset's generated preview."""
    return key.endswith(generated_preview_key("", asset_id))


def glb_folder(asset_id: str, path: str) -> str:
    """Return the auxiliary folder of the GLBs of a file, or of the files of a folder."""
    return auxiliary_folder(asset_id, f"{GLB_FOLDER}/{path.strip('/')}")


def turntable_key(asset_id: str, path: str, version_id: str) -> str:
    """Return the auxiliary key of the turntable of one version of a file, beside its GLB."""
    return f"{glb_folder(asset_id, path)}{version_id}.png"


def glb_key(asset_id: str, path: str, version_id: str) -> str:
    """Return the auxiliary key of the GLB of one version of a file."""
    return f"{glb_folder(asset_id, path)}{version_id}.glb"


def structure_key(asset_id: str, path: str, version_id: str) -> str:
    """Return the auxiliary key of the structure of one version of a file, beside its GLB."""
    return f"{glb_folder(asset_id, path)}{version_id}.json.gz"


def source_of_glb(path: str) -> tuple[str, str] | None:
    """Return the path and version of the file of a GLB, or of what is beside it, by its path."""
    match = _PATH_OF_GLB.fullmatch(path)
    return None if match is None else (match["path"], match["version"])
