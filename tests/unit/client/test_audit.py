"""The audit trail seen from the client."""

import httpx
import pytest
from pydantic import JsonValue
from vitrine import InvalidInputError, NotFoundError, Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

HASH = "0" * 64
NOON = "2026-03-01T12:00:00.000000Z"
AUDIT = "^/audit"


def entry(**more: JsonValue) -> dict[str, JsonValue]:
    return {
        "entity": "tag:red",
        "at": NOON,
        "userId": "ann",
        "operation": "update_tag",
        "changes": {"description": {"before": "a", "after": "b"}},
        **more,
    }


def page(*items: JsonValue, **more: JsonValue) -> httpx.Response:
    return httpx.Response(200, json={"Items": list(items), **more})


def refusal(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"message": message, "code": "Odd"})


def test_entries_of_all_pages_are_listed(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", AUDIT, page(entry(), NextToken="t"), page(entry(userId="bob")))
    found = list(client.audit.list(entity="tag:red", since="2026-03-01"))
    assert [one.user_id for one in found] == ["ann", "bob"]
    change = found[0].changes["description"]
    assert (change.before, change.after) == ("a", "b")


def test_a_large_value_is_read_by_its_hash(client: Vitrine, server: FakeServer) -> None:
    body = {"sha256": HASH, "bytes": 5, "value": {"k": 1}}
    server.fail("GET", AUDIT, httpx.Response(200, json=body), refusal(404, "there is none"))
    assert client.audit.value(HASH, entity="tag:red", at=NOON).value == {"k": 1}
    with pytest.raises(NotFoundError):
        client.audit.value(HASH, entity="tag:red", at=NOON)
    requests = [request.url.params for request in server.sent if "/audit/" in request.url.path]
    assert [(each["entity"], each["at"]) for each in requests] == [("tag:red", NOON)] * 2


def test_what_the_server_refuses_is_an_error(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", AUDIT, refusal(400, "exactly one of entity and userId is required"))
    with pytest.raises(InvalidInputError, match="exactly one"):
        list(client.audit.list())


def test_the_command_lists_entries_in_lines_or_as_json(shell: Shell, server: FakeServer) -> None:
    reference: JsonValue = {"sha256": HASH, "bytes": 20_000}
    many = entry(changes={}, changesStored=reference)
    server.fail("GET", AUDIT, page(entry(), many), page(entry()))
    first, second = shell.run("audit", "list", "--entity", "tag:red").splitlines()
    assert first.split("\t")[1:] == ["ann", "update_tag", "tag:red", "description"]
    assert second.endswith(f"see the value {HASH}")
    assert shell.json("audit", "list", "--user", "ann")["items"] == [entry()]


def test_the_command_lists_no_more_than_the_limit(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", AUDIT, page(entry(), entry(), NextToken="t"), page(entry()))
    assert len(shell.run("audit", "list", "--user", "ann", "--limit", "2").splitlines()) == 2
    assert [dict(request.url.params).get("pageSize") for request in server.sent] == ["3", "3"]


@pytest.mark.parametrize("arguments", [[], ["--entity", "tag:red", "--user", "ann"]])
def test_the_command_requires_an_entity_or_a_user(shell: Shell, arguments: list[str]) -> None:
    shell.run("audit", "list", *arguments)
    assert shell.code == 2


def test_the_command_shows_a_value_or_reports_that_there_is_none(
    shell: Shell, server: FakeServer
) -> None:
    body = {"sha256": HASH, "bytes": 5, "value": "text"}
    server.fail("GET", AUDIT, httpx.Response(200, json=body), refusal(404, "there is none"))
    of = ["--entity", "tag:red", "--at", NOON]
    assert shell.run("audit", "value", HASH, *of) == '"text"\n'
    shell.run("audit", "value", HASH, *of)
    assert shell.code == 3


def test_the_command_can_list_refusals_alone(shell: Shell, server: FakeServer) -> None:
    denied: JsonValue = {
        "refusal": "route",
        "route": "PUT /roles",
        "action": "PUT",
        "objectType": "role",
        "path": {},
        "leftOut": 7,
    }
    refused = entry(entity="denial:PUT /roles", operation="update_role", changes={}, denied=denied)
    server.fail("GET", AUDIT, page(entry(), refused), page(refused))
    line = shell.run("audit", "list", "--user", "ann", "--denied")
    assert line.strip().endswith(
        "\tupdate_role\tdenial:PUT /roles\trefused: PUT /roles and 7 before"
    )
    assert shell.json("audit", "list", "--entity", "PUT /roles", "--denied")["items"] == [refused]
    assert server.sent[-1].url.params["entity"] == "denial:PUT /roles"
