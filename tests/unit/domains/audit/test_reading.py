"""The routes that list entries: their parameters, their pages, and who may use them."""

from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.audit.models import audit_entity
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.routes import build_router
from backend.domains.audit.service.queries import AuditTrail
from tests.factories.access import OnlyUser
from tests.factories.assets import NOON
from tests.factories.audit import ARCHIVE, audit_service
from tests.factories.http import Client, Response

STATUE = audit_entity("asset", "museum", "statue")
LARGE = "x" * 5000


@pytest.fixture
def client(tables: Tables, objects: S3Objects) -> Client:
    """Ten edits by two users, an hour apart, and one of something else."""
    audit = audit_service(objects)
    for hour in range(10):
        user, at = Identity("ann" if hour % 2 else "bob"), NOON + timedelta(hours=hour)
        after = {"hour": hour, "text": LARGE if hour == 9 else "short"}
        tables.write(audit.entry(user, "update_asset", STATUE, after=after, at=at))
    tables.write(audit.entry(Identity("ann"), "delete_tag", audit_entity("tag", "red"), at=NOON))
    trail = AuditTrail(AuditRepository(tables), AuditArchive(objects, lambda: ARCHIVE), OnlyUser())
    return Client(build_router(trail))


def get(client: Client, **query: str) -> Response:
    return client.send("GET", "/audit", query=query)


def hours(answer: Response) -> list[Any]:
    assert answer.status == 200, answer.body
    return [item["changes"].get("hour", {}).get("after") for item in answer.body["Items"]]


def test_the_entries_of_an_entity_are_listed_newest_first(client: Client) -> None:
    answer = get(client, entity=STATUE)
    assert hours(answer) == list(range(9, -1, -1))
    assert "NextToken" not in answer.body
    assert answer.body["Items"][-1] == {
        "entity": STATUE,
        "at": "2026-03-01T12:00:00.000000Z",
        "userId": "bob",
        "operation": "update_asset",
        "changes": {"hour": {"after": 0}, "text": {"after": "short"}},
    }


def test_the_entries_of_a_user_are_listed_newest_first(client: Client) -> None:
    assert hours(get(client, userId="ann")) == [9, 7, 5, 3, 1, None]
    assert hours(get(client, userId="nobody")) == []


def test_a_token_of_one_list_is_none_of_another(client: Client) -> None:
    token = get(client, entity=STATUE, maxItems="1").body["NextToken"]
    answer = get(client, userId="ann", startingToken=token)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "startingToken")


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ({"from": "2026-03-01T20:00:00Z"}, [9, 8]),
        ({"to": "2026-03-01T13:00:00Z"}, [1, 0]),
        ({"from": "2026-03-01T13:00:00Z", "to": "2026-03-01T14:00:00"}, [2, 1]),
        ({"from": "2026-03-01T15:00:00+02:00", "to": "2026-03-01T13:30:00Z"}, [1]),
        ({"from": "2026-03-01", "to": "2026-03-01"}, list(range(9, -1, -1))),
        ({"from": "2026-03-02"}, []),
        ({"to": "2026-02-28"}, []),
    ],
)
def test_a_time_is_kept_to_with_both_ends(
    client: Client, period: dict[str, str], expected: list[int]
) -> None:
    assert hours(get(client, entity=STATUE, **period)) == expected


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"entity": STATUE, "userId": "ann"},
        {"entity": "statue"},
        {"entity": "room:1"},
        {"entity": "tag:"},
        {"entity": "asset:" + "x" * 2048},
        {"userId": ""},
        {"entity": STATUE, "from": "yesterday"},
        {"entity": STATUE, "from": "1772366400"},
        {"entity": STATUE, "from": "0001-01-01T00:00:00+14:00"},
        {"entity": STATUE, "to": "9999-12-31T23:59:59-14:00"},
        {"entity": STATUE, "from": "0999-01-01"},
        {"entity": STATUE, "from": "2026-03-02", "to": "2026-03-01"},
        {"entity": STATUE, "maxItems": "0"},
        {"entity": STATUE, "startingToken": "forged"},
    ],
)
def test_an_invalid_query_is_refused(client: Client, query: dict[str, str]) -> None:
    answer = get(client, **query)
    assert (answer.status, answer.body["code"]) == (400, "InvalidInput")


def test_a_large_value_can_be_requested(client: Client) -> None:
    (newest,) = get(client, entity=STATUE, maxItems="1").body["Items"]
    reference = newest["changes"]["text"]["afterStored"]
    assert set(reference) == {"sha256", "bytes"}
    answer = value(client, reference["sha256"], at=newest["at"])
    assert answer.body == {**reference, "value": LARGE}


@pytest.mark.parametrize(
    "other",
    [
        {"entity": audit_entity("tag", "red")},
        {"entity": audit_entity("asset", "museum", "statue2")},
        {"at": "2026-03-01T20:00:00.000000Z"},
        {"at": "2026-03-01T21:00:00.000001Z"},
    ],
)
def test_a_value_belongs_to_the_entry_that_refers_to_it(
    client: Client, other: dict[str, str]
) -> None:
    (newest,) = get(client, entity=STATUE, maxItems="1").body["Items"]
    sha256 = newest["changes"]["text"]["afterStored"]["sha256"]
    assert value(client, sha256, **{"at": newest["at"], **other}).status == 404


def test_a_value_within_very_many_changes_can_be_requested(
    client: Client, tables: Tables, objects: S3Objects
) -> None:
    after = {f"field{n}": "y" * 3000 for n in range(8)} | {"text": LARGE}
    later = NOON + timedelta(days=1)
    entry = audit_service(objects).entry(
        Identity("ann"), "update_asset", STATUE, after=after, at=later
    )
    tables.write(entry)
    (newest,) = get(client, entity=STATUE, maxItems="1").body["Items"]
    whole = value(client, newest["changesStored"]["sha256"], at=newest["at"])
    sha256 = whole.body["value"]["text"]["afterStored"]["sha256"]
    assert value(client, sha256, at=newest["at"]).body["value"] == LARGE


@pytest.mark.parametrize("query", [{"at": "today"}, {"entity": "statue"}, {"entity": "", "at": ""}])
def test_a_value_is_requested_with_its_entry(client: Client, query: dict[str, str]) -> None:
    assert value(client, "0" * 64, **query).status == 400


@pytest.mark.parametrize(("sha256", "status"), [("0" * 64, 404), ("0" * 63, 400), ("Z" * 64, 400)])
def test_a_value_that_is_not_there_is_not_found(client: Client, sha256: str, status: int) -> None:
    assert value(client, sha256).status == status


def value(client: Client, sha256: str, **more: str) -> Response:
    return client.send(
        "GET",
        f"/audit/values/{sha256}",
        route="GET /audit/values/{valueHash}",
        parameters={"valueHash": sha256},
        query={"entity": STATUE, "at": "2026-03-01T12:00:00.000000Z", **more},
    )
