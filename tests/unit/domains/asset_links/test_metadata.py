"""Metadata of links: by the same rules as that of everything else, for who may at both ends."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.asset_links.models import AssetLink
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.metadata.models import NewRecord
from backend.spec.routes import Action
from backend.spec.tables.assets import ASSET_LINKS_METADATA
from backend.spec.tables.metadata import RECORD_SETS
from tests.factories.assets import ADMIN
from tests.factories.links import Links
from tests.unit.domains.asset_links.test_linking import rows


def record(key: str, value: str = "1", kind: str = "string") -> dict[str, Any]:
    return {"metadataKey": key, "metadataValue": value, "metadataValueType": kind}


@pytest.fixture
def link_id(museum: Links) -> str:
    return museum.link("hall", "statue")


def keys(museum: Links, link_id: str) -> list[str]:
    answer = museum.describe("GET", link_id)
    assert answer.status == 200, answer.body
    return [one["metadataKey"] for one in answer.body["metadata"]]


def test_records_are_added_changed_and_removed(museum: Links, link_id: str) -> None:
    place = record("place", '{"x":1,"y":2,"z":3}', "xyz")
    added = museum.describe("POST", link_id, metadata=[place, record("note")])
    assert (added.status, added.body["successCount"]) == (200, 2)
    again = museum.describe("POST", link_id, metadata=[record("note"), record("more")])
    assert again.body["failedItems"] == [{"key": "note", "error": "The key already exists"}]
    reply = museum.describe("GET", link_id).body
    assert reply["restrictMetadataOutsideSchemas"] is False
    assert [one["metadataKey"] for one in reply["metadata"]] == ["more", "note", "place"]
    assert reply["metadata"][2]["assetLinkId"] == link_id
    assert reply["metadata"][2]["metadataValueType"] == "xyz"
    changed = museum.describe("PUT", link_id, metadata=[record("note", "2")])
    assert changed.body["successfulItems"] == ["note"]
    replaced = [record("only")]
    museum.describe("PUT", link_id, metadata=replaced, updateType="replace_all")
    assert keys(museum, link_id) == ["only"]
    removed = museum.describe("DELETE", link_id, metadataKeys=["only", "none"])
    assert (removed.body["successCount"], removed.body["failureCount"]) == (1, 1)
    assert keys(museum, link_id) == []


def test_what_is_wrong_is_refused(museum: Links, link_id: str) -> None:
    wrong: tuple[list[dict[str, Any]], ...] = (
        [],
        [record("")],
        [record("x" * 257)],
        [record("a", "no number", "number")],
        [record("a", kind="colour")],
        [record("a"), record("a")],
        [record(f"k{n}") for n in range(501)],
    )
    for metadata in wrong:
        assert museum.describe("POST", link_id, metadata=metadata).status == 400
    assert museum.describe("PUT", link_id, metadata=[record("a")], updateType="x").status == 400
    assert museum.describe("DELETE", link_id, metadataKeys=[]).status == 400
    assert keys(museum, link_id) == []


def test_a_link_that_is_not_there_has_no_metadata(museum: Links, link_id: str) -> None:
    assert museum.delete(link_id).status == 200
    body = {"metadata": [record("a")]}
    answers = [
        museum.describe("GET", link_id),
        museum.describe("POST", link_id, **body),
        museum.describe("PUT", link_id, **body),
        museum.describe("DELETE", link_id, metadataKeys=["a"]),
    ]
    assert {(one.status, one.body["code"]) for one in answers} == {(404, "AssetLinkNotFound")}


def test_a_removed_link_takes_its_records_and_their_count_along(
    museum: Links, link_id: str, tables: Tables
) -> None:
    museum.describe("POST", link_id, metadata=[record("a"), record("b")])
    assert len(rows(tables, RECORD_SETS)) == 1
    assert museum.delete(link_id).status == 200
    assert rows(tables, ASSET_LINKS_METADATA) == rows(tables, RECORD_SETS) == []


class RemovedLinks(AssetLinkService):
    """Links that someone else removes as soon as they were looked at."""

    def link_for(self, caller: Identity, action: Action, asset_link_id: str) -> AssetLink:
        link = AssetLinkService.link_for(self, caller, action, asset_link_id)
        self.links.remove(link)
        return link


def test_a_link_that_goes_while_records_are_written_gets_none(
    museum: Links, link_id: str, tables: Tables
) -> None:
    links = museum.service
    removed = RemovedLinks(links.links, links.assets, links.audit, links.clock)
    service = replace(museum.metadata, links=removed)
    with pytest.raises(NotFoundError):
        service.add_metadata(ADMIN, link_id, [NewRecord.model_validate(record("a"))])
    assert rows(tables, ASSET_LINKS_METADATA) == rows(tables, RECORD_SETS) == []
