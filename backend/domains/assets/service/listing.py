"""Reads assets of several partitions of their table as one list."""

from collections.abc import Sequence

from backend.core.paging import Page, PageRequest
from backend.domains.assets.models import Asset
from backend.domains.assets.repository import AssetRepository


def list_in_partitions(
    assets: AssetRepository, partitions: Sequence[str], page: PageRequest
) -> Page[Asset]:
    """Return a page of two partitions at the most, the second one after the first.

    A position names the partition in which it is, and the last asset that was read of it, if any.
    """
    place = page.after or {"databaseId": partitions[0]}
    partition = place["databaseId"]
    after = place if "assetId" in place else None
    found = assets.list_in_partition(partition, PageRequest(page.limit, after))
    if found.after is None and partition != partitions[-1]:
        return Page(found.items, {"databaseId": partitions[-1]})
    return found
