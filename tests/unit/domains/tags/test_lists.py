"""Tags and tag types written as lists, as the command line of VAMS sends them."""

import pytest

from tests.factories.http import Client
from tests.unit.domains.tags.test_tags import COLOUR, RED, client, service

__all__ = ["client", "service"]


def test_tags_and_types_are_written_as_lists(client: Client) -> None:
    """As the command line of VAMS sends them."""
    types = [COLOUR, {"tagTypeName": "state", "description": "How it is", "required": "True"}]
    answer = client.send("POST", "/tag-types", body={"tagTypes": types})
    assert (answer.status, answer.body["message"]) == (200, "2 tag types were created")
    tags = [RED, {**RED, "tagName": "blue"}]
    answer = client.send("POST", "/tags", body={"tags": tags})
    assert (answer.status, answer.body["tagName"]) == (200, "red")
    changed = client.send("PUT", "/tags", body={"tags": [{**RED, "description": "Quite red"}]})
    assert changed.body["message"] == "Tag red was changed"
    again = client.send("PUT", "/tag-types", body={"tagTypes": [{**COLOUR, "required": "True"}]})
    assert again.status == 200
    shown = client.send("GET", "/tags").body["Items"]
    assert {tag["tagName"]: tag["description"] for tag in shown} == {
        "red": "Quite red",
        "blue": "Mostly red",
    }


@pytest.mark.parametrize(
    ("path", "body", "field", "fact"),
    [
        (
            "/tags",
            {},
            "description",
            "is required; the required fields are description, tagName, tagTypeName",
        ),
        ("/tags", {"tags": []}, "tags", "at least 1"),
        ("/tags", {"tags": [{"tagName": "red"}]}, "tags.0.description", "required"),
        ("/tags", {**RED, "tagName": None}, "tagName", "is required"),
        ("/tag-types", {"tagTypeName": "x"}, "description", "To send a list, use 'tagTypes'"),
        ("/tag-types", {"tagTypes": [COLOUR] * 101}, "tagTypes", "at most 100"),
    ],
)
def test_a_body_without_tags_names_what_is_missing(
    client: Client, path: str, body: dict[str, object], field: str, fact: str
) -> None:
    answer = client.send("POST", path, body=body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert fact in answer.body["message"]


def test_a_missing_body_names_the_required_fields(client: Client) -> None:
    answer = client.send("POST", "/tags")
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "body")
    assert (
        "description: is required; the required fields are description, tagName, tagTypeName"
        in answer.body["message"]
    )
