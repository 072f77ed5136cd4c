"""The keys of the items that count a database's content. Pure."""

from typing import Literal
from zlib import crc32

Definition = Literal["pipelines", "workflows", "tagTypes"]
"""Contents of a database besides assets. A database cannot be deleted while any of it is active."""

# Items over which the count is distributed. An item accepts 1,000 write units a second, which is
# 500 transactions.
COUNT_SHARDS = 4


def definitions_key(database_id: str) -> str:
    """Return the key of the item that counts a database's active definitions.

    Unlike the parts of the asset count, it is created with the first of them.
    """
    return f"Definitions#{database_id}"


def count_keys(database_id: str) -> tuple[str, ...]:
    """Return the keys of all parts of a database's count, which exist while it may have assets."""
    # Counting an asset requires that its part exists, which is the check that the database does: a
    # deletion removes the parts on the condition that they are 0.
    return tuple(_count_key(database_id, shard) for shard in range(COUNT_SHARDS))


def count_key(database_id: str, asset_id: str) -> str:
    """Return the key of the part that counts this asset."""
    # By the asset's id, so that each asset is counted in and out of the same part and none goes
    # below 0.
    return _count_key(database_id, crc32(asset_id.encode()) % COUNT_SHARDS)


def _count_key(database_id: str, shard: int) -> str:
    return f"AssetCount#{database_id}#{shard}"
