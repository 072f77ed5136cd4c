"""The events that a deployment publishes about changes: their types, and the fields of each.

An event contains ids, versions and the actor, and no content. It derives from the audit entry of
the change (decision 15).
"""

from typing import Literal

from backend.values import frozen

SOURCE = "vitrine"
"""The source of all events, by which rules select them."""
# A value of more than 4 KB is not in the audit entry (`rules.VALUE_BYTES`), so no more paths are.
MAX_PATHS = 300

Form = Literal["string", "integer", "date-time", "strings"]
_SCHEMAS: dict[Form, dict[str, object]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer", "minimum": 1},
    "date-time": {"type": "string", "format": "date-time"},
    "strings": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_PATHS},
}


@frozen
class EventField:
    """A field of an event; `change` is the attribute of the audit entry that has its value."""

    name: str
    description: str
    form: Form = "string"
    required: bool = True
    change: str = ""


@frozen
class EventType:
    """A type of events: the audit operations that cause it, and its fields besides the common ones.

    A type without operations is that of all other operations on its kind of object.
    """

    name: str
    description: str
    operations: tuple[str, ...] = ()
    fields: tuple[EventField, ...] = ()


COMMON_FIELDS = (
    EventField("id", "The same in each repetition of an event."),
    EventField(
        "number",
        "Counts the events of an asset in the order of publishing, without gaps; a repetition has "
        "the same number. A new asset of a used id continues the count.",
        "integer",
    ),
    EventField("at", "Time of the change. It orders changes.", "date-time"),
    EventField("actor", "User id of who made the change; `SYSTEM` is the product."),
    EventField("operation", "Operation in the audit log, usually the name of a route."),
    EventField("databaseId", "Database of the asset."),
    EventField("assetId", "The asset."),
)
_PATH = EventField("filePath", "Path in the asset; that of a folder ends with `/`.")
_NEW_PATH = EventField("newPath", "Path after the change.", change="path")
_SOURCE_PATH = EventField(
    "copiedFrom", "Database, asset and path of the source.", change="copiedFrom"
)
_SOURCE_VERSION = EventField(
    "copiedVersionId", "S3 version of the source.", change="copiedVersionId"
)

ASSET_CHANGED = EventType(
    "asset.changed",
    "Any other change of an asset: attributes, metadata, comments, outputs of an execution.",
    fields=(
        EventField(
            "executionId",
            "Execution whose outputs were stored.",
            required=False,
            change="executionId",
        ),
    ),
)
FILE_CHANGED = EventType(
    "file.changed",
    "Any other change of a file: metadata, attributes, primary type, an old version restored.",
    fields=(
        _PATH,
        EventField(
            "revertedFromVersionId",
            "S3 version that was restored.",
            required=False,
            change="revertedFromVersionId",
        ),
    ),
)
FILE_UPLOADED = EventType(
    "file.uploaded",
    "An upload was completed, at least in part.",
    ("complete_upload",),
    (
        EventField("uploadId", "The upload.", change="uploadId"),
        EventField(
            "filePaths",
            "Paths of the stored files, if the entry has room for them; `GET /uploads/{uploadId}` "
            "lists all.",
            "strings",
            required=False,
        ),
    ),
)
EXECUTION_COMPLETED = EventType(
    "workflow.execution.completed",
    "An execution of a workflow ended.",
    ("complete_execution", "stop_execution"),
    (
        EventField("executionId", "The execution."),
        EventField("workflowDatabaseId", "Database of the workflow.", change="workflowDatabaseId"),
        EventField("workflowId", "The workflow.", change="workflowId"),
        EventField(
            "status",
            "`SUCCEEDED`, `FAILED`, `TIMED_OUT` or `ABORTED`.",
            change="executionStatus",
        ),
    ),
)

EVENT_TYPES = (
    EventType("asset.created", "An asset was created.", ("create_asset",)),
    ASSET_CHANGED,
    EventType("asset.archived", "An asset was archived.", ("archive_asset",)),
    EventType("asset.deleted", "The deletion of an asset began.", ("delete_asset",)),
    EventType(
        "version.created",
        "A version of an asset was created, or an old one restored as the newest.",
        ("create_asset_version", "revert_asset_version"),
        (EventField("assetVersionId", "The version.", change="assetVersionId"),),
    ),
    FILE_UPLOADED,
    FILE_CHANGED,
    EventType(
        "file.moved",
        "A file or folder was moved.",
        ("move_file", "move_folder"),
        (_PATH, _NEW_PATH),
    ),
    EventType(
        "file.copied",
        "A file was copied; `filePath` is the copy.",
        ("copy_file",),
        (_PATH, _SOURCE_PATH, _SOURCE_VERSION),
    ),
    EventType("file.archived", "A file or folder was archived.", ("archive_file",), (_PATH,)),
    EventType(
        "file.unarchived",
        "A file, or the files of a folder, were restored.",
        ("unarchive_file", "unarchive_folder"),
        (_PATH,),
    ),
    EventType("file.deleted", "A file or folder was deleted.", ("delete_file",), (_PATH,)),
    EXECUTION_COMPLETED,
)


def schema_of(event: EventType) -> dict[str, object]:
    """Return the JSON schema of an event's detail."""
    fields = (*COMMON_FIELDS, *event.fields)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": event.name,
        "type": "object",
        "properties": {
            field.name: {**_SCHEMAS[field.form], "description": field.description}
            for field in fields
        },
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }
