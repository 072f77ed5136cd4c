"""A user who opens cursors without end closes only cursors of this user."""

from typing import Any

import pytest

from tests.journeys.attacks.actors import ANY_ROUTE, connect, new_role, new_user
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


def new_searcher(runtime: Runtime, api: Api) -> Api:
    """A client with the key of a separate user, who sees every asset."""
    role = new_role(api, ANY_ROUTE, ("asset", "databaseId", "contains", ".*"))
    return connect(runtime, new_user(api, role))


def opened(client: Api, page: dict[str, Any]) -> str:
    return client.ok("POST", "/search", page)["after"]


def test_the_eleventh_cursor_closes_the_oldest_whose_next_page_is_refused(
    runtime: Runtime, api: Api, page: dict[str, Any]
) -> None:
    user, other = new_searcher(runtime, api), new_searcher(runtime, api)
    others = opened(other, page)
    cursors = [opened(user, page) for _ in range(MAX_OPEN + 3)]
    for cursor in cursors[:-MAX_OPEN]:
        status, error = user.refused("POST", "/search", {**page, "after": cursor})
        assert (status, error["code"], error["errors"][0]["field"]) == (
            410,
            "CursorClosed",
            "after",
        )
    for client, cursor in ((user, cursors[-MAX_OPEN]), (user, cursors[-1]), (other, others)):
        assert len(client.ok("POST", "/search", {**page, "after": cursor})["hits"]["hits"]) == 1
    assert opened(other, page)


def test_a_list_that_was_read_to_its_end_takes_no_place(
    runtime: Runtime, api: Api, page: dict[str, Any]
) -> None:
    user = new_searcher(runtime, api)
    kept = opened(user, page)
    for _ in range(MAX_OPEN + 2):
        assert "after" not in user.ok("POST", "/search", {**page, "size": ASSETS})
    assert user.ok("POST", "/search", {**page, "after": kept})["after"]
