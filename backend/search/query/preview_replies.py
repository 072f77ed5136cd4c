"""Requests for previews by name, and replies without previews. Pure."""

from collections.abc import Mapping, Sequence

from backend.core.search_engine import JsonObject
from backend.domains.assets.models import Asset
from backend.domains.files.rules import file_key
from backend.search.indexing.projections import document_id
from backend.search.query.models import MAX_PREVIEWED, PreviewName
from backend.search.query.plan import TOMBSTONE
from backend.search.query.replies import NamedPreview
from backend.spec.search_indexes import (
    ASSET_INDEX,
    FILE_INDEX,
    PREVIEW_VERSION,
    SMALL_PREVIEW_VERSION,
)

OMITTED = "The audit log cannot record now who reads previews; try again"
_NAMED_FIELDS = [
    *("_rectype", "str_databaseid", "str_assetid", "str_key", "str_s3_version_id"),
    *("str_bucketname", "str_bucketprefix", "str_previewfilekey", "bool_archived"),
    *(PREVIEW_VERSION, SMALL_PREVIEW_VERSION),
]


def without_previews(reply: JsonObject) -> JsonObject:
    """Return the reply of a search without URLs, because they cannot be recorded."""
    hits = [_plain(hit) for hit in reply["hits"]["hits"]]
    return {**reply, "hits": {**reply["hits"], "hits": hits}, "previewsOmitted": OMITTED}


def _plain(hit: JsonObject) -> JsonObject:
    kept = {name: part for name, part in hit.items() if name != "preview"}
    return kept | ({"files": [_plain(file) for file in hit["files"]]} if "files" in hit else {})


def names_query(
    names: Sequence[PreviewName], assets: Mapping[str, Asset], visible: JsonObject
) -> tuple[JsonObject, dict[int, tuple[str, str]]]:
    """Return the request for the documents of files and assets, and by number their type and id.

    Raises:
        InvalidInputError: a key is not the path of a file.
    """
    places: dict[int, tuple[str, str]] = {}
    for number, name in enumerate(names):
        asset = assets.get(name.asset_id)
        if asset is None or asset.database_id != name.database_id:
            continue
        ids = asset.database_id, asset.asset_id
        if name.key is None:
            places[number] = ASSET_INDEX.record_type, document_id(*ids)
            continue
        key = file_key(asset.asset_location.key, name.key, field=f"items.{number}.key")
        places[number] = FILE_INDEX.record_type, document_id(*ids, key)
    wanted = {"ids": {"values": sorted({name for _, name in places.values()})}}
    request: JsonObject = {
        "query": {"bool": {"filter": [visible, wanted], "must_not": [TOMBSTONE]}},
        "size": 2 * MAX_PREVIEWED,  # an id may be in both indexes
        "track_total_hits": False,
        "_source": _NAMED_FIELDS,
    }
    return request, places


def named_preview(name: PreviewName, hit: JsonObject) -> NamedPreview:
    """Return the preview of a hit under the name that the request has for it."""
    parts = {part: hit[part] for part in ("preview", "previewMissing") if part in hit}
    return NamedPreview.model_validate({**name.model_dump(by_alias=True), **parts})
