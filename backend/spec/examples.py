"""Examples of fields by their name on the wire, for the OpenAPI document.

For a list, the example is one of its elements. `PARAMETERS` are further examples for paths and
queries, `REPLIES` for replies.
"""

from collections.abc import Mapping

EXAMPLES: Mapping[str, object] = {
    "assetId": "x0b0e6c1e-5d0e-4d6f-9a53-2f3f1c1f7b11",
    "assetName": "Pump house",
    "assetType": ".glb",
    "autoTriggerOnFileExtensionsUpload": ".glb,.e57",
    "assetVersionId:commentId": "0:x6b1d6a52-0d52-4d0e-9a43-4c6a4d8d7f21",
    "comment": "After the scan of May",
    "commentBody": "The roof is missing",
    "databaseId": "museum",
    "defaultBucketId": "5f0c8f0e-0c3b-4b3e-8b5e-0d3a6f0f6f5e",
    "description": "The pump house as it was scanned",
    "email": "ann@example.org",
    "expiresAt": "2027-01-31",
    "filePath": "/scans/pump.e57",
    "inputParameters": '{"quality": "high"}',
    "isDistributable": True,
    "lambdaName": "Inspect",
    "metadataKey": "material",
    "metadataValue": "bronze",
    "metadataValueType": "string",
    "outputType": ".glb",
    "phone": "+4930123456",
    "pipelineExecutionType": "Lambda",
    "pipelineId": "convert-to-glb",
    "pipelineType": "standardFile",
    "proxy": "scans/pump.e57",
    "relativeKey": "/scans/pump.e57",
    "roleName": "curator",
    "schemaName": "Scans",
    "tagName": "restored",
    "tagTypeName": "condition",
    "tags": "restored",
    "uploadId": "y6d2c1c8e-31d5-4f0c-8f0e-2a4a1b9d7c10",
    "useLatestFiles": True,
    "userId": "ann@example.org",
    "userProvidedResource": '{"resourceId": "Inspect", "resourceType": "Lambda"}',
    "versionId": "3sL4kqtJlcpXroDTDmJ",
    "waitForCallback": "Enabled",
    "workflowId": "convert-models",
}

# Examples by parameter name. An optional parameter has an example only if it sets an amount.
PARAMETERS: Mapping[str, object] = {
    "executionId": "01970b1c-5d0e-7d6f-9a53-2f3f1c1f7b11",
    "apiKeyId": "0d4f3c52-93c5-4d5a-8f0b-5a0a2a6f6c3e",
    "assetLinkId": "9a5f8a1c-6a55-4a37-9d0a-7b1f0e0f4c21",
    "assetVersionId": "1",
    "at": "2026-03-01T12:00:00.000000Z",
    "bucketId": EXAMPLES["defaultBucketId"],
    "constraintId": "curators-see-the-museum",
    "entity": "database:museum",
    "from": "1",
    "jobId": "archiveAsset.5f6c8d7e",
    "key": "IndexChanges/2026-03-01/0c3b4b3e.json",
    "metadataSchemaId": "c2f5a2f0-3c4b-4d6e-9a55-0b1c2d3e4f50",
    "pageSize": 100,
    "q": "pum",
    "queueName": "Settle",
    "relationId": "9a5f8a1c-6a55-4a37-9d0a-7b1f0e0f4c21",
    "roleId": EXAMPLES["roleName"],
    "tagId": EXAMPLES["tagName"],
    "tagTypeId": EXAMPLES["tagTypeName"],
    "to": "2",
    "viewId": "9b2cf535f27731c974343645a3985328",
    "valueHash": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
}

_TIME = "2026-03-01T12:00:00.000000Z"
REPLIES: Mapping[str, object] = {
    **dict.fromkeys(
        ("createdAt", "createdOn", "dateCreated", "dateModified", "DateModified"), _TIME
    ),
    **dict.fromkeys(("failedAt", "lastModified", "startedAt", "timestamp", "updatedAt"), _TIME),
    "apiKeyName": "robot",
    "baseAssetsPrefix": "/",
    "bucketName": "museum-assets",
    "createdBy": EXAMPLES["userId"],
    "downloadUrl": "https://museum-assets.s3.eu-central-1.amazonaws.com/pump/scans/pump.e57?X-Amz-Signature=5b1f",
    "etag": "9b2cf535f27731c974343645a3985328",
    "fileName": "pump.e57",
    "key": "pump/scans/pump.e57",
    "message": "Done",
    "modifiedBy": EXAMPLES["userId"],
    "pictureUrl": "https://museum-auxiliary.s3.eu-central-1.amazonaws.com/previews/pump/views/9b2c.png?X-Amz-Signature=5b1f",
    "relativePath": "/scans/pump.e57",
    "storageClass": "STANDARD",
    "uploadIdS3": "2~VmVyc2lvbg",
    "version": "2.5.1",
    "Version": "1",
}
