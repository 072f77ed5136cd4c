"""Every paginated route, with many rows of the largest size that the product takes.

A function may answer 6 MB. API Gateway gets a reply as text within JSON, so quotes and backslashes
count twice. Each page must fit, the pages together hold every row once, and a full page has a
token. Routes are those that take `startingToken` in the OpenAPI document: a new one without rows in
its case fails.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.core.paging import Page, PageRequest
from backend.core.transactions import Item
from backend.entrypoints.openapi import openapi
from backend.http.openapi import document_path
from backend.spec.routes import ROUTES, Route
from tests.factories.files import gallery
from tests.routes import CASES
from tests.routes.facts import token_of
from tests.routes.model import Case, Rows, Target
from tests.routes.rows import copy, files_of, under
from tests.unit.domains.access.matrix.world import Question, World
from tests.unit.domains.files.changes import memory
from tests.unit.domains.files.test_listing_requests import put, requests_of

Json = dict[str, Any]
LISTS = {case: case.rows for case in CASES if case.rows is not None}
LAMBDA_BYTES = 6_000_000
DYNAMODB_PAGE = 1024 * 1024
"""Bytes after which DynamoDB ends a page of a query or scan."""


def limited(read: Callable[..., Page[Item]]) -> Callable[..., Page[Item]]:
    """Pages that end after a megabyte, as those of DynamoDB do."""

    def limit(what: Any, page: PageRequest) -> Page[Item]:
        result = read(what, page)
        size = 0
        for number, item in enumerate(result.items, start=1):
            size += len(json.dumps(item, default=str, ensure_ascii=False))
            if size > DYNAMODB_PAGE and number < len(result.items):
                return read(what, page._replace(limit=number))
        return result

    return limit


def paginated() -> set[Route]:
    """Routes with the parameter `startingToken`."""
    paths = openapi()["paths"]
    return {
        route
        for route in ROUTES
        for item in paths[document_path(route)][route.method.lower()].get("parameters", ())
        if item["name"] == "startingToken"
    }


def test_every_paginated_route_has_rows() -> None:
    assert {route.key for route in paginated()} == {case.route.key for case in LISTS}


@pytest.mark.parametrize(
    ("case", "listing"), [pytest.param(*item, id=item[0].route.key) for item in LISTS.items()]
)
def test_every_page_fits_a_reply_and_no_row_is_lost_or_returned_twice(
    case: Case, listing: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    marker = listing.make(world)  # one row, or all where there is no marker
    if marker:
        copy(world, marker, listing.number)
    for name in ("query", "scan"):
        monkeypatch.setattr(world.tables, name, limited(getattr(world.tables, name)))
    pages = list(pages_of(world, case, listing))
    result = [row for _, body in pages for row in listing.rows(body)]
    ids = [row[listing.key] for row in result if not marker or marker[:-5] in row[listing.key]]
    assert max(bytes_of(body) for _, body in pages) < LAMBDA_BYTES
    assert len(ids) == len(set(ids)) == listing.number
    check_full_page_at_the_end(world, case, listing, *pages[-1])


def check_full_page_at_the_end(
    world: World, case: Case, listing: Rows, began: str, last: Json
) -> None:
    """A full page has a token whatever follows (decision 36), here an empty page."""
    rows = under("items") if listing.rows is files_of else listing.rows  # with folders
    if rows(last):
        size = str(len(rows(last)))
        full = page_of(world, case, listing, startingToken=began, pageSize=size)
        token = token_of(full)
        assert (rows(full), token is not None) == (rows(last), True)
        last = page_of(world, case, listing, startingToken=token or "", pageSize=size)
    assert (rows(last), token_of(last)) == ([], None)


def pages_of(world: World, case: Case, listing: Rows) -> Iterator[tuple[str, Json]]:
    """All pages, each with the token that requests it."""
    token: str | None = ""
    while token is not None:
        body = page_of(world, case, listing, startingToken=token)
        yield token, body
        token = token_of(body)


def page_of(world: World, case: Case, listing: Rows, **sent: str) -> Json:
    first = case.request(Target(world, listing.state))
    query = {**(first.query or {}), **listing.more, **sent}
    query = {name: value for name, value in query.items() if value}
    answer = world.send(case.route, Question(first.parameters, query))
    assert answer.status == 200, answer.body
    return answer.body


def bytes_of(body: Json) -> int:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return len(json.dumps(text, ensure_ascii=False).encode())


def test_old_versions_of_a_file_are_not_all_read() -> None:
    museum = gallery(*memory())
    for _ in range(2500):
        museum.put("/a.glb", b"x")
    latest = put(museum, "/a.glb", "/b.glb")
    assert len(requests_of(museum)) <= 1 + 2
    rows = museum.list_files().body["items"]
    assert {row["relativePath"]: row["versionId"] for row in rows} == latest
