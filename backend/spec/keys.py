"""Composite keys: one attribute whose value joins several parts.

Ids contain no separator, so nothing in them is escaped. The only part that may contain it, a file
path, is either the last part (then it is byte-identical to the data model) or percent-encoded (`%`,
`:`).
"""

from backend.values import frozen

PARTITION_KEY_BYTES = 2048  # DynamoDB's limit for a partition key value
SORT_KEY_BYTES = 1024  # DynamoDB's limit for a sort key value
ITEM_BYTES = 400 * 1024  # DynamoDB's limit for an item, names of attributes included

DELETED_SUFFIX = "#deleted"
"""The suffix of partitions with archived items: `my-database#deleted`."""


@frozen
class Composite:
    """An attribute that consists of `parts`, joined by `separator`.

    `build` and `parse` are inverse to each other for every tuple of parts that `build` accepts.
    """

    name: str
    parts: tuple[str, ...]
    separator: str = ":"
    encoded: frozenset[str] = frozenset()

    type: str = "S"

    def build(self, *values: str) -> str:
        """Join all parts.

        Raises:
            ValueError: the number of parts is wrong, or a part other than the last contains the
                separator (then the parts could not be separated).
        """
        if len(values) != len(self.parts):
            raise ValueError(f"{self.name} has {len(self.parts)} parts, not {len(values)}")
        return self.separator.join((*self._encode_leading(values[:-1]), values[-1]))

    def parse(self, value: str) -> tuple[str, ...]:
        """Split a stored value into its parts.

        Raises:
            ValueError: the value has too few parts.
        """
        texts = value.split(self.separator, len(self.parts) - 1)
        if len(texts) != len(self.parts):
            raise ValueError(f"{value!r} is not a {self.name}")
        if not self.encoded:
            return tuple(texts)
        return tuple(
            text.replace("%3A", ":").replace("%25", "%") if part in self.encoded else text
            for part, text in zip(self.parts, texts, strict=True)
        )

    def prefix(self, *values: str) -> str:
        """Return the prefix of all keys with these leading parts, including the separator."""
        if len(values) >= len(self.parts):
            raise ValueError(f"a prefix of {self.name} has fewer than {len(self.parts)} parts")
        return "".join(value + self.separator for value in self._encode_leading(values))

    def _encode_leading(self, values: tuple[str, ...]) -> tuple[str, ...]:
        out: list[str] = []
        for part, value in zip(self.parts, values, strict=False):
            text = value.replace("%", "%25").replace(":", "%3A") if part in self.encoded else value
            if self.separator in text:
                raise ValueError(f"{part} of {self.name} contains {self.separator!r}")
            out.append(text)
        return tuple(out)


def archived(database_id: str) -> str:
    """Return the partition of a database's archived items."""
    return database_id + DELETED_SUFFIX


def active(database_id: str) -> str:
    """Return the id of a database, from either of its two partitions."""
    return database_id.removesuffix(DELETED_SUFFIX)


def changes_of_files(asset_id: str) -> str:
    """Return the key of the reservation for the job that changes files of an asset."""
    return f"Files#{asset_id}"


def open_cursors(user_id: str) -> str:
    """Return the key of the item that lists the open cursors of a user's searches."""
    return f"Cursors#{user_id}"


def run_outputs(execution_id: str) -> str:
    """Return the key of the item that records which outputs of an execution are stored."""
    return f"Outputs#{execution_id}"


def quarantine(bucket: str, version_id: str, key: str) -> str:
    """Return the key of the item for an object version in which a malware scan found a threat.

    Only the last part, the object's key, may contain the separator.
    """
    return f"Quarantine#{bucket}#{version_id}#{key}"


def execution(execution_id: str) -> str:
    """Return the key of the item that finds an execution by its id alone."""
    return f"Execution#{execution_id}"


ADMITTED_EXECUTIONS = "Executions#admitted"
"""The key of the item that counts admitted executions that have not ended."""


def last_place(user_id: str) -> str:
    """Return the key of the item that records when an execution of a user last ended."""
    return f"LastPlace#{user_id}"


def event_numbers(database_id: str, asset_id: str) -> str:
    """Return the key of the counter of events of an asset, which continues if the id is reused."""
    return f"Events#{ASSET.build(database_id, asset_id)}"


def event(event_id: str) -> str:
    """Return the key of the item with the number of an event."""
    return f"Event#{event_id}"


def version_numbers(database_id: str, asset_id: str) -> str:
    """Return the key of the counter of version numbers of an asset.

    The counter is not in the asset's row, each change of which is indexed, and not in the partition
    of its versions, which is deleted with the asset: a new asset of the id continues the numbers.
    """
    return f"Versions#{ASSET.build(database_id, asset_id)}"


ASSET = Composite("databaseId:assetId", ("databaseId", "assetId"))
ASSET_VERSION = Composite(
    "databaseId:assetId:assetVersionId", ("databaseId", "assetId", "assetVersionId")
)
FILE = Composite("databaseId:assetId:filePath", ("databaseId", "assetId", "filePath"))
FILE_VERSION = Composite("versionId:filePath", ("versionId", "filePath"))
SNAPSHOT = Composite(
    "type:filePath:metadataKey",
    ("type", "filePath", "metadataKey"),
    encoded=frozenset({"filePath"}),
)
SCHEMA_SCOPE = Composite("databaseId:metadataEntityType", ("databaseId", "metadataEntityType"))
LINK_FROM = Composite("fromAssetDatabaseId:fromAssetId", ("fromAssetDatabaseId", "fromAssetId"))
LINK_TO = Composite("toAssetDatabaseId:toAssetId", ("toAssetDatabaseId", "toAssetId"))
WORKFLOW = Composite("workflowDatabaseId:workflowId", ("workflowDatabaseId", "workflowId"))
COMMENT = Composite("assetVersionId:commentId", ("assetVersionId", "commentId"))
BUCKET_LOCATION = Composite("bucketName:baseAssetsPrefix", ("bucketName", "baseAssetsPrefix"))
SUBSCRIBED_ENTITY = Composite("entityName_entityId", ("entityName", "entityId"), separator="_")

COMPOSITES = (
    ASSET,
    ASSET_VERSION,
    FILE,
    FILE_VERSION,
    SNAPSHOT,
    SCHEMA_SCOPE,
    LINK_FROM,
    LINK_TO,
    WORKFLOW,
    COMMENT,
    BUCKET_LOCATION,
    SUBSCRIBED_ENTITY,
)
