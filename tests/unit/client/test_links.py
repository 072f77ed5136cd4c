"""Links between assets and exports, seen from the client."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import JsonValue
from vitrine import ConflictError, LinkMetadataOwner, NotFoundError, ProtocolError, Vitrine
from vitrine.resources.exports import ExportedAsset, ExportFlags, UnseenAsset

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

LINKS = "^/asset-links"
EXPORT = "/export$"


@pytest.fixture
def hall(server: FakeServer, client: Vitrine) -> str:
    """An asset and another one beside it; the id of the first."""
    created = [
        client.assets.create("museum", name, description="Made of stone", asset_id=f"x{name}")
        for name in ("hall", "statue")
    ]
    return created[0].asset_id


@pytest.fixture(autouse=True)
def museum(client: Vitrine, server: FakeServer) -> None:
    client.databases.create(
        "museum", description="All of it", default_bucket_id=next(client.buckets.list()).bucket_id
    )


def body_of(server: FakeServer) -> Any:
    """The body of the last request."""
    return json.loads(server.sent[-1].content)


def ok(body: JsonValue) -> httpx.Response:
    return httpx.Response(200, json=body)


def refusal(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"message": message, "code": "Odd"})


def node(name: str, **more: JsonValue) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {
        "assetId": name,
        "assetName": f"The {name}",
        "databaseId": "museum",
        "assetLinkId": f"to-{name}",
        "assetLinkAliasId": None,
    }
    return fields | more


def linked(**more: JsonValue) -> dict[str, JsonValue]:
    counts: JsonValue = {"related": 0, "parents": 0, "children": 0}
    fields: dict[str, JsonValue] = {
        "related": [],
        "parents": [],
        "children": [],
        "unauthorizedCounts": counts,
        "message": "Success",
    }
    return fields | more


def test_a_link_is_made_changed_and_removed(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", LINKS, ok({"assetLinkId": "one", "message": "Done"}))
    created = client.links.create(("museum", "hall"), ("depot", "crate"), alias="left")
    assert created.asset_link_id == "one"
    assert body_of(server) == {
        "fromAssetDatabaseId": "museum",
        "fromAssetId": "hall",
        "toAssetDatabaseId": "depot",
        "toAssetId": "crate",
        "relationshipType": "parentChild",
        "assetLinkAliasId": "left",
        "tags": [],
    }
    server.fail("PUT", "^/asset-links/one$", ok({"message": "Done"}))
    assert client.links.update("one", alias="").message == "Done"
    server.fail("DELETE", "^/asset-links/one$", ok({"message": "Gone"}))
    assert client.links.delete("one").message == "Gone"
    server.fail("POST", LINKS, refusal(409, "already"))
    with pytest.raises(ConflictError):
        client.links.create(("museum", "hall"), ("depot", "crate"))


def test_a_link_and_a_tree_are_read(client: Vitrine, server: FakeServer) -> None:
    body: JsonValue = {
        "assetLink": {
            "assetLinkId": "one",
            "fromAssetId": "hall",
            "fromAssetDatabaseId": "museum",
            "toAssetId": "statue",
            "toAssetDatabaseId": "museum",
            "relationshipType": "parentChild",
            "assetLinkAliasId": None,
            "tags": ["old"],
        },
        "message": "Success",
    }
    server.fail("GET", "^/asset-links/single/one$", ok(body), refusal(404, "none"))
    assert client.links.get("one").tags == ("old",)
    with pytest.raises(NotFoundError):
        client.links.get("one")
    tree: JsonValue = [node("statue", children=[node("plinth", children=[])])]
    server.fail("GET", "/asset-links$", ok(linked(children=tree, truncated=True)))
    found = client.links.of("museum", "hall", tree=True)
    assert found.children[0].children[0].asset_id == "plinth"
    assert found.truncated


def test_metadata_of_a_link_is_listed(client: Vitrine, server: FakeServer) -> None:
    record: JsonValue = {"metadataKey": "k", "metadataValue": "v", "metadataValueType": "string"}
    server.fail("GET", "^/asset-links/one/metadata$", ok({"metadata": [record]}))
    assert [one.metadata_key for one in client.metadata.list(LinkMetadataOwner("one"))] == ["k"]


def test_the_commands_list_a_tree_and_report_what_is_not_shown(
    shell: Shell, server: FakeServer, hall: str
) -> None:
    tree: JsonValue = [node("statue", children=[node("plinth", children=[])])]
    hidden: JsonValue = {"related": 0, "parents": 2, "children": 1}
    body = linked(children=tree, truncated=True, message="More below", unauthorizedCounts=hidden)
    server.fail("GET", "/asset-links$", ok(body), ok(body))
    lines = shell.run("links", "list", "museum", "hall", "--tree").splitlines()
    assert [line.split("\t")[:2] for line in lines] == [
        ["child", "The statue"],
        ["child", "  The plinth"],
    ]
    assert "3 more without permission to see them" in shell.err
    assert "More below" in shell.err
    assert shell.json("links", "list", "museum", hall)["truncated"] is True


def test_the_commands_make_edit_and_remove_links(
    shell: Shell, server: FakeServer, hall: str
) -> None:
    server.fail("POST", LINKS, ok({"assetLinkId": "one", "message": "Done"}))
    made = shell.run("links", "create", "museum", "hall", "statue", "--kind", "related")
    assert made == "one\n"
    assert body_of(server)["relationshipType"] == "related"
    assert body_of(server)["fromAssetId"] == hall
    server.fail("PUT", LINKS, ok({"message": "Done"}))
    assert shell.run("links", "edit", "one", "--no-tags") == "one\n"
    assert body_of(server) == {"tags": []}
    server.fail("DELETE", LINKS, ok({"message": "Done"}), refusal(404, "none"))
    assert shell.run("links", "delete", "one", "--yes") == "one\n"
    shell.run("links", "delete", "one", "--yes")
    assert shell.code == 3


@pytest.mark.parametrize("more", [[], ["--tag", "a", "--no-tags"]])
def test_the_command_requires_something_to_edit(shell: Shell, more: list[str]) -> None:
    shell.run("links", "edit", "one", *more)
    assert shell.code == 2


def test_the_commands_show_a_link_and_its_metadata(shell: Shell, server: FakeServer) -> None:
    link: JsonValue = {
        "assetLinkId": "one",
        "fromAssetId": "hall",
        "fromAssetDatabaseId": "museum",
        "toAssetId": "statue",
        "toAssetDatabaseId": "depot",
        "relationshipType": "related",
        "tags": ["a", "b"],
    }
    server.fail("GET", "single/one$", ok({"assetLink": link, "message": "Success"}))
    assert shell.run("links", "show", "one") == "museum/hall\tdepot/statue\trelated\t\ta, b\n"
    record: JsonValue = {"metadataKey": "k", "metadataValue": "v", "metadataValueType": "string"}
    server.fail("GET", "/metadata$", ok({"metadata": [record]}))
    assert shell.run("links", "get-metadata", "one") == "k\tv\tstring\n"
    failed: JsonValue = [{"key": "k", "error": "No"}]
    server.fail("PUT", "/metadata$", ok(bulk()), ok(bulk(failedItems=failed, failureCount=1)))
    assert shell.run("links", "set-metadata", "one", "k", "v") == "k\tv\n"
    shell.run("links", "set-metadata", "one", "k", "v")
    assert (shell.code, shell.err) == (1, "error: k: No\n")


def bulk(**more: JsonValue) -> JsonValue:
    fields: dict[str, JsonValue] = {
        "success": True,
        "totalItems": 1,
        "successCount": 1,
        "failureCount": 0,
        "successfulItems": ["k"],
        "failedItems": [],
        "message": "Done",
        "timestamp": "2026-03-01T12:00:00.000000Z",
    }
    return fields | more


def exported(name: str, *sizes: int) -> dict[str, JsonValue]:
    files: JsonValue = [
        {"relativePath": f"/{number}.glb", "size": size, "isFolder": False}
        for number, size in enumerate(sizes)
    ]
    return {"assetid": name, "databaseid": "museum", "assetname": f"The {name}", "files": files}


def page(*assets: JsonValue, **more: JsonValue) -> httpx.Response:
    counts = {"totalAssetsInTree": 3, "assetsInThisPage": len(assets)}
    return ok({"assets": list(assets), **counts, **more})


HIDDEN: JsonValue = {"assetId": "vault", "databaseId": "depot", "unauthorizedAsset": True}


def test_an_export_is_read_page_by_page(client: Vitrine, server: FakeServer) -> None:
    first = page(exported("hall", 1, 2), HIDDEN, relationships=[], NextToken="t")
    server.fail("POST", EXPORT, first, page(exported("hall", 3)))
    flags = ExportFlags(fetch_entire_children_subtrees=True, file_extensions=[".glb"])
    pages = list(client.exports.pages("museum", "hall", flags))
    assert [type(one) for one in pages[0].assets] == [ExportedAsset, UnseenAsset]
    assert body_of(server)["startingToken"] == "t"
    assert body_of(server)["fetchEntireChildrenSubtrees"] is True
    assert body_of(server)["fileExtensions"] == [".glb"]


def test_an_export_that_goes_in_circles_is_an_error(client: Vitrine, server: FakeServer) -> None:
    pages = [page(exported("hall"), NextToken="t") for _ in range(3)]
    server.fail("POST", EXPORT, *pages)
    with pytest.raises(ProtocolError, match="twice"):
        list(client.exports.pages("museum", "hall"))


def test_the_command_exports_lines_json_or_a_file(
    shell: Shell, server: FakeServer, hall: str, tmp_path: Path
) -> None:
    def answers() -> list[httpx.Response]:
        first = page(exported("hall", 512, 512), HIDDEN, NextToken="t", unauthorizedAssetCount=2)
        return [first, page(exported("cup"), unauthorizedAssetCount=2)]

    server.fail("POST", EXPORT, *answers())
    assert shell.run("export", "museum", "hall", "--depth", "tree", "--add", "urls") == (
        "museum\thall\tThe hall\t2\t1.0 KiB\ndepot\tvault\t(not visible)\t\t\n"
        "museum\tcup\tThe cup\t0\t0 B\n"
    )
    sent = body_of(server)
    assert (sent["generatePresignedUrls"], sent["includeArchivedFiles"]) == (True, False)
    server.fail("POST", EXPORT, *answers())
    reply = [
        json.loads(line) for line in shell.run("export", "museum", hall, "--json").splitlines()
    ]
    assert [one["assetsInThisPage"] for one in reply] == [2, 1]
    assert reply[0]["assets"][1] == HIDDEN
    assert reply[0]["assets"][0]["assetid"] == "hall"
    target = tmp_path / "pages.jsonl"
    server.fail("POST", EXPORT, *answers())
    shell.run("export", "museum", "hall", "--leave-out", "metadata", "-o", str(target))
    assert [json.loads(line) for line in target.read_text().splitlines()] == reply
    assert body_of(server)["includeFileMetadata"] is False
