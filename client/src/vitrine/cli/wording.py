"""Names the options and arguments of a command where a message of the server names fields."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import typer

PARAMETERS: Final[Mapping[str, Sequence[str]]] = {
    "apiKeyId": ["key_id"],
    "apiKeyName": ["name"],
    "archivedSince": ["since"],
    "assetId": ["asset", "asset_id"],
    "assetLinkAliasId": ["alias"],
    "assetLinkId": ["link"],
    "assetName": ["name"],
    "assetVersionId": ["version"],
    "assetVersionIdAlias": ["alias"],
    "baseAssetsPrefix": ["prefix"],
    "bucketId": ["bucket"],
    "bucketName": ["bucket"],
    "commentBody": ["text"],
    "confirmArchive": ["yes"],
    "confirmArchiveAsset": ["yes"],
    "confirmDelete": ["yes"],
    "confirmPermanentDelete": ["yes"],
    "confirmReset": ["yes"],
    "confirmUnarchive": ["yes"],
    "constraintId": ["constraint"],
    "databaseId": ["database"],
    "defaultBucketId": ["bucket"],
    "destinationAssetId": ["to"],
    "destinationDatabaseId": ["to"],
    "destinationPath": ["target"],
    "executionId": ["execution"],
    "expiresAt": ["expires"],
    "fileExtensions": ["extensions"],
    "filePath": ["path", "file"],
    "folderPath": ["path", "folder"],
    "isActive": ["active"],
    "isDistributable": ["distributable"],
    "isPrefix": ["folder"],
    "jobId": ["job"],
    "metadataKeys": ["keys"],
    "metadataSchemaEntityType": ["entity"],
    "metadataSchemaId": ["schema"],
    "metadataValueType": ["kind"],
    "mfaRequired": ["mfa"],
    "pipelineId": ["pipeline"],
    "primaryTypeOther": ["other"],
    "relationshipType": ["kind"],
    "restrictFileUploadsToExtensions": ["extensions"],
    "restrictMetadataOutsideSchemas": ["restrict"],
    "revertMetadata": ["metadata"],
    "roleName": ["role", "roles"],
    "schemaName": ["name"],
    "showArchived": ["archived"],
    "showDeleted": ["deleted"],
    "showSessions": ["sessions"],
    "sourcePath": ["source"],
    "tagName": ["name"],
    "tagTypeName": ["tag_type"],
    "updateAssociatedWorkflows": ["update_workflows"],
    "uploadId": ["upload"],
    "userId": ["user"],
    "valueHash": ["sha256"],
    "versionAlias": ["alias"],
    "versionId": ["version"],
    "workflowId": ["workflow"],
}
"""Parameters of commands by the field that they send; others are named like their field."""
# In no quotes, which are around values, and no part of a longer path.
_FIELD: Final = re.compile(r"""(?<![\w'".])[a-z]+(?:[A-Z][a-z0-9]*)+(?![\w'"])""")


def name_parameters(message: str, ctx: typer.Context) -> str:
    """Return a message in which fields that the command sends are named as its user knows them."""
    known = {parameter.name: parameter for parameter in ctx.command.params}

    def named(match: re.Match[str]) -> str:
        field = match[0]
        like_field = re.sub("([A-Z])", r"_\1", field).lower()
        for name in (*PARAMETERS.get(field, ()), like_field):
            if (parameter := known.get(name)) is not None:
                option = parameter.opts[0]
                return option if option.startswith("-") else parameter.metavar or option.upper()
        return field

    return _FIELD.sub(named, message)
