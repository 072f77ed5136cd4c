"""What a field may look like, by its name on the wire: the examples of the OpenAPI document.

Of a field that is a list, what stands in it.
"""

from collections.abc import Mapping

EXAMPLES: Mapping[str, object] = {
    "assetId": "x0b0e6c1e-5d0e-4d6f-9a53-2f3f1c1f7b11",
    "assetName": "Pump house",
    "assetVersionId:commentId": "0:x6b1d6a52-0d52-4d0e-9a43-4c6a4d8d7f21",
    "comment": "After the scan of May",
    "commentBody": "The roof is missing",
    "databaseId": "museum",
    "defaultBucketId": "5f0c8f0e-0c3b-4b3e-8b5e-0d3a6f0f6f5e",
    "description": "The pump house as it was scanned",
    "email": "ann@example.org",
    "filePath": "/scans/pump.e57",
    "isDistributable": True,
    "metadataKey": "material",
    "metadataValue": "bronze",
    "metadataValueType": "string",
    "phone": "+4930123456",
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
    "versionId": "3sL4kqtJlcpXroDTDmJ",
}
