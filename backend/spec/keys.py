"""Composite keys: one attribute whose value joins several parts.

Ids hold no separator, so nothing in them is escaped. The one part that may hold it, a file path, is
either the last part (then it is byte-identical to the data model) or percent-encoded (`%`, `:`).
"""

from backend.values import frozen

PARTITION_KEY_BYTES = 2048  # DynamoDB's limit for a partition key value
SORT_KEY_BYTES = 1024  # DynamoDB's limit for a sort key value
ITEM_BYTES = 400 * 1024  # DynamoDB's limit for an item, names of attributes included

DELETED_SUFFIX = "#deleted"
"""Marks the partition of archived items: `my-database#deleted`."""


@frozen
class Composite:
    """An attribute made of `parts`, joined by `separator`.

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
            ValueError: the number of parts is wrong, or a part that is not the last one holds the
                separator (the parts could not be separated again).
        """
        if len(values) != len(self.parts):
            raise ValueError(f"{self.name} has {len(self.parts)} parts, {len(values)} given")
        return self.separator.join((*self._leading(values[:-1]), values[-1]))

    def parse(self, value: str) -> tuple[str, ...]:
        """Split a stored value into its parts.

        Raises:
            ValueError: the value has too few parts.
        """
        found = value.split(self.separator, len(self.parts) - 1)
        if len(found) != len(self.parts):
            raise ValueError(f"{value!r} is not a {self.name}")
        if not self.encoded:
            return tuple(found)
        return tuple(
            _decode(text) if part in self.encoded else text
            for part, text in zip(self.parts, found, strict=True)
        )

    def prefix(self, *values: str) -> str:
        """The beginning that all keys with these leading parts share, separator included."""
        if len(values) >= len(self.parts):
            raise ValueError(f"a prefix of {self.name} has fewer than {len(self.parts)} parts")
        return "".join(value + self.separator for value in self._leading(values))

    def _leading(self, values: tuple[str, ...]) -> tuple[str, ...]:
        out: list[str] = []
        for part, value in zip(self.parts, values, strict=False):
            text = _encode(value) if part in self.encoded else value
            if self.separator in text:
                raise ValueError(f"{part} of {self.name} holds {self.separator!r}")
            out.append(text)
        return tuple(out)


def _encode(text: str) -> str:
    return text.replace("%", "%25").replace(":", "%3A")


def _decode(text: str) -> str:
    return text.replace("%3A", ":").replace("%25", "%")


def archived(database_id: str) -> str:
    """The partition that holds a database's archived items."""
    return database_id + DELETED_SUFFIX


def active(database_id: str) -> str:
    """The id of the database, whichever of its two partitions is given."""
    return database_id.removesuffix(DELETED_SUFFIX)


def changes_of_files(asset_id: str) -> str:
    """The reservation that says which job changes files of an asset."""
    return f"Files#{asset_id}"


def open_cursors(user_id: str) -> str:
    """The item that names the open cursors of a user's searches."""
    return f"Cursors#{user_id}"


def run_outputs(execution_id: str) -> str:
    """The item that says how far the outputs of an execution are stored."""
    return f"Outputs#{execution_id}"


def quarantine(bucket: str, version_id: str, key: str) -> str:
    """The item of an object version in which a malware scan found a threat.

    Only the last part, the object's key, may hold the separator.
    """
    return f"Quarantine#{bucket}#{version_id}#{key}"


def execution(execution_id: str) -> str:
    """The item that finds an execution by its id alone."""
    return f"Execution#{execution_id}"


ADMITTED_EXECUTIONS = "Executions#admitted"
"""The item that counts the executions that were admitted and have not ended."""


def version_numbers(database_id: str, asset_id: str) -> str:
    """The reservation that counts the numbers drawn for versions of an asset."""
    return f"Versions#{ASSET.build(database_id, asset_id)}"


ASSET = Composite("databaseId:assetId", ("databaseId", "assetId"))
ASSET_VERSION = Composite(
    "databaseId:assetId:assetVersionId", ("databaseId", "assetId", "assetVersionId")
)
FILE = Composite("databaseId:assetId:filePath", ("databaseId", "assetId", "filePath"))
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
    SNAPSHOT,
    SCHEMA_SCOPE,
    LINK_FROM,
    LINK_TO,
    WORKFLOW,
    COMMENT,
    BUCKET_LOCATION,
    SUBSCRIBED_ENTITY,
)
