"""Commands for keys, databases, records of assets, tags, and the configuration of a deployment."""

import json

import pytest
from pydantic import JsonValue
from vitrine import Vitrine
from vitrine.resources.administration import WebRoute

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell
from tests.unit.client.test_administration import DONE, Answers

KEY: dict[str, JsonValue] = {
    "apiKeyId": "k1",
    "apiKeyName": "robot",
    "userId": "ann",
    "isActive": "true",
    "expiresAt": "2027-01-31",
    "description": "Key robot",
}
ASSET: JsonValue = {"databaseId": "museum", "assetId": "lamp", "assetName": "Lamp"}


@pytest.fixture
def answers(server: FakeServer) -> Answers:
    return Answers(server)


def test_a_key_is_made_shown_once_changed_and_deleted(shell: Shell, answers: Answers) -> None:
    secret: JsonValue = {**KEY, "apiKey": "vams_secret"}
    bodies = answers.plan(secret, {"Items": [KEY]}, KEY, {**KEY, "isActive": "false"}, DONE)
    shell.run("keys", "create", "ann", "robot", "--expires", "2027-01-31")
    assert shell.out == "k1\tvams_secret\n"
    line = "k1\trobot\tann\ttrue\t2027-01-31\tKey robot\n"
    assert shell.run("keys", "list") == shell.run("keys", "show", "k1") == line
    assert "false" in shell.run("keys", "update", "k1", "--off")
    assert shell.run("keys", "delete", "k1", "--yes") == "k1\n"
    assert answers.requests == [
        "POST /auth/api-keys",
        "GET /auth/api-keys",
        "GET /auth/api-keys/k1",
        "PUT /auth/api-keys/k1",
        "DELETE /auth/api-keys/k1",
    ]
    assert bodies()[0] == {
        "apiKeyName": "robot",
        "userId": "ann",
        "description": "Key robot",
        "expiresAt": "2027-01-31",
    }
    assert bodies()[3] == {"isActive": "false"}


@pytest.mark.parametrize(
    "command",
    [
        ("keys", "delete", "k1"),
        ("keys", "update", "k1"),
        ("tag-types", "delete", "condition"),
        ("databases", "update", "museum"),
        ("assets", "update", "museum", "lamp"),
        ("assets", "update", "museum", "lamp", "--tag", "old", "--no-tags"),
    ],
)
def test_unconfirmed_and_empty_commands_send_no_request(
    shell: Shell, answers: Answers, command: tuple[str, ...]
) -> None:
    answers.plan()
    shell.run(*command)
    assert (shell.code, shell.out, answers.requests) == (2, "", [])


def test_a_database_and_an_asset_are_changed(shell: Shell, answers: Answers) -> None:
    bodies = answers.plan(DONE, {"assetId": "lamp"}, ASSET, DONE)
    shell.run("databases", "update", "museum", "--extensions", ".glb", "--only-schemas")
    assert shell.run("assets", "create", "museum", "Lamp", "--tag", "old", "--tag", "lit") == (
        "lamp\n"
    )
    shell.run("assets", "update", "museum", "lamp", "--name", "Lantern", "--no-tags")
    assert shell.code == 0
    assert answers.requests == [
        "PUT /database/museum",
        "POST /assets",
        "GET /database/museum/assets/lamp",
        "PUT /database/museum/assets/lamp",
    ]
    assert bodies() == [
        {"restrictFileUploadsToExtensions": ".glb", "restrictMetadataOutsideSchemas": True},
        {
            "databaseId": "museum",
            "assetName": "Lamp",
            "description": "Asset Lamp",
            "isDistributable": True,
            "tags": ["old", "lit"],
        },
        None,
        {"assetName": "Lantern", "tags": []},
    ]


def test_tags_and_their_types_are_changed(shell: Shell, answers: Answers) -> None:
    listed: JsonValue = {"Items": [{"tagTypeName": "state", "required": "True", "tags": ["old"]}]}
    bodies = answers.plan(DONE, DONE, DONE, listed, DONE)
    shell.run("tag-types", "create", "state", "--required")
    shell.run("tag-types", "update", "state", "--description", "How it is")
    shell.run("tags", "update", "old", "--type", "state", "--description", "Long used")
    assert shell.run("tag-types", "list") == "state\tTrue\told\t\n"
    shell.run("tag-types", "delete", "state", "--yes")
    assert answers.requests[-1] == "DELETE /tag-types/state"
    assert bodies()[:3] == [
        {"tagTypeName": "state", "description": "Tags of type state", "required": "True"},
        {"tagTypeName": "state", "description": "How it is", "required": "False"},
        {"tagName": "old", "description": "Long used", "tagTypeName": "state"},
    ]


def test_the_sign_in_settings_and_search_fields_are_printed(shell: Shell, answers: Answers) -> None:
    fields: JsonValue = {"mappings": {"properties": {"str_assetname": {"type": "text"}}}}
    answers.plan(
        {"region": "eu-central-1", "api": "https://api.test/", "cognitoUserPoolId": "p1"},
        {"featuresEnabled": "A,B"},
        {"openapi": "3.1.0"},
        {"mappings": {"asset_index": fields}},
    )
    assert shell.json("settings")["featuresEnabled"] == "A,B"
    assert json.loads(shell.run("openapi")) == {"openapi": "3.1.0"}
    assert shell.run("admin", "search", "fields") == "asset_index\tstr_assetname\ttext\n"
    assert answers.requests == [
        "GET /api/amplify-config",
        "GET /secure-config",
        "GET /openapi.json",
        "GET /search",
    ]


def test_a_file_and_a_comment_are_shown(shell: Shell, answers: Answers) -> None:
    file: JsonValue = {
        "fileName": "a.glb",
        "relativePath": "/a.glb",
        "notInspected": "Such files are not inspected",
        "versions": [{"versionId": "v2", "isLatest": True, "size": 3}],
    }
    comment: JsonValue = {
        "assetId": "lamp",
        "assetVersionId:commentId": "1:x1",
        "commentBody": "dim",
        "commentOwnerID": "ann",
    }
    answers.plan(ASSET, file, {"metadata": []}, ASSET, {"message": comment})
    assert shell.run("files", "show", "museum", "lamp", "a.glb") == "v2\t\t3 B\tlatest\n"
    assert "Such files are not inspected" in shell.err
    assert shell.run("comments", "show", "museum", "lamp", "1:x1") == "1:x1\tann\t\tdim\n"
    assert answers.requests[1].endswith("/fileInfo?filePath=%2Fa.glb&includeVersions=true")


def attribute(key: str, value: str) -> JsonValue:
    return {"metadataKey": key, "metadataValue": value, "metadataValueType": "string"}


def test_a_file_is_shown_with_its_facts_or_the_reason_of_a_refusal(
    shell: Shell, answers: Answers
) -> None:
    file: JsonValue = {"fileName": "a.glb", "relativePath": "/a.glb", "versions": []}
    read: list[JsonValue] = [attribute("fact_triangles", "12"), attribute("maker", "ann")]
    hidden: list[JsonValue] = [attribute("fact_shape", "[1]"), attribute("fact_references", "{}")]
    refused: list[JsonValue] = [attribute("fact_refused", "the file is cut off")]
    lists: list[list[JsonValue]] = [[*read, *hidden], refused, [*read, *refused]]
    planned: list[JsonValue] = []
    for records in lists:
        answer: JsonValue = {"metadata": records}
        planned += [ASSET, file, answer]
    answers.plan(*planned)
    assert shell.run("files", "show", "museum", "lamp", "a.glb") == "triangles\t12\n"
    assert shell.run("files", "show", "museum", "lamp", "a.glb") == ""
    assert shell.err == "could not be read: the file is cut off\n"
    reply = shell.json("files", "show", "museum", "lamp", "a.glb")
    assert reply["facts"] == {"triangles": "12", "refused": "the file is cut off"}


def test_the_pages_that_a_caller_may_open(client: Vitrine, answers: Answers) -> None:
    page: JsonValue = {"method": "GET", "route__path": "/assets"}
    bodies = answers.plan({"allowedRoutes": [{**page, "object__type": "web"}], "email": ""})
    (found,) = client.profiles.allowed_routes([WebRoute(method="GET", route__path="/assets")])
    assert found.route_path == "/assets"
    assert bodies() == [{"routes": [page]}]
