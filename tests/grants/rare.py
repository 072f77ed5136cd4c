"""Grants that the journeys do not use, each with the reason why a function needs it."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from backend.spec.functions import FUNCTIONS
from local.iam.policy import Grant
from local.iam.report import Usage

_OWN = "vitrine-local-"
_ASSET_BUCKET = "assetbucket"
_FUNCTIONS = {function.name for function in FUNCTIONS}


class Rare(NamedTuple):
    """Actions on a resource (a pattern of its name) that functions may need, and when."""

    resource: str
    actions: str
    functions: str
    why: str


RARE = (
    Rare("auditarchivebucket/*", "PutObject", "*", "a changed value of more than 4 KB"),
    Rare("DataKey", "GenerateDataKey", "*", "as above, and messages: by way of S3 or SQS"),
    Rare("DataKey", "Encrypt GenerateDataKey* ReEncrypt*", "JobsApi", "see its write of jobs"),
    Rare(
        "failurebucket/*",
        "PutObject",
        "ExecutionFollower Index* UploadTrigger *Worker",
        "poison; or a record given up",
    ),
    Rare("failurebucket/*", "PutObject", "AdminApi ReplayFailures", "a replay in vain is noted"),
    Rare("Audit", "PutItem", "*", "a write or a refusal, which the function's journeys lack"),
    Rare(
        "*DeadLetters",
        "DeleteMessage ReceiveMessage StartMessageMoveTask",
        "QueuesApi",
        "redriving; the journey redrives one queue, and they are granted alike",
    ),
    Rare(
        "BucketEvents BucketImports Execution* FanOut LargeFiles Lifecycle ObjectEvents Purges "
        "Reads ScanResults SearchWork Settle UploadTriggers",
        "SendMessage",
        "AdminApi QueuesApi ReplayFailures",
        "where dead letters go back to, and what a replayed consumer sends",
    ),
    Rare(
        "BucketImports FanOut LargeFiles Settle",
        "SendMessage ChangeMessageVisibility",
        "BucketImportWorker IndexFanOut IndexSettle LargeFileWorker",
        "a job of more pages than one run, or documents whose index entries still lag",
    ),
    Rare(
        "Jobs Reservations SearchState FileAttributeStorageTableV2/index/* *assetbucket*",
        "BatchGetItem GetItem GetObject ListBucket ListBucketVersions PutItem Query UpdateItem",
        "AdminApi ReplayFailures",
        "what a replayed event of any consumer reads and writes",
    ),
    Rare("failurebucket", "ListBucket", "*", "Lambda looks whether the destination is there"),
    Rare("Jobs", "GetItem", "AssetVersionsApi", "a step of a revert that is repeated"),
    Rare("AssetStorageTable", "BatchGetItem", "SearchIndexesApi", "the repair of one asset"),
    Rare("SearchState", "PutItem", "Index*", "the first metadata of a place"),
    Rare("SearchState", "GetItem", "IndexFanOut", "others wrote under a later ticket meanwhile"),
    Rare("Reservations", "BatchGetItem", "IndexSettle", "an object whose entries still lag"),
    Rare("*/_bulk", "ESHttpPost", "SweepTombstones", "a day after a deletion"),
    Rare("ApiKeyStorageTable", "UpdateItem", "Bootstrap", "an administrator's new address"),
    Rare("ArchivedFiles", "GetItem", "LifecycleApi", "a page that was noted twice"),
    Rare("Jobs", "UpdateItem", "JobsApi", "a job that lasts until it is cancelled"),
    Rare("Reservations", "GetItem", "JobsApi", "a change of files that is resumed"),
    Rare("AssetUploadsStorageTable", "BatchWriteItem", "IngestApi UploadsApi", "over 100 files"),
    Rare("FileVersionHistory", "BatchWriteItem", "IngestApi UploadsApi", "over 10 files at once"),
    Rare("Jobs", "GetItem PutItem", "IngestApi UploadsApi", "a large file is handed to a worker"),
    Rare(
        "assetbucket assetbucket/*",
        "AbortMultipartUpload DeleteObject GetObjectVersion ListBucketVersions",
        "IngestApi LargeFileWorker UploadsApi",
        "a file that is refused, or that another writer overtakes",
    ),
    Rare("assetbucket/*", "ListMultipartUploadParts", "IngestApi", "a file of 5 MiB or more"),
    Rare("AssetStorageTable", "BatchGetItem", "LargeFileWorker", "an asset archived meanwhile"),
    Rare("AssetStorageTable", "UpdateItem", "LargeFileWorker", "a large file with a primary type"),
    Rare("assetbucket/*", "ListMultipartUploadParts", "LargeFileWorker", "a copy after a kill"),
    Rare(
        "assetbucket assetbucket/*",
        "GetBucketVersioning GetObject ListBucket",
        "BucketsApi",
        "a bucket of others is looked at; the own one is registered as a whole already",
    ),
    Rare(
        "DatabaseStorageTable",
        "ConditionCheckItem PutItem",
        "BucketImportWorker BucketSync",
        "its first database",
    ),
    Rare(
        "MetadataSchemaStorageTableV2",
        "BatchGetItem",
        "LifecycleWorker",
        "a schema in force where a job copies a file into another database",
    ),
    Rare(
        "AssetFileVersionsStorageTableV2 AssetFileMetadataVersionsStorageTable "
        "AssetVersionsStorageTableV2",
        "BatchWriteItem DeleteItem Query UpdateItem",
        "FilesApi LifecycleWorker",
        "a file of a version is removed for good",
    ),
    Rare("Jobs", "BatchGetItem", "JobsApi", "a user who has started jobs lists them"),
    Rare("PageEdgeKey-*", "GetSecretValue", "Authorizer", "a request through CloudFront"),
    Rare("Reservations", "GetItem", "Authorizer ConfigurationApi", "a deployment with the page"),
    Rare("Reservations", "DeleteItem PutItem", "Bootstrap", "the stack of the page"),
    Rare("PageTokenKey-*", "GetSecretValue", "DatabasesApi", "a list of more than one page"),
    Rare("Reservations", "UpdateItem", "SearchApi", "a heavy search is counted"),
    Rare("assetbucket", "ListBucket ListBucketVersions", "MetadataApi", "a file that is not there"),
    Rare("AssetUploadsStorageTable", "DeleteItem", "UploadsApi", "an upload that is aborted"),
    Rare("AssetVersionsStorageTableV2", "DeleteItem", "AssetVersionsApi", "a creation that fails"),
    Rare("AssetLinkEdges", "ConditionCheckItem", "AssetLinksApi", "a tree of three levels is read"),
    Rare("Jobs", "ConditionCheckItem", "LifecycleWorker", "a folder that a job goes on to move"),
    Rare(
        "assetauxiliarybucket/*",
        "DeleteObject GetObject PutObject",
        "FilesApi LifecycleWorker",
        "a file with derivatives is moved or deleted: pipelines make them",
    ),
    Rare(
        "assetbucket/*",
        "AbortMultipartUpload GetObject GetObjectVersion GetObjectVersionTagging "
        "ListMultipartUploadParts PutObject PutObjectTagging",
        "FilesApi AssetVersionsApi LifecycleWorker",
        "a file over 1 GiB, or more files than a request takes, are copied by parts or by a job",
    ),
    Rare("assetbucket", "ListBucket", "AssetVersionsApi", "a file of a version that is gone"),
    Rare(
        "AssetStorageTable",
        "ConditionCheckItem",
        "AssetVersionsApi",
        "a version of a higher number was committed first",
    ),
    Rare("assetbucket", "ListBucketVersions", "ExportsApi", "a file in the bin is exported"),
    Rare(
        "AssetFileMetadataStorageTableV2 FileAttributeStorageTableV2",
        "BatchGetItem BatchWriteItem DeleteItem PutItem",
        "AssetVersionsApi LifecycleWorker",
        "a revert changes records, or a job moves, copies or deletes files that have some",
    ),
    Rare(
        "Reservations",
        "ConditionCheckItem GetItem",
        "AssetVersionsApi",
        "a revert changes records of a file, which must not be moved meanwhile",
    ),
    Rare("MetadataRecordSets", "BatchGetItem", "FilesApi", "an archived folder is restored"),
    Rare(
        "MetadataRecordSets MetadataSchemaScopes DatabaseStorageTable",
        "BatchGetItem GetItem UpdateItem",
        "LifecycleWorker",
        "as above: records that a job writes are governed by schemas",
    ),
    Rare(
        "Reservations",
        "ConditionCheckItem",
        "LifecycleWorker",
        "as above: a job writes records only while its change of files goes on",
    ),
    Rare(
        "ArchivedFiles AssetFileMetadataVersionsStorageTable FileVersionHistory "
        "WorkflowExecutionsStorageTable",
        "BatchWriteItem",
        "LifecycleWorker",
        "rows that an archived asset of many files leaves when it is deleted",
    ),
    Rare(
        "AssetFileVersionsStorageTableV2",
        "BatchGetItem GetItem",
        "LifecycleWorker",
        "a version of named files that a job makes",
    ),
    Rare("Reservations", "UpdateItem", "LifecycleWorker", "a prefix within others'"),
    Rare(
        "ArchivedFiles Asset*StorageTable* assetbucket assetbucket/*",
        "BatchWriteItem ConditionCheckItem DeleteItem DeleteObject GetItem ListBucket PutItem "
        "Query UpdateItem",
        "LifecycleWorker",
        "what a request did not end in its time, which depends on the machine",
    ),
    Rare("auditarchivebucket", "ListBucket", "AuditApi", "a large value that is gone"),
    Rare("Jobs", "GetItem", "CheckSearch", "a check that runs already"),
    Rare("Reservations", "BatchGetItem", "SearchWorker", "a repair of named keys"),
    Rare("SearchWork", "ChangeMessageVisibility", "SearchWorker", "a step that has to wait"),
    Rare("ScanResults", "ChangeMessageVisibility", "Quarantine", "two results of one version"),
    Rare("Purges", "ChangeMessageVisibility", "PurgeWorker", "two messages of one job"),
    Rare(
        "DatabaseStorageTable",
        "Scan",
        "BucketImportWorker",
        "renewed facts of files without facts, in all databases",
    ),
    Rare(
        "PipelineStorageTable",
        "ConditionCheckItem",
        "Bootstrap",
        "a release changes on which files a shipped workflow runs",
    ),
    Rare("Reservations", "GetItem", "PurgeWorker", "a deletion of an asset that has failed"),
    Rare(
        "PageTokenKey-*",
        "GetSecretValue",
        "ExecutionsApi FactsApi JobsApi PipelinesApi WorkflowsApi",
        "a list of more than one page",
    ),
    Rare(
        "ActiveExecutions Reservations WorkflowExecutionsStorageTable",
        "BatchGetItem DeleteItem GetItem Query UpdateItem",
        "ExecutionsApi",
        "an active execution is stopped, which is over sooner than a journey stops it",
    ),
    Rare(
        "assetbucket",
        "ListBucket ListBucketVersions",
        "ExecutionsApi",
        "the input file of a run is archived, or not there",
    ),
    Rare(
        "UploadTriggers",
        "SendMessage",
        "ExecutionFollower ExecutionStarter ExecutionsApi ReconcileExecutions",
        "a file was uploaded again while an execution of it went on, which then ended",
    ),
    Rare(
        "S3AssetBucketsStorageTable FileAttributeStorageTableV2 MetadataRecordSets",
        "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem",
        "UploadTrigger",
        "why an inspection failed: `tests/integration/local/states/test_stalled.py`",
    ),
    Rare(
        "Reservations",
        "GetItem UpdateItem",
        "UploadTrigger",
        "as above: the upload waits in the row of that execution",
    ),
    Rare(
        "ExecutionStarts ExecutionStatus ObjectEvents Reads UploadTriggers",
        "ChangeMessageVisibility",
        "ExecutionFollower ExecutionStarter IndexObjects ReadEntries UploadTrigger",
        "a batch that is given back after an outage",
    ),
    Rare(
        "ActiveExecutions Reservations WorkflowExecutionsStorageTable",
        "PutItem",
        "ExecutionFollower",
        "an execution that was interrupted is repeated",
    ),
    Rare(
        "ActiveExecutions Reservations",
        "BatchGetItem DeleteItem",
        "ExecutionStarter",
        "an execution that cannot start",
    ),
    Rare(
        "[*]",  # executions of the state machine
        "StopExecution",
        "ExecutionsApi ExecutionStarter",
        "an execution is stopped while it runs, or while it was being started",
    ),
    Rare(
        "assetauxiliarybucket/*",
        "PutObject",
        "ExecutionStarter",
        "metadata that is too large for the input of an execution",
    ),
    Rare(
        "DataKey asset*bucket asset*bucket/*",
        "Decrypt GetObject GetObjectVersion ListBucket PutObject",
        "Inspect?*",
        "files of CAD programs, buildings and stages: `make prove PART=models`",
    ),
    Rare(
        "*Reader",
        "InvokeFunction",
        "Inspect*",
        "where the kernel confines no process: `make prove PART=sandbox`",
    ),
    Rare(
        "assetauxiliarybucket assetauxiliarybucket/*",
        "GetObject ListBucket",
        "Inspect",
        "a file that an earlier pipeline of the workflow wrote",
    ),
    Rare(
        "AssetFileMetadataStorageTableV2* FileAttributeStorageTableV2* MetadataRecordSets "
        "MetadataSchemaStorageTableV2",
        "BatchGetItem DeleteItem GetItem Query",
        "ProcessOutput",
        "records that replace others, or are governed by schemas",
    ),
    Rare(
        "assetbucket/* assetauxiliarybucket/*",
        "AbortMultipartUpload DeleteObject DeleteObjectVersion ListMultipartUploadParts",
        "ProcessOutput",
        "an output of over 5 GiB, or whose asset is archived; a preview that replaces another",
    ),
    Rare("Jobs", "UpdateItem", "BucketSync", "an object comes while its asset is being archived"),
    Rare(
        "AssetUploadsStorageTable/index/*",
        "Query",
        "IngestApi",
        "a preview whose file is part of another upload",
    ),
    Rare(
        "assetauxiliarybucket",
        "ListBucketVersions",
        "LifecycleWorker",
        "a job deletes what pipelines made of a file or an asset",
    ),
    Rare(
        "AssetStorageTable", "UpdateItem", "SearchWorker", "a repair adds types to an asset's row"
    ),
    Rare(
        "ActiveExecutions Reservations WorkflowExecutionsStorageTable",
        "PutItem",
        "ExecutionStarter ReconcileExecutions",
        "an interrupted inspection is started again, by the function that finds it first",
    ),
    Rare(
        "[*]",  # executions of the state machine
        "DescribeExecution",
        "ReconcileExecutions",
        "an execution of which no event was received",
    ),
    Rare("ExecutionStarts", "SendMessage", "ExecutionStarter", "more wait than one call may start"),
    Rare(
        "ActiveExecutions DataKey Reservations WorkflowExecutionsStorageTable",
        "BatchGetItem DeleteItem Encrypt GenerateDataKey* GetItem ReEncrypt* UpdateItem",
        "ReconcileExecutions",
        "an execution of which no event was received ends five minutes after its start",
    ),
    Rare(
        "Policies RolesStorageTable UserRolesStorageTable UserStorageTable",
        "BatchGetItem GetItem Query",
        "UploadTrigger",
        "the rights of users who stored a trigger; the shipped workflows have none",
    ),
    Rare(
        "*/preview.* */previews/* *.previewFile.* vitrine-imports/previews/*",
        "GetObject GetObjectVersion",
        "SearchApi",
        "clients read the addresses of pictures that it signs, which the function does not",
    ),
)


def unexplained(roles: Mapping[str, Usage]) -> list[str]:
    """The grants of the product's functions that were not used and have no reason."""
    return [
        f"{function} {grant.action} {grant.resource}"
        for function, usage in _functions(roles)
        for grant in usage.unused()
        if not _as_in_the_own_bucket(grant, usage) and not _is_explained(function, grant)
    ]


def _functions(roles: Mapping[str, Usage]) -> Iterator[tuple[str, Usage]]:
    for role, usage in sorted(roles.items()):
        if role.startswith(_OWN):
            name = role.rpartition("-")[2].removesuffix("Role")
            if name in _FUNCTIONS:  # AWS services assume the other roles, not our code
                yield name, usage


def _as_in_the_own_bucket(grant: Grant, usage: Usage) -> bool:
    """An imported bucket is used like the deployment's own; few journeys have assets there."""
    if not grant.action.startswith("s3:") or _OWN in grant.resource:
        return False
    place = "/*" if grant.resource.endswith("/*") else ""
    own = {item for item in usage.granted if item.action == grant.action}
    return any(item.resource.endswith(f"-{_ASSET_BUCKET}{place}") for item in own)


def _is_explained(function: str, grant: Grant) -> bool:
    action, name = grant.action.partition(":")[2], _name(grant.resource)
    return any(
        action in rare.actions.split()
        and _is_among(name, rare.resource.split())
        and _is_among(function, rare.functions.split())
        for rare in RARE
    )


def _name(resource: str) -> str:
    """The declared name in an ARN: without the prefix of the stack."""
    last = resource.rpartition(":")[2].removeprefix("table/").removeprefix("key/")
    for stack in ("storage-", "indexing-"):
        last = last.removeprefix(_OWN + stack)
    return last


def _is_among(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
