"""One user who opens cursors without end closes only cursors of their own."""

from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.runtime import Api, Runtime, wait_until

MAX_OPEN = 10
ASSETS = 3


@pytest.fixture
def page(api: Api, database: str) -> dict[str, Any]:
    """The first page of a search that has two more."""
    for number in range(ASSETS):
        api.new_asset(database, f"pump {number}")
    wait_until(lambda: len(api.search(databaseId=database)) == ASSETS)
    term = {"query_string": {"query": f'str_databaseid:"{database}"'}}
    return {"filters": [term], "aggregations": False, "size": 1, "after": ""}


def new_user(runtime: Runtime, api: Api) -> Api:
    """A client with the key of a user of its own, who sees everything."""
    user = f"user-{uuid4().hex[:8]}"
    api.ok("POST", "/user-roles", {"userId": user, "roleName": ["admin"]})
    key = {"apiKeyName": "Own", "userId": user, "description": "For cursors"}
    return runtime.client(api.ok("POST", "/auth/api-keys", key)["apiKey"])


def opened(client: Api, page: dict[str, Any]) -> str:
    return client.ok("POST", "/search", page)["after"]


def test_the_eleventh_cursor_closes_the_oldest_which_says_so(
    runtime: Runtime, api: Api, page: dict[str, Any]
) -> None:
    user, other = new_user(runtime, api), new_user(runtime, api)
    others = opened(other, page)
    cursors = [opened(user, page) for _ in range(3 * MAX_OPEN)]
    for cursor in cursors[:-MAX_OPEN]:
        status, said = user.refused("POST", "/search", {**page, "after": cursor})
        assert (status, said["code"], said["errors"][0]["field"]) == (410, "CursorClosed", "after")
    for client, cursor in ((user, cursors[-MAX_OPEN]), (user, cursors[-1]), (other, others)):
        assert len(client.ok("POST", "/search", {**page, "after": cursor})["hits"]["hits"]) == 1
    assert opened(other, page)


def test_a_list_that_was_read_to_its_end_takes_no_place(
    runtime: Runtime, api: Api, page: dict[str, Any]
) -> None:
    user = new_user(runtime, api)
    kept = opened(user, page)
    for _ in range(MAX_OPEN + 2):
        assert "after" not in user.ok("POST", "/search", {**page, "size": ASSETS})
    assert user.ok("POST", "/search", {**page, "after": kept})["after"]
